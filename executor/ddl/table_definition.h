// Column and constraint definitions out of the syntax tree: types resolved, expressions bound once
// for their errors. Thread safety: pure functions of the run they are given.
#pragma once

#include <string>
#include <vector>

#include "executor/ddl/ddl_command.h"

namespace pgsilo {

// Where expressions of a table's own columns are bound: column i is slot i.
struct TableShape {
  std::string_view name;
  std::vector<std::string> names;  // empty: dropped
  std::vector<BoundColumn> columns;
  std::vector<bool> generated;  // empty: none is

  bool is_value = false;  // of a domain's checks: the only column is shown as VALUE

  static TableShape of(const TableDescriptor& table);
  // VALUE, which is of the type that the domain is over.
  static TableShape of_value(Oid type, int32_t typmod);
};

// Throws 42703.
const ColumnDescriptor& find_column(DdlRun& run, Oid table, std::string_view name);

// An expression over the table's columns (null: over none) as the catalog shows it: literals have
// their types, implicit casts are left out.
std::string definition_text(TypeContext& types, const BoundExpression& expression,
                            const TableShape* table, bool pretty = false);

// Column `number` of the table, as trees of the catalog name it.
const BoundExpression* column_slot(StatementBinding& binding, const TableShape& table,
                                   int16_t number);
// What the catalog keeps, over the table's columns.
const BoundExpression* read_over(StatementBinding& binding, const TableShape& table,
                                 const StoredExpression& stored);

// Adds the columns of `table` to what names in `scope` mean: column i is slot i.
void add_columns(Scope& scope, const TableShape& table);

// A column and what its constraints add to the table.
struct DefinedColumn {
  ColumnDefinition column;
  bool has_default = false;
  const BoundExpression* default_value = nullptr;  // DEFAULT NULL, too
  const ast::Constraint* generation = nullptr;     // define_generation()
  std::vector<IndexDefinition> keys;
  std::vector<const ast::Constraint*> checks;
  std::vector<const ast::Constraint*> foreign_keys;
};

// 0: none is named.
Oid find_collation(DdlRun& run, const ast::CollateClause* collate);
// GENERATED AS IDENTITY with its options.
ColumnSequenceDefinition define_identity(DdlRun& run, const ast::Constraint& syntax);
DefinedColumn define_column(DdlRun& run, const ast::ColumnDef& syntax, std::string_view table);
// PRIMARY KEY and UNIQUE, of a table or (with `column`) of a column.
IndexDefinition define_key(DdlRun& run, const ast::Constraint& syntax,
                           std::string_view column = {});
// CHECK; *bound receives the condition over the table's columns.
CheckDefinition define_check(DdlRun& run, const ast::Constraint& syntax, const TableShape& table,
                             const BoundExpression** bound);

// A default as the column will take it; null for none. Throws what PostgreSQL throws for defaults
// of the wrong type.
const BoundExpression* bind_default(DdlRun& run, const ast::Node* expression,
                                    std::string_view column, Oid type, int32_t typmod);
// The same of an expression that is bound.
const BoundExpression* coerce_default(DdlRun& run, const BoundExpression* value,
                                      std::string_view column, Oid type, int32_t typmod);
// GENERATED ALWAYS AS, over the table with that column. Gives `column` what it says; returns it.
// 42P17 for what rests on more than the row's other columns.
const BoundExpression* define_generation(DdlRun& run, const ast::Constraint& syntax,
                                         const TableShape& table, ColumnDefinition& column);
// A bare NULL of the column's own type is as good as no default, and none is kept.
bool is_no_default(const BoundExpression& value);
// An expression over the table's columns, converted to a type by assignment.
const BoundExpression* bind_conversion(DdlRun& run, const TableShape& table,
                                       const ast::Node* expression, std::string_view column,
                                       Oid type, int32_t typmod);
// Constraints the engine does not have: 0A000.
[[noreturn]] void throw_unsupported_constraint(DdlRun& run, const ast::Constraint& syntax);

}  // namespace pgsilo
