// INSERT, UPDATE and DELETE.
#include <algorithm>

#include "catalog/descriptors.h"
#include "planner/access/partial_update.h"
#include "planner/bound/make_expression.h"
#include "planner/plan/expression_placer.h"
#include "planner/plan/make_plan.h"
#include "planner/plan/query_planner.h"
#include "planner/rewrite/fold.h"
#include "planner/rewrite/rewrite.h"
#include "sql/ast/query.h"

namespace pgsilo {

namespace {

void add_columns(Layout& layout, Arena& arena, int32_t relation, const TableDescriptor& table) {
  for (const ColumnDescriptor& column : table.columns)
    layout.add(make_column(arena, relation, column.number - 1, column.type, column.typmod));
}

// All columns of the table, which is relation 0, then the child's slots: what checks and RETURNING
// read.
Layout modified_row(Arena& arena, const TableDescriptor& table, const Layout& child) {
  Layout layout;
  add_columns(layout, arena, 0, table);
  layout.append(child);
  return layout;
}

class ModificationPlanner {
 public:
  ModificationPlanner(QueryContext& context, const BoundModification& modification)
      : context_(context), statement_(context.statement), modification_(modification) {}

  const PlanNode* plan_insert(const PlanNode* child, const Layout& child_layout) {
    auto* insert = statement_.make_node<InsertNode>();
    ExpressionPlacer placer(context_, child_layout);
    auto values = context_.arena().make_span<const BoundExpression*>(modification_.values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      if (modification_.values[i] != nullptr)
        values[i] = placer.place(fold(modification_.values[i]));
    }
    insert->values = values;
    std::vector<int32_t> not_null;
    for (const ColumnDescriptor& column : table().columns) {
      if (column.not_null && !column.dropped &&
          (column.generated || can_be_null(values[column.number - 1]))) {
        not_null.push_back(column.number - 1);
      }
    }
    insert->not_null_columns = context_.arena().copy_span(not_null);
    if (modification_.conflict != nullptr)
      insert->conflict = plan_conflict(*modification_.conflict);
    finish(*insert, child, Layout());
    return insert;
  }

  const PlanNode* plan_update(const PlacedPlan& child) {
    auto* update = statement_.make_node<UpdateNode>();
    std::vector<int32_t> not_null;
    plan_change(*update, {modification_.assignments, modification_.generated}, child.layout,
                not_null);
    update->not_null_columns = context_.arena().copy_span(not_null);
    update->old_row_slots = old_row_slots(child.layout);
    update->row_handle_slot = child.layout.find_row_handle(0);
    finish(*update, child.node, child.layout);
    update->partial = find_partial_update(context_.arena(), *update);
    return update;
  }

  const PlanNode* plan_delete(const PlacedPlan& child) {
    auto* deletion = statement_.make_node<DeleteNode>();
    deletion->old_row_slots = old_row_slots(child.layout);
    deletion->row_handle_slot = child.layout.find_row_handle(0);
    finish(*deletion, child.node, child.layout);
    return deletion;
  }

 private:
  const TableDescriptor& table() const { return *modification_.table; }

  const BoundExpression* fold(const BoundExpression* expression) {
    return fold_expression(context_.arena(), statement_.evaluator, expression);
  }

  static bool can_be_null(const BoundExpression* value) {
    auto* constant = try_as<ConstantExpression>(value);
    return constant == nullptr || constant->value.null;
  }

  // What is assigned, and what follows from it.
  struct Changed {
    std::span<const BoundAssignment> assignments;
    std::span<const BoundAssignment> generated;

    bool key_of(const IndexDescriptor& index) const {
      auto reads = [&](const BoundAssignment& assignment) {
        return index.reads(static_cast<int16_t>(assignment.column + 1));
      };
      return std::ranges::any_of(assignments, reads) || std::ranges::any_of(generated, reads);
    }
  };

  std::span<const ColumnAssignment> place_generated(ExpressionPlacer& placer,
                                                    std::span<const BoundAssignment> generated) {
    auto placed = context_.arena().make_span<ColumnAssignment>(generated.size());
    for (size_t i = 0; i < placed.size(); ++i)
      placed[i] = {generated[i].column, placer.place(fold(generated[i].value))};
    return placed;
  }

  // `not_null`: columns that must not become NULL and may.
  void plan_change(RowChange& change, const Changed& given, const Layout& layout,
                   std::vector<int32_t>& not_null) {
    ExpressionPlacer placer(context_, layout);
    std::vector<ColumnAssignment> assignments;
    for (const BoundAssignment& assignment : given.assignments) {
      const BoundExpression* value = placer.place(fold(assignment.value));
      assignments.push_back({assignment.column, value});
      if (table().columns[assignment.column].not_null && can_be_null(value))
        not_null.push_back(assignment.column);
    }
    for (const BoundAssignment& made : given.generated) {
      if (table().columns[made.column].not_null) not_null.push_back(made.column);
    }
    const IndexDescriptor* primary = table().primary_index();
    change.changes_primary_key = primary != nullptr && given.key_of(*primary);
    std::vector<const IndexDescriptor*> changed;
    for (const auto& index : table().indexes) {
      if (change.changes_primary_key || given.key_of(*index)) changed.push_back(index.get());
    }
    change.assignments = context_.arena().copy_span(assignments);
    change.changed_indexes = context_.arena().copy_span(changed);
  }

