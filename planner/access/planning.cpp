#include "planner/access/planning.h"

#include "base/long_work.h"
#include "catalog/statistics/table_sample.h"
#include "planner/bound/expression_tree.h"
#include "planner/bound/make_expression.h"
#include "planner/plan/transaction_plan.h"
#include "planner/rewrite/levels.h"
#include "sql/internal_error.h"
#include "sql/limits.h"
#include "sql/sql_error.h"

namespace pgsilo {

namespace {

const BoundExpression* parameter_for(StatementPlanning& statement, ChildFrame& frame,
                                     const BoundExpression* expression) {
  int32_t index = -1;
  for (const OuterReference& known : frame.references) {
    if (equal_expressions(known.source, expression)) index = known.parameter;
  }
  if (index < 0) {
    index = statement.new_execution_parameter();
    frame.references.push_back({index, expression});
  }
  auto* parameter = make_expression<ExecutionParameterExpression>(statement.arena, expression->type,
                                                                  expression->location);
  parameter->typmod = expression->typmod;
  parameter->index = index;
  parameter->source = expression;
  return parameter;
}

}  // namespace

const TableSample& StatementPlanning::sample(const TableDescriptor& table) {
  auto& known = samples[&table];
  if (known == nullptr) known = statistics.sample(table, settings.statistics_target);
  return *known;
}

const ColumnSample* StatementPlanning::column_sample(const TableDescriptor& table, int16_t column) {
  const std::vector<ColumnSample>& columns = sample(table).columns;
  auto number = static_cast<size_t>(column) - 1;
  return number < columns.size() ? &columns[number] : nullptr;
}

const BoundExpression* QueryContext::own_parameter(const BoundExpression* expression) {
  PGSILO_REQUIRE(child != nullptr);
  child->depends_on_outer = true;
  return parameter_for(statement, *child, expression);
}

const BoundExpression* QueryContext::outer_parameter(const BoundExpression* expression,
                                                     int32_t levels_up) {
  QueryContext* owner = this;
  // Whatever stands between the two queries also changes with the outer row.
  for (int32_t i = 0; i < levels_up; ++i) {
    owner = owner->parent;
    PGSILO_REQUIRE(owner != nullptr && owner->child != nullptr);
    owner->child->depends_on_outer = true;
  }
  return parameter_for(statement, *owner->child, lower_levels(arena(), expression, levels_up));
}

const std::vector<bool>& QueryContext::columns_read(int32_t relation) {
  if (!read_columns_) read_columns_ = read_columns(query);
  return (*read_columns_)[relation];
}

PlanningDepth::PlanningDepth(StatementPlanning& statement) : statement_(statement) {
  constexpr size_t query_work = 32768;
  did_work(query_work);
  if (statement.depth >= limits::max_nesting_depth) {
    throw SqlError(sqlstate::statement_too_complex, "stack depth limit exceeded");
  }
  ++statement.depth;
}

}  // namespace pgsilo
