#include "planner/plan/make_plan.h"

#include <algorithm>
#include <numeric>

#include "planner/access/path.h"
#include "planner/access/selectivity.h"
#include "planner/access/spill_cost.h"
#include "planner/bound/make_expression.h"
#include "planner/plan/transaction_plan.h"

namespace pgsilo {

namespace {

PathCost cost_of(const PlanNode& node) { return {node.startup_cost, node.total_cost, node.rows}; }

}  // namespace

void set_estimates(PlanNode& node, PathCost cost) {
  node.startup_cost = cost.startup;
  node.total_cost = cost.total;
  node.rows = clamp_rows(cost.rows);
  node.width = 0;
  for (const PlanColumn& column : node.columns)
    node.width += type_width(column.type, column.typmod);
}

void set_columns(StatementPlanning& statement, PlanNode& node, const PlanNode* first,
                 const PlanNode* second) {
  if (second == nullptr || second->columns.empty()) {
    node.columns = first->columns;
    return;
  }
  auto columns =
      statement.arena.make_span<PlanColumn>(first->columns.size() + second->columns.size());
  std::copy(first->columns.begin(), first->columns.end(), columns.begin());
  std::copy(second->columns.begin(), second->columns.end(),
            columns.begin() + static_cast<ptrdiff_t>(first->columns.size()));
  node.columns = columns;
}

const PlanNode* make_filter(StatementPlanning& statement, const PlanNode* child,
                            const BoundExpression* condition, double selectivity) {
  if (condition == nullptr) return child;
  auto* filter = statement.make_node<FilterNode>();
  filter->child = child;
  filter->condition = condition;
  set_columns(statement, *filter, child);
  PathCost cost = cost_of(*child);
  cost.total += cost.rows * cost::operation;
  cost.rows *= selectivity;
  set_estimates(*filter, cost);
  return filter;
}

const PlanNode* make_one_time_filter(StatementPlanning& statement, const PlanNode* child,
                                     const BoundExpression* condition) {
  auto* filter = statement.make_node<FilterNode>();
  filter->child = child;
  filter->one_time_filter = condition;
  set_columns(statement, *filter, child);
  set_estimates(*filter, cost_of(*child));
  return filter;
}

const PlanNode* make_projection(StatementPlanning& statement, const PlanNode* child,
                                ExpressionList expressions, std::span<const PlanColumn> columns) {
  auto* project = statement.make_node<ProjectNode>();
  project->child = child;
  project->expressions = expressions;
  project->columns = columns;
  set_estimates(*project, cost_of(*child));
  return project;
}

const BoundExpression* make_slot(Arena& arena, int32_t slot, const PlanColumn& column) {
  auto* expression = make_expression<SlotExpression>(arena, column.type);
  expression->typmod = column.typmod;
  expression->slot = slot;
  return expression;
}

const PlanNode* project_slots(StatementPlanning& statement, const PlanNode* child,
                              std::span<const int32_t> slots) {
  bool same = slots.size() == child->columns.size();
  for (size_t i = 0; same && i < slots.size(); ++i) same = slots[i] == static_cast<int32_t>(i);
  if (same) return child;
  auto expressions = statement.arena.make_span<const BoundExpression*>(slots.size());
  auto columns = statement.arena.make_span<PlanColumn>(slots.size());
  for (size_t i = 0; i < slots.size(); ++i) {
    columns[i] = child->columns[slots[i]];
    expressions[i] = make_slot(statement.arena, slots[i], columns[i]);
  }
  return make_projection(statement, child, expressions, columns);
}

const PlanNode* make_materialize(StatementPlanning& statement, const PlanNode* child) {
  auto* materialize = statement.make_node<MaterializeNode>();
  materialize->child = child;
  set_columns(statement, *materialize, child);
  set_estimates(*materialize, cost_of(*child));
  return materialize;
}

const PlanNode* make_memoize(StatementPlanning& statement, const PlanNode* child, bool single_row) {
  auto* memoize = statement.make_node<MemoizeNode>();
  memoize->child = child;
  memoize->single_row = single_row;
  memoize->memory_bytes = statement.settings.work_mem_bytes;
  set_columns(statement, *memoize, child);
  set_estimates(*memoize, cost_of(*child));
  return memoize;
}

SortNode* make_sort(StatementPlanning& statement, const PlanNode* child,
                    std::span<const SortKey> keys, size_t presorted, double groups, double kept) {
  auto* sort = statement.make_node<SortNode>();
  sort->child = child;
  sort->keys = keys;
  sort->presorted = presorted;
  set_columns(statement, *sort, child);
  PathCost cost = cost_of(*child);
  SortedCost sorted =
      sorted_cost({cost.startup, cost.total, cost.rows, static_cast<double>(child->width),
                   presorted == 0 ? 1 : groups, kept},
                  statement.settings.work_mem_bytes);
  cost.startup = sorted.startup;
  cost.total = sorted.total + cost.rows * cost::operation;
  set_estimates(*sort, cost);
  return sort;
}

const PlanNode* make_unique(StatementPlanning& statement, const PlanNode* child,
                            std::span<const int32_t> key_slots, double rows) {
  auto* unique = statement.make_node<UniqueNode>();
  unique->child = child;
  unique->key_slots = key_slots;
  set_columns(statement, *unique, child);
  PathCost cost = cost_of(*child);
  cost.total += cost.rows * cost::operation;
  cost.rows = std::min(cost.rows, rows);
  set_estimates(*unique, cost);
  return unique;
}

const PlanNode* make_distinct_rows(StatementPlanning& statement, const PlanNode* child,
                                   double rows) {
  auto* aggregate = statement.make_node<AggregateNode>();
  aggregate->child = child;
  aggregate->strategy = AggregateStrategy::hashed;
  auto keys = statement.arena.make_span<const BoundExpression*>(child->columns.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    keys[i] = make_slot(statement.arena, static_cast<int32_t>(i), child->columns[i]);
  }
  aggregate->keys = keys;
  set_columns(statement, *aggregate, child);
  PathCost cost = cost_of(*child);
  double groups = std::min(cost.rows, rows);
  SpillCost spill =
      group_spill_cost(cost.rows, child->width, groups, 0, statement.settings.hash_memory_bytes);
  cost.startup = cost.total + hash_cost(cost.rows, groups) + spill.startup;
  cost.rows = groups;
  cost.total = cost.startup + cost.rows * cost::row + spill.run;
  set_estimates(*aggregate, cost);
  return aggregate;
}

}  // namespace pgsilo
