#include "planner/plan/limit.h"

#include <algorithm>

#include "planner/plan/expression_placer.h"
#include "planner/plan/make_plan.h"
#include "planner/rewrite/fold.h"

namespace pgsilo {

namespace {

// PostgreSQL's guess for a LIMIT that is not a constant.
constexpr double unknown_fraction = 0.1;
// A constant LIMIT is measured against this many rows when the input's size is not known yet.
constexpr double expected_rows = 1000;

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

}  // namespace

double limit_fraction(const BoundQuery& query) {
  if (query.limit_count == nullptr || is_null_constant(query.limit_count)) return 1;
  // int4 literals come wrapped in a cast to int8.
  const BoundExpression* count = query.limit_count;
  if (auto* call = try_as<CallExpression>(count); call != nullptr && call->arguments.size() == 1) {
    count = call->arguments[0];
  }
  auto* constant = try_as<ConstantExpression>(count);
  if (constant == nullptr || constant->value.null) return unknown_fraction;
  return std::clamp(static_cast<double>(constant->value.i64) / expected_rows, 0.0, 1.0);
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
