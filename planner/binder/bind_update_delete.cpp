// UPDATE and DELETE.
#include "catalog/descriptors.h"
#include "planner/binder/expression_binder.h"
#include "planner/binder/modification_binder.h"
#include "planner/binder/modification_target.h"
#include "planner/binder/query_binder.h"
#include "planner/bound/make_expression.h"
#include "sql/types/type.h"

namespace pgsilo {

namespace {

// FROM and USING do not see the target, which is relation 0.
BoundQuery* bind_source(Scope& scope, const ModificationTarget& changed, ast::NodeList from_nodes,
                        const ast::Node* where) {
  Arena& arena = scope.arena();
  auto* query = arena.make<BoundQuery>();
  auto* target = arena.make<FromItem>();
  target->relation = 0;
  std::vector<const FromItem*> shape = {target};
  std::span<const FromItem*> others = bind_from(scope, from_nodes);
  shape.insert(shape.end(), others.begin(), others.end());
  query->from = arena.copy_span(shape);
  query->where = bind_condition(scope, where, ExpressionPlace::where, "WHERE");
  std::vector<const BoundExpression*> conditions;
  conditions.reserve(changed.conditions.size() + 1);
  for (const CheckConstraint& shown : changed.conditions) conditions.push_back(shown.condition);
  if (query->where != nullptr) conditions.push_back(query->where);
  if (!conditions.empty())
    query->where = make_boolean_list(arena, BooleanOperator::and_, conditions);
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
                         const ast::WithClause* with, ModificationTarget* target) {
  auto* modification = scope.arena().make<BoundModification>();
  modification->kind = kind;
  bind_with(scope, with);
  *target = find_modified(scope.binding, name, kind);
  modification->table = target->table;
  add_target(scope, name, *target);
  scope.items[0].lateral_only = true;
  scope.items[0].lateral_ok = false;
  modification->alias = scope.relations[0]->alias;
  modification->index_keys = scope.relations[0]->index_keys;
  return modification;
}

}  // namespace

BoundModification* bind_update(StatementBinding& binding, const ast::UpdateStmt& statement) {
  Scope scope(binding, nullptr);
  ModificationTarget target;
  BoundModification* update =
      begin(scope, PlanKind::update, *statement.relation, statement.with, &target);
  BoundQuery* source = bind_source(scope, target, statement.from, statement.where);
  update->returning = bind_returning(scope, statement.returning);
  update->assignments = bind_assignments(scope, statement.assignments, target, PlanKind::update);
  update->generated = bind_generated(binding, *update->table, update->assignments);
  rest_on_referenced_tables(binding, *update->table, update->assignments, update->generated);
  update->checks = bind_checks(binding, target);
  source->relations = binding.arena.copy_span(scope.relations);
  set_source_targets(binding.arena, *update, *source);
  update->source = source;
  return update;
}

BoundModification* bind_delete(StatementBinding& binding, const ast::DeleteStmt& statement) {
  Scope scope(binding, nullptr);
  ModificationTarget target;
  BoundModification* deletion =
      begin(scope, PlanKind::delete_, *statement.relation, statement.with, &target);
  BoundQuery* source = bind_source(scope, target, statement.using_items, statement.where);
  deletion->returning = bind_returning(scope, statement.returning);
  source->relations = binding.arena.copy_span(scope.relations);
  set_source_targets(binding.arena, *deletion, *source);
  deletion->source = source;
  return deletion;
}

}  // namespace pgsilo
