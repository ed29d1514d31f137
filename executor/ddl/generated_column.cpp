// GENERATED ALWAYS AS (expression) STORED.
#include "executor/constant_evaluator.h"
#include "executor/ddl/table_definition.h"
#include "planner/binder/expression_binder.h"
#include "planner/binder/index_expressions.h"
#include "planner/bound/expression_tree.h"
#include "planner/rewrite/fold.h"
#include "planner/stored/stored_tree.h"

namespace pgsilo {

const BoundExpression* define_generation(DdlRun& run, const ast::Constraint& syntax,
                                         const TableShape& table, ColumnDefinition& column) {
  Scope scope(run.binding(), nullptr);
  add_columns(scope, table);
  const BoundExpression* value =
      bind_expression(scope, syntax.expression, ExpressionPlace::column_generation);
  ExecutorConstantEvaluator evaluator(run.state().session);
  // As PostgreSQL, the cast to the column's type may be any.
  if (!is_immutable(*fold_expression(run.arena(), &evaluator, value)))
    throw SqlError(sqlstate::invalid_object_definition, "generation expression is not immutable");
  value = coerce_default(run, value, column.name, column.type, column.typmod);
  std::vector<bool> reads(table.columns.size());
  contains(*value, [&](const BoundExpression& part) {
    if (const auto* slot = try_as<SlotExpression>(&part))
      reads[static_cast<size_t>(slot->slot)] = true;
    return false;
  });
  for (size_t i = 0; i < reads.size(); ++i) {
    if (reads[i]) column.read_columns.push_back(static_cast<int16_t>(i + 1));
  }
  column.generated = true;
  column.default_value = store_expression(run.catalog(), *value);
  return value;
}

}  // namespace pgsilo
