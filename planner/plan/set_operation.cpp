#include "planner/plan/set_operation.h"

#include <algorithm>

#include "planner/access/path.h"
#include "planner/plan/expression_placer.h"
#include "planner/plan/limit.h"
#include "planner/plan/make_plan.h"
#include "planner/plan/query_planner.h"
#include "planner/plan/recursion_nodes.h"
#include "planner/plan/transaction_plan.h"

namespace pgsilo {

namespace {

// A side's rows with its columns converted to the result's types.
const PlanNode* plan_side(QueryContext& context, const BoundQuery& side,
                          ExpressionList conversions) {
  StatementPlanning& statement = context.statement;
  const PlanNode* plan = nullptr;
  ChildFrame frame;
  {
    ChildFrameGuard guard(context, frame);
    plan = plan_query(statement, &context, side);
  }
  Layout layout;
  for (size_t i = 0; i < plan->columns.size(); ++i) {
    auto* column = statement.arena.make<ColumnExpression>();
    column->kind = ExpressionKind::column;
    column->type = plan->columns[i].type;
    column->column = static_cast<int32_t>(i);
    layout.add(column);
  }
  ExpressionList placed = ExpressionPlacer(context, layout).place_list(conversions);
  bool same = true;
  auto columns = statement.arena.make_span<PlanColumn>(placed.size());
  for (size_t i = 0; i < placed.size(); ++i) {
    auto* slot = try_as<SlotExpression>(placed[i]);
    same = same && slot != nullptr && slot->slot == static_cast<int32_t>(i);
    columns[i] = {placed[i]->type, placed[i]->typmod, plan->columns[i].name};
  }
  return same ? plan : make_projection(statement, plan, placed, columns);
}

// UNION ALL of UNION ALL is one append.
void add_children(const PlanNode* node, std::vector<const PlanNode*>& children) {
  if (auto* append = try_as<AppendNode>(node)) {
    children.insert(children.end(), append->children.begin(), append->children.end());
  } else {
    children.push_back(node);
  }
}

const PlanNode* make_append(StatementPlanning& statement, const PlanNode* left,
                            const PlanNode* right) {
  std::vector<const PlanNode*> children;
  add_children(left, children);
  add_children(right, children);
  auto* append = statement.make_node<AppendNode>();
  append->children = statement.arena.copy_span(children);
  set_columns(statement, *append, left);
  double total = 0;
  double rows = 0;
  for (const PlanNode* child : children) {
    total += child->total_cost;
    rows += child->rows;
  }
  set_estimates(*append, {children.front()->startup_cost, total, rows});
  return append;
}

const PlanNode* make_set_operation(StatementPlanning& statement, const BoundQuery& query,
                                   const PlanNode* left, const PlanNode* right) {
  bool intersect = query.set_operation == QuerySetOperation::intersect;
  auto* node = statement.make_node<SetOperationNode>();
  if (intersect) {
    node->operation = query.set_all ? SetOperationKind::intersect_all : SetOperationKind::intersect;
  } else {
    node->operation = query.set_all ? SetOperationKind::except_all : SetOperationKind::except;
  }
  node->left = left;
  node->right = right;
  set_columns(statement, *node, left);
  double startup =
      left->total_cost + right->total_cost + (left->rows + right->rows) * cost::hash_row;
  double rows = intersect ? std::min(left->rows, right->rows) : left->rows;
  set_estimates(*node, {startup, startup + rows * cost::row, rows});
  return node;
}

const PlanNode* combine(StatementPlanning& statement, const BoundQuery& query, const PlanNode* left,
                        const PlanNode* right) {
  if (query.set_operation != QuerySetOperation::union_)
    return make_set_operation(statement, query, left, right);
  const PlanNode* append = make_append(statement, left, right);
  return query.set_all ? append : make_distinct_rows(statement, append);
}

// As PostgreSQL: ten steps.
void estimate_recursion(RecursiveUnionNode& node) {
  constexpr double steps = 10;
  double rows = node.left->rows + steps * node.right->rows;
  double total = node.left->total_cost + steps * node.right->total_cost + rows * cost::row;
  if (node.distinct) total += rows * cost::hash_row;
  set_estimates(node, {node.left->startup_cost, total, rows});
}

}  // namespace

const PlanNode* plan_recursion(StatementPlanning& statement, QueryContext* parent, BoundCte& cte) {
  const BoundQuery& query = *cte.query;
  QueryContext context(statement, parent, query);
  auto* node = statement.make_node<RecursiveUnionNode>();
  node->distinct = !query.set_all;
  node->left = plan_side(context, *query.left, query.left_columns);
  // The recursive term's scan finds it by the number.
  node->work_table = cte.work_table = static_cast<int32_t>(statement.work_table_rows.size());
  statement.work_table_rows.push_back(node->left->rows *
                                      statement.settings.recursive_worktable_factor);
  node->right = plan_side(context, *query.right, query.right_columns);
  set_columns(statement, *node, node->left);
  estimate_recursion(*node);
  return node;
}

const PlanNode* plan_set_operation(StatementPlanning& statement, QueryContext* parent,
                                   const BoundQuery& query) {
  QueryContext context(statement, parent, query);
  const PlanNode* left = plan_side(context, *query.left, query.left_columns);
  const PlanNode* right = plan_side(context, *query.right, query.right_columns);
  const PlanNode* node = combine(statement, query, left, right);
  SortNode* sort = nullptr;
  if (!query.order_by.empty()) {
    std::vector<SortKey> keys;
    for (const QuerySortKey& key : query.order_by)
      keys.push_back({key.target, key.descending, key.nulls_first});
    sort = make_sort(statement, node, statement.arena.copy_span(keys));
    node = sort;
  }
  return add_limit(context, node, sort, order_targets(query));
}

}  // namespace pgsilo
