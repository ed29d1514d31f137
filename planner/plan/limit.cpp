#include "planner/plan/limit.h"

#include <algorithm>

#include "planner/access/parameter_guess.h"
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

bool is_null_constant(const BoundExpression* expression) {
  auto* constant = try_as<ConstantExpression>(expression);
  return constant != nullptr && constant->value.null;
}

// The parameter that decides how many rows are passed over or given; null: none does.
const ParameterExpression* deciding_limit(const BoundExpression* count,
                                          const BoundExpression* offset) {
  const ParameterExpression* found = count == nullptr ? nullptr : deciding_parameter(*count);
  return found != nullptr || offset == nullptr ? found : deciding_parameter(*offset);
}

// Of a result, what a limit that is not known leaves.
double guessed_fraction(StatementPlanning& statement, const BoundExpression* count,
                        const BoundExpression* offset) {
  EstimatedValue value;
  value.parameter = deciding_limit(count, offset);
  return guessed_part(statement, value, {rare_part, unknown_fraction, 1});
}

}  // namespace

RowDemand limit_demand(QueryContext& context, RowDemand wanted) {
  // Null: there is none. A constant bigint, or what is not known yet.
  auto folded = [&](const BoundExpression* expression) {
    if (expression != nullptr)
      expression = fold_expression(context.arena(), context.statement.evaluator, expression);
    return is_null_constant(expression) ? nullptr : expression;
  };
  const BoundExpression* count = folded(context.query.limit_count);
  const BoundExpression* offset = folded(context.query.limit_offset);
  auto* rows = try_as<ConstantExpression>(count);
  auto* skipped = try_as<ConstantExpression>(offset);
  if ((count != nullptr && rows == nullptr) || (offset != nullptr && skipped == nullptr))
    return {.fraction =
                std::min(wanted.fraction, guessed_fraction(context.statement, count, offset))};
  if (rows != nullptr) wanted.rows = std::min(wanted.rows, static_cast<double>(rows->value.i64));
  wanted.rows = std::max(1.0, wanted.rows);
  if (skipped != nullptr) wanted.rows += std::max(0.0, static_cast<double>(skipped->value.i64));
  return wanted;
}

std::vector<int32_t> order_targets(const BoundQuery& query) {
  std::vector<int32_t> targets;
  for (const QuerySortKey& key : query.order_by) targets.push_back(key.target);
  return targets;
}

const PlanNode* add_limit(QueryContext& context, const PlanNode* child, SortNode* sort,
                          std::span<const int32_t> keys) {
  const BoundExpression* count = place_constant(context, context.query.limit_count);
  const BoundExpression* offset = place_constant(context, context.query.limit_offset);
  if (count != nullptr && is_null_constant(count)) count = nullptr;
  if (count == nullptr && offset == nullptr) return child;
  auto* limit = context.statement.make_node<LimitNode>();
  limit->child = child;
  limit->count = count;
  limit->offset = offset;
  if (context.query.with_ties && count != nullptr)
    limit->tie_slots = context.arena().copy_span(keys);
  set_columns(context.statement, *limit, child);
  double rows = child->rows;
  auto* constant = try_as<ConstantExpression>(count);
  if (constant != nullptr) {
    rows = std::min(rows, std::max(1.0, static_cast<double>(constant->value.i64)));
  } else if (count != nullptr) {
    rows *= guessed_fraction(context.statement, count, nullptr);
  }
  double share = child->rows > 0 ? rows / child->rows : 1;
  set_estimates(*limit,
                {child->startup_cost,
                 child->startup_cost + (child->total_cost - child->startup_cost) * share, rows});
  // How many ties there are is not known.
  if (sort != nullptr && count != nullptr && limit->tie_slots.empty()) sort->limit_hint = limit;
  return limit;
}

}  // namespace pgsilo
