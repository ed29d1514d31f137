// What INSERT, UPDATE and DELETE do alike: finding the table and its columns, SET, RETURNING.
// Thread safety: none; see Scope.
#pragma once

#include "planner/binder/scope.h"
#include "sql/ast/query.h"

namespace pgsilo {

struct ColumnDescriptor;

// Throws 42P01; 42501 for system catalogs; 42809 for what is not a table.
const TableDescriptor& find_modified_table(StatementBinding& binding, const ast::RangeVar& name);
// A statement that gives these columns values rests on the tables that they refer to. Empty: all.
void rest_on_referenced_tables(StatementBinding& binding, const TableDescriptor& table,
                               std::span<const BoundAssignment> assignments);
// Throws 42703 `column "x" of relation "t" does not exist`.
const ColumnDescriptor& find_target_column(StatementBinding& binding, const TableDescriptor& table,
                                           const ast::Assignment& named);
// Throws 42703, 42601 for a column assigned twice, 42804.
std::span<const BoundAssignment> bind_assignments(Scope& scope, ast::List<ast::Assignment> given,
                                                  const TableDescriptor& table);
std::span<const BoundTarget> bind_returning(Scope& scope, ast::List<ast::Target> returning);

}  // namespace pgsilo
