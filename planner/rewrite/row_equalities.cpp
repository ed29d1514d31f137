#include "planner/rewrite/row_equalities.h"

#include <algorithm>

#include "planner/access/join_problem.h"
#include "planner/access/strictness.h"
#include "planner/bound/expression_tree.h"
#include "planner/rewrite/fold.h"

namespace pgsilo {

namespace {

struct Reads {
  bool inner_row = false;
  bool others = false;
};

bool reads_around(const BoundExpression& expression) {
  switch (expression.kind) {
    case ExpressionKind::column:
    case ExpressionKind::aggregate:
    case ExpressionKind::slot:
    case ExpressionKind::execution_parameter:
    case ExpressionKind::sublink:
    case ExpressionKind::subplan:
    case ExpressionKind::set_returning:
      return true;
    default:
      return false;
  }
}

Reads reads_of(const BoundExpression& expression, std::span<const int32_t> row_parameters) {
  Reads reads;
  contains(expression, [&](const BoundExpression& inner) {
    auto* parameter = try_as<ExecutionParameterExpression>(&inner);
    bool own = parameter != nullptr &&
               std::ranges::find(row_parameters, parameter->index) != row_parameters.end();
    reads.inner_row |= own;
    reads.others |= !own && reads_around(inner);
    return false;
  });
  return reads;
}

}  // namespace

std::vector<const CallExpression*> row_equalities(const BoundExpression& condition,
                                                  std::span<const int32_t> row_parameters) {
  std::vector<const BoundExpression*> conjuncts;
  split_conjuncts(&condition, conjuncts);
  std::vector<const CallExpression*> found;
  for (const BoundExpression* conjunct : conjuncts) {
    auto* call = try_as<CallExpression>(conjunct);
    if (call == nullptr || !is_hashable_equality(*call) || is_volatile(*call->arguments[1]))
      return {};
    Reads row = reads_of(*call->arguments[1], row_parameters);
    if (!row.inner_row || row.others) return {};
    if (reads_of(*call->arguments[0], row_parameters).inner_row) return {};
    found.push_back(call);
  }
  return found;
}

}  // namespace pgsilo
