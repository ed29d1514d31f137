// UPDATE and DELETE.
#include "catalog/descriptors.h"
#include "planner/binder/expression_binder.h"
#include "planner/binder/modification_binder.h"
#include "planner/binder/modification_target.h"
#include "planner/binder/query_binder.h"
#include "sql/types/type.h"

namespace pgsilo {

namespace {

// The target as relation 0; FROM and USING do not see it.
void add_target(Scope& scope, const ast::RangeVar& name, const TableDescriptor& table) {
  add_table(scope, name, &table);
  scope.items[0].lateral_only = true;
  scope.items[0].lateral_ok = false;
}

BoundQuery* bind_source(Scope& scope, ast::NodeList from_nodes, const ast::Node* where) {
  Arena& arena = scope.arena();
  auto* query = arena.make<BoundQuery>();
  auto* target = arena.make<FromItem>();
  target->relation = 0;
  std::vector<const FromItem*> shape = {target};
  std::span<const FromItem*> others = bind_from(scope, from_nodes);
  shape.insert(shape.end(), others.begin(), others.end());
  query->from = arena.copy_span(shape);
  query->where = bind_condition(scope, where, ExpressionPlace::where, "WHERE");
  return query;
}

// What the source must deliver beside the target's rows.
void set_source_targets(Arena& arena, const BoundModification& modification, BoundQuery& source) {
  std::vector<BoundTarget> targets;
  for (const BoundAssignment& assignment : modification.assignments) {
    targets.push_back({assignment.value, {}, true});
  }
  for (const BoundTarget& target : modification.returning)
    targets.push_back({target.expression, {}, true});
  source.targets = arena.copy_span(targets);
}

BoundModification* begin(Scope& scope, PlanKind kind, const ast::RangeVar& name,
                         const ast::WithClause* with) {
  auto* modification = scope.arena().make<BoundModification>();
  modification->kind = kind;
  bind_with(scope, with);
  modification->table = &find_modified_table(scope.binding, name);
  add_target(scope, name, *modification->table);
  modification->alias = scope.relations[0]->alias;
  return modification;
}

}  // namespace

BoundModification* bind_update(StatementBinding& binding, const ast::UpdateStmt& statement) {
  Scope scope(binding, nullptr);
  BoundModification* update = begin(scope, PlanKind::update, *statement.relation, statement.with);
  BoundQuery* source = bind_source(scope, statement.from, statement.where);
  update->returning = bind_returning(scope, statement.returning);
  update->assignments = bind_assignments(scope, statement.assignments, *update->table);
  rest_on_referenced_tables(binding, *update->table, update->assignments);
  update->checks = bind_checks(binding, *update->table);
  source->relations = binding.arena.copy_span(scope.relations);
  set_source_targets(binding.arena, *update, *source);
  update->source = source;
  return update;
}

BoundModification* bind_delete(StatementBinding& binding, const ast::DeleteStmt& statement) {
  Scope scope(binding, nullptr);
  BoundModification* deletion =
      begin(scope, PlanKind::delete_, *statement.relation, statement.with);
  BoundQuery* source = bind_source(scope, statement.using_items, statement.where);
  deletion->returning = bind_returning(scope, statement.returning);
  source->relations = binding.arena.copy_span(scope.relations);
  set_source_targets(binding.arena, *deletion, *source);
  deletion->source = source;
  return deletion;
}

}  // namespace pgsilo
