#include "planner/plan/limit.h"

#include <algorithm>

#include "planner/plan/expression_placer.h"
#include "planner/plan/make_plan.h"
#include "planner/rewrite/fold.h"

namespace pgsilo {

namespace {

// PostgreSQL's guess for a LIMIT that is not a constant.
constexpr double unknown_fraction = 0.1;
const BoundExpression* place_constant(QueryContext& context, const BoundExpression* expression) {
  if (expression == nullptr) return nullptr;
  Layout nothing;
  return ExpressionPlacer(context, nothing)
      .place(fold_expression(context.arena(), context.statement.evaluator, expression));
}

// Literals of type int4 come wrapped in a cast to int8. Null: not a constant.
const ConstantExpression* constant_rows(const BoundExpression* expression) {
  auto* call = try_as<CallExpression>(expression);
  if (call != nullptr && call->arguments.size() == 1) expression = call->arguments[0];
  return try_as<ConstantExpression>(expression);
}

bool is_null_constant(const BoundExpression* expression) {
  auto* constant = try_as<ConstantExpression>(expression);
  return constant != nullptr && constant->value.null;
}

}  // namespace

RowDemand limit_demand(const BoundQuery& query) {
  if (query.limit_count == nullptr || is_null_constant(query.limit_count)) return {};
  const ConstantExpression* count = constant_rows(query.limit_count);
  const ConstantExpression* offset = constant_rows(query.limit_offset);
  bool is_known = count != nullptr && (query.limit_offset == nullptr || offset != nullptr);
  if (!is_known) return {.fraction = unknown_fraction};
  double skipped = offset == nullptr || offset->value.null ? 0 : offset->value.i64;
  return {.rows = std::max(1.0, static_cast<double>(count->value.i64) + skipped)};
}

const PlanNode* add_limit(QueryContext& context, const PlanNode* child, SortNode* sort) {
  const BoundExpression* count = place_constant(context, context.query.limit_count);
  const BoundExpression* offset = place_constant(context, context.query.limit_offset);
  if (count != nullptr && is_null_constant(count)) count = nullptr;
  if (count == nullptr && offset == nullptr) return child;
  auto* limit = context.statement.make_node<LimitNode>();
  limit->child = child;
  limit->count = count;
  limit->offset = offset;
  set_columns(context.statement, *limit, child);
  double rows = child->rows;
  auto* constant = try_as<ConstantExpression>(count);
  if (constant != nullptr) {
    rows = std::min(rows, std::max(1.0, static_cast<double>(constant->value.i64)));
  } else if (count != nullptr) {
    rows *= unknown_fraction;
  }
  double share = child->rows > 0 ? rows / child->rows : 1;
  set_estimates(*limit,
                {child->startup_cost,
                 child->startup_cost + (child->total_cost - child->startup_cost) * share, rows});
  if (sort != nullptr && count != nullptr) sort->limit_hint = limit;
  return limit;
}

}  // namespace pgsilo