  const ConflictAction* plan_conflict(const BoundConflict& conflict) {
    auto* action = context_.arena().make<ConflictAction>();
    action->arbiters = conflict.arbiters;
    action->any_index = conflict.any_index;
    action->updates = conflict.updates;
    Layout rows;
    add_columns(rows, context_.arena(), 0, table());
    add_columns(rows, context_.arena(), 1, table());
    std::vector<int32_t> not_null;
    plan_change(*action, {conflict.assignments, conflict.generated}, rows, not_null);
    Layout changed;
    add_columns(changed, context_.arena(), 0, table());
    ExpressionPlacer placer(context_, changed);
    action->generated = place_generated(placer, conflict.generated);
    action->not_null_columns = context_.arena().copy_span(not_null);
    const BoundExpression* condition = conflict.where == nullptr ? nullptr : fold(conflict.where);
    auto* known = condition == nullptr ? nullptr : try_as<ConstantExpression>(condition);
    bool is_true = known != nullptr && !known->value.null && known->value.as_bool();
    if (condition != nullptr && !is_true)
      action->condition = ExpressionPlacer(context_, rows).place(condition);
    std::vector<CheckConstraint> visible(conflict.visible.begin(), conflict.visible.end());
    for (CheckConstraint& shown : visible)
      shown.condition = ExpressionPlacer(context_, rows).place(fold(shown.condition));
    action->visible = context_.arena().copy_span(visible);
    return action;
  }

  std::span<const int32_t> old_row_slots(const Layout& layout) {
    auto slots = context_.arena().make_span<int32_t>(table().columns.size());
    for (const ColumnDescriptor& column : table().columns) {
      int32_t number = column.number - 1;
      auto* reference = make_column(context_.arena(), 0, number, column.type, column.typmod);
      slots[number] = column.dropped ? -1 : layout.find(*reference);
    }
    return slots;
  }

  void finish(ModifyNode& node, const PlanNode* child, const Layout& child_layout) {
    node.table = modification_.table;
    node.alias = modification_.alias;
    node.child = child;
    Layout row = modified_row(context_.arena(), table(), child_layout);
    ExpressionPlacer placer(context_, row);
    node.generated = place_generated(placer, modification_.generated);
    std::vector<CheckConstraint> checks(modification_.checks.begin(), modification_.checks.end());
    for (CheckConstraint& check : checks) check.condition = placer.place(fold(check.condition));
    node.checks = context_.arena().copy_span(checks);
    node.index_keys = place_index_keys(placer);
    std::vector<const BoundExpression*> returning;
    std::vector<PlanColumn> columns;
    for (const BoundTarget& target : modification_.returning) {
      const BoundExpression* expression = placer.place(fold(target.expression));
      returning.push_back(expression);
      columns.push_back({expression->type, expression->typmod, target.name});
    }
    node.returning = context_.arena().copy_span(returning);
    node.columns = context_.arena().copy_span(columns);
    set_estimates(node, {child->startup_cost, child->total_cost, child->rows});
  }

  std::span<const IndexKeys> place_index_keys(ExpressionPlacer& placer) {
    auto placed = context_.arena().copy_span(modification_.index_keys);
    for (IndexKeys& keys : placed) {
      std::vector<const BoundExpression*> expressions;
      for (const BoundExpression* expression : keys.expressions)
        expressions.push_back(placer.place(fold(expression)));
      keys.expressions = context_.arena().copy_span(expressions);
      if (keys.predicate != nullptr) keys.predicate = placer.place(fold(keys.predicate));
    }
    return placed;
  }

  QueryContext& context_;
  StatementPlanning& statement_;
  const BoundModification& modification_;
};

// Expressions of an INSERT stand in no query of their own.
const PlanNode* plan_insert(StatementPlanning& statement, const BoundModification& modification) {
  auto* empty = statement.arena.make<BoundQuery>();
  QueryContext context(statement, nullptr, *empty);
  Layout layout;
  const PlanNode* child = nullptr;
  if (modification.source != nullptr) {
    child = plan_query(statement, nullptr, *modification.source);
    for (size_t i = 0; i < child->columns.size(); ++i) {
      layout.add(make_column(statement.arena, 0, static_cast<int32_t>(i), child->columns[i].type,
                             child->columns[i].typmod));
    }
  } else {
    auto* result = statement.make_node<ResultNode>();
    set_estimates(*result, {0, 0.01, 1});
    child = result;
  }
  return ModificationPlanner(context, modification).plan_insert(child, layout);
}

}  // namespace

namespace {

// Assignments and RETURNING as the rewritten source, whose targets they are, has them.
BoundModification with_source(Arena& arena, const BoundModification& modification,
                              const BoundQuery& source) {
  BoundModification rewritten = modification;
  rewritten.source = &source;
  auto assignments = arena.copy_span(modification.assignments);
  size_t next = 0;
  for (BoundAssignment& assignment : assignments)
    assignment.value = source.targets[next++].expression;
  auto returning = arena.copy_span(modification.returning);
  for (BoundTarget& target : returning) target.expression = source.targets[next++].expression;
  rewritten.assignments = assignments;
  rewritten.returning = returning;
  return rewritten;
}

}  // namespace

const PlanNode* plan_modification(StatementPlanning& statement,
                                  const BoundModification& modification) {
  if (modification.kind == PlanKind::insert) return plan_insert(statement, modification);
  const BoundQuery& source = rewrite_query(statement, *modification.source);
  QueryContext context(statement, nullptr, source);
  JoinDemand demand;
  demand.target = 0;
  bool updates = modification.kind == PlanKind::update;
  auto* mark = statement.arena.make<RowMark>();
  mark->strength = updates ? ast::LockStrength::for_no_key_update : ast::LockStrength::for_update;
  demand.marks = {mark, 1};
  PlacedPlan child = plan_joins(context, demand);
  BoundModification rewritten = with_source(statement.arena, modification, source);
  ModificationPlanner planner(context, rewritten);
  return updates ? planner.plan_update(child) : planner.plan_delete(child);
}

}  // namespace pgsilo
