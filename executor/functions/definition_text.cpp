// Expressions that the catalog keeps (defaults, checks) as PostgreSQL shows them.
#include "catalog/catalog_view.h"
#include "executor/ddl/table_definition.h"
#include "executor/execution_context.h"
#include "executor/functions/function.h"
#include "planner/binder/expression_binder.h"
#include "planner/binder/modification_binder.h"
#include "planner/explain/deparse.h"

namespace pgsilo::functions {
namespace {

// A default is shown as what its column gets.
const BoundExpression* bind(StatementBinding& binding, const TableDescriptor* table,
                            std::string_view text) {
  Scope scope(binding, nullptr);
  if (table != nullptr) {
    for (const ColumnDescriptor& column : table->columns) {
      if (column.default_text == text) return bind_column_default(binding, column);
    }
    add_columns(scope, TableShape::of(*table));
  }
  return bind_expression(scope, parse_expression(binding, text), ExpressionPlace::none);
}

// pg_get_expr(): null where there is no such table (any more); 0 is for expressions without
// columns. Pretty or not is one here.
Datum expression_text(EvalContext& context, const Datum* a) {
  ExecutionContext& session = *context.execution;
  auto oid = static_cast<Oid>(a[1].i64);
  const TableDescriptor* table = session.catalog->find_table(oid);
  if (table == nullptr && oid != invalid_oid) return Datum();
  Arena memory;
  TypeContext types = *context.types;
  types.arena = &memory;
  StatementBinding binding{.arena = memory,
                           .catalog = *session.catalog,
                           .text = {},
                           .database_name = session.database_name,
                           .types = types,
                           .parameters = {},
                           .tables = {}};
  const BoundExpression* expression = bind(binding, table, a[0].bytes());
  DeparseContext names;
  names.types = &types;
  std::string text = deparse(names, *expression, [&](int32_t slot) {
    return quote_identifier(table->columns[static_cast<size_t>(slot)].name);
  });
  return Datum::of_bytes(context.arena->copy_string(text));
}

constexpr FunctionEntry entries[] = {{1716, expression_text}, {2509, expression_text}};

}  // namespace

std::span<const FunctionEntry> definition_text() { return entries; }

}  // namespace pgsilo::functions
