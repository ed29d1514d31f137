#include "planner/binder/modification_target.h"

#include <algorithm>

#include "catalog/catalog_view.h"
#include "catalog/descriptors.h"
#include "planner/binder/query_binder.h"

namespace pgsilo {

const TableDescriptor& find_modified_table(StatementBinding& binding, const ast::RangeVar& name) {
  const TableDescriptor& table = find_table(binding, name);
  if (table.kind == RelationKind::sequence) {
    throw SqlError(sqlstate::wrong_object_type,
                   concat("cannot change sequence \"", table.name, "\""));
  }
  if (table.is_system()) {
    throw SqlError(sqlstate::insufficient_privilege,
                   concat("permission denied: \"", table.name, "\" is a system catalog"));
  }
  binding.use_table(&table, TableUse::write);
  return table;
}

void rest_on_referenced_tables(StatementBinding& binding, const TableDescriptor& table,
                               std::span<const BoundAssignment> assignments) {
  for (const ConstraintDescriptor& constraint : table.constraints) {
    if (!constraint.foreign_key) continue;
    bool refers =
        assignments.empty() || !constraint.validated ||
        std::any_of(assignments.begin(), assignments.end(), [&](const BoundAssignment& assignment) {
          return constraint.has_column(assignment.column);
        });
    if (refers)
      binding.use_table(binding.catalog.find_table(constraint.foreign_key->referenced_table),
                        TableUse::lock_rows);
  }
}

const ColumnDescriptor& find_target_column(StatementBinding& binding, const TableDescriptor& table,
                                           const ast::Assignment& named) {
  const ColumnDescriptor* column = table.find_column(named.column);
  if (column == nullptr) {
    throw SqlError(
        sqlstate::undefined_column,
        concat("column \"", named.column, "\" of relation \"", table.name, "\" does not exist"))
        .at(binding.position(named.location));
  }
  return *column;
}

std::span<const BoundTarget> bind_returning(Scope& scope, ast::List<ast::Target> returning) {
  if (returning.empty()) return {};
  std::vector<BoundTarget> targets = bind_targets(scope, returning, ExpressionPlace::returning);
  resolve_unknown_targets(scope.binding, targets);
  return scope.arena().copy_span(targets);
}

}  // namespace pgsilo
