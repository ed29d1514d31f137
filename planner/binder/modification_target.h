// What INSERT, UPDATE and DELETE do alike: finding the table and its columns, SET, RETURNING.
// Thread safety: none; see Scope.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "planner/binder/scope.h"
#include "sql/ast/query.h"

namespace pgsilo {

struct ColumnDescriptor;

// What a statement changes: a table, or a view that shows rows of one.
struct ModificationTarget {
  const TableDescriptor* table = nullptr;  // whose rows change
  const TableDescriptor* view = nullptr;   // that is named in its place
  // Those of what is named, over the table as relation 0; of a table null for dropped ones.
  std::span<const BoundExpression* const> columns;
  std::vector<CheckConstraint>
      conditions;                       // of the rows that are shown, the innermost view's first
  std::vector<CheckConstraint> checks;  // those of WITH CHECK OPTION

  const TableDescriptor& named() const { return view != nullptr ? *view : *table; }
};

// Throws 42P01; 42501 for system catalogs; 42809 for what is not a table; 55000 for views through
// which this cannot be done.
ModificationTarget find_modified(StatementBinding& binding, const ast::RangeVar& name,
                                 PlanKind kind);
// The target under its name, as a relation of the table's (INSERT, UPDATE and DELETE add it so).
int32_t add_target(Scope& scope, const ast::RangeVar& name, const ModificationTarget& target);
// A statement that gives these columns values rests on the tables that they refer to. Without
// assignments: all.
void rest_on_referenced_tables(StatementBinding& binding, const TableDescriptor& table,
                               std::span<const BoundAssignment> assignments,
                               std::span<const BoundAssignment> generated = {});
// The table's column. Throws 42703 `column "x" of relation "t" does not exist`, 0A000 for what a
// view computes.
const ColumnDescriptor& find_target_column(StatementBinding& binding,
                                           const ModificationTarget& target,
                                           const ast::Assignment& named, PlanKind kind);
// Null: the view computes its column `number` (0-based).
const ColumnDescriptor* base_column(const ModificationTarget& target, size_t number);
[[noreturn]] void throw_not_base_column(const ModificationTarget& target, size_t number,
                                        PlanKind kind);
// Throws 42703, 42601 for a column assigned twice, 42804. `kind`: of the whole statement.
std::span<const BoundAssignment> bind_assignments(Scope& scope, ast::List<ast::Assignment> given,
                                                  const ModificationTarget& target, PlanKind kind);
std::span<const BoundTarget> bind_returning(Scope& scope, ast::List<ast::Target> returning);

// --- view_target.cpp ---
ModificationTarget table_target(Arena& arena, const TableDescriptor& table);
// `query`: what the view stands for. `is_checked`: by a view around it, WITH CASCADED CHECK OPTION.
ModificationTarget view_target(Arena& arena, const TableDescriptor& view, const BoundQuery& query,
                               PlanKind kind, bool is_checked = false);
// PostgreSQL's words for it; empty: rows may be changed through the view.
std::string_view why_not_updatable(const BoundQuery& query);
bool is_base_column(const BoundExpression* expression);

}  // namespace pgsilo
