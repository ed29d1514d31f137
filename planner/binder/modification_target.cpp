#include "planner/binder/modification_target.h"

#include <algorithm>

#include "catalog/catalog_view.h"
#include "catalog/descriptors.h"
#include "planner/binder/query_binder.h"
#include "planner/bound/query_tree.h"

namespace pgsilo {

namespace {

// What is over relation 0, over another number.
const BoundExpression* of_relation(Arena& arena, const BoundExpression* expression,
                                   int32_t number) {
  if (number == 0) return expression;
  auto renumber = [&](const BoundExpression* e, int32_t depth) -> const BoundExpression* {
    const auto* column = try_as<ColumnExpression>(e);
    if (column == nullptr || column->levels_up != depth) return nullptr;
    auto* renumbered = arena.make<ColumnExpression>(*column);
    renumbered->relation = number;
    return renumbered;
  };
  auto same_level = [](const BoundRelation& relation, int32_t) { return relation.cte_levels_up; };
  return map_levels(arena, expression, 0, renumber, same_level);
}

}  // namespace

ModificationTarget find_modified(StatementBinding& binding, const ast::RangeVar& name,
                                 PlanKind kind) {
  const TableDescriptor& named = find_table(binding, name);
  if (named.kind == RelationKind::sequence) {
    throw SqlError(sqlstate::wrong_object_type,
                   concat("cannot change sequence \"", named.name, "\""));
  }
  bool is_view = named.kind == RelationKind::view && !named.is_system();
  ModificationTarget target =
      is_view ? view_target(binding.arena, named, *bind_view_query(binding, named), kind)
              : table_target(binding.arena, named);
  if (target.table->is_system()) {
    throw SqlError(sqlstate::insufficient_privilege,
                   concat("permission denied: \"", target.table->name, "\" is a system catalog"));
  }
  binding.use_table(target.table, TableUse::write);
  return target;
}

int32_t add_target(Scope& scope, const ast::RangeVar& name, const ModificationTarget& target) {
  if (target.view == nullptr) return add_table(scope, name, target.table);
  ast::RangeVar base = name;
  base.alias = nullptr;
  base.name = target.table->name;
  int32_t number = add_table(scope, base, target.table);
  ScopeItem& item = scope.items.back();
  item.name = scope.arena().copy_string(name.alias != nullptr ? name.alias->name : name.name);
  item.table = target.view;
  item.columns.clear();
  for (size_t i = 0; i < target.columns.size(); ++i) {
    item.columns.push_back(
        {target.view->columns[i].name, of_relation(scope.arena(), target.columns[i], number)});
  }
  return number;
}

const ColumnDescriptor* base_column(const ModificationTarget& target, size_t number) {
  const BoundExpression* shown = target.columns[number];
  if (!is_base_column(shown)) return nullptr;
  return &target.table->columns[static_cast<size_t>(as<ColumnExpression>(shown)->column)];
}

void throw_not_base_column(const ModificationTarget& target, size_t number, PlanKind kind) {
  throw SqlError(
      sqlstate::feature_not_supported,
      concat("cannot ", kind == PlanKind::update ? "update" : "insert into", " column \"",
             target.view->columns[number].name, "\" of view \"", target.view->name, "\""))
      .detail("View columns that are not columns of their base relation are not updatable.");
}

void rest_on_referenced_tables(StatementBinding& binding, const TableDescriptor& table,
                               std::span<const BoundAssignment> assignments,
                               std::span<const BoundAssignment> generated) {
  for (const ConstraintDescriptor& constraint : table.constraints) {
    if (!constraint.foreign_key) continue;
    auto sets_it = [&](const BoundAssignment& assignment) {
      return constraint.has_column(assignment.column);
    };
    bool refers = assignments.empty() || !constraint.validated ||
                  std::ranges::any_of(assignments, sets_it) ||
                  std::ranges::any_of(generated, sets_it);
    if (refers)
      binding.use_table(binding.catalog.find_table(constraint.foreign_key->referenced_table),
                        TableUse::lock_rows);
  }
}

const ColumnDescriptor& find_target_column(StatementBinding& binding,
                                           const ModificationTarget& target,
                                           const ast::Assignment& named, PlanKind kind) {
  const ColumnDescriptor* column = target.named().find_column(named.column);
  if (column == nullptr) {
    throw SqlError(sqlstate::undefined_column,
                   concat("column \"", named.column, "\" of relation \"", target.named().name,
                          "\" does not exist"))
        .at(binding.position(named.location));
  }
  if (target.view == nullptr) return *column;
  auto number = static_cast<size_t>(column->number) - 1;
  const ColumnDescriptor* of_table = base_column(target, number);
  if (of_table == nullptr) throw_not_base_column(target, number, kind);
  return *of_table;
}

std::span<const BoundTarget> bind_returning(Scope& scope, ast::List<ast::Target> returning) {
  if (returning.empty()) return {};
  std::vector<BoundTarget> targets = bind_targets(scope, returning, ExpressionPlace::returning);
  resolve_unknown_targets(scope.binding, targets);
  return scope.arena().copy_span(targets);
}

}  // namespace pgsilo
