#include "planner/plan/plan_tree.h"
#include "planner/plan/recursion_nodes.h"

namespace pgsilo {

namespace {

using Visit = FunctionRef<void(const BoundExpression&, InputRow)>;

void one(const BoundExpression* expression, Visit visit, InputRow row = InputRow::input) {
  if (expression != nullptr) visit(*expression, row);
}

void all(ExpressionList list, Visit visit, InputRow row = InputRow::input) {
  for (const BoundExpression* expression : list) one(expression, visit, row);
}

void visit_ranges(const KeyRanges& ranges, Visit visit) {
  for (const KeyValue& key : ranges.equal) one(key.value, visit);
  for (const BoundExpression* value : ranges.list) one(value, visit);
  one(ranges.array, visit);
  one(ranges.lower.value, visit);
  one(ranges.upper.value, visit);
}

void visit_index_scan(const IndexScanNode& scan, Visit visit) {
  for (const IndexPart& part : scan.parts) {
    for (const KeyRanges& ranges : part.ranges) visit_ranges(ranges, visit);
  }
  one(scan.filter, visit);
}

void visit_modify(const ModifyNode& node, Visit visit) {
  for (const ColumnAssignment& made : node.generated) one(made.value, visit, InputRow::modified);
  for (const CheckConstraint& check : node.checks) one(check.condition, visit, InputRow::modified);
  all(node.returning, visit, InputRow::modified);
}

void visit_assignments(const RowChange& change, Visit visit, InputRow row) {
  for (const ColumnAssignment& assignment : change.assignments) one(assignment.value, visit, row);
}

void visit_insert(const InsertNode& node, Visit visit) {
  all(node.values, visit);
  if (node.conflict != nullptr) {
    visit_assignments(*node.conflict, visit, InputRow::conflict);
    for (const ColumnAssignment& made : node.conflict->generated)
      one(made.value, visit, InputRow::modified);
    one(node.conflict->condition, visit, InputRow::conflict);
    for (const CheckConstraint& shown : node.conflict->visible)
      one(shown.condition, visit, InputRow::conflict);
  }
  visit_modify(node, visit);
}

void visit_aggregate(const AggregateNode& node, Visit visit) {
  all(node.keys, visit);
  for (const AggregateCall& call : node.calls) {
    all(call.arguments, visit);
    one(call.filter, visit);
    for (const BoundSortKey& key : call.order_by) one(key.expression, visit);
  }
}

template <typename Join>
void visit_keyed_join(const Join& node, Visit visit) {
  all(node.left_keys, visit);
  all(node.right_keys, visit);
  one(node.condition, visit);
  one(node.filter, visit);
}

}  // namespace

void for_each_child(const PlanNode& node, FunctionRef<void(const PlanNode&)> visit) {
  switch (node.kind) {
    case PlanKind::result:
    case PlanKind::values:
    case PlanKind::point_get:
    case PlanKind::index_scan:
    case PlanKind::sequential_scan:
    case PlanKind::function_scan:
    case PlanKind::cte_scan:
    case PlanKind::work_table_scan:
      return;
    case PlanKind::filter:
      return visit(*as<FilterNode>(&node)->child);
    case PlanKind::project:
      return visit(*as<ProjectNode>(&node)->child);
    case PlanKind::aggregate:
      return visit(*as<AggregateNode>(&node)->child);
    case PlanKind::unique:
      return visit(*as<UniqueNode>(&node)->child);
    case PlanKind::sort:
      return visit(*as<SortNode>(&node)->child);
    case PlanKind::limit:
      return visit(*as<LimitNode>(&node)->child);
    case PlanKind::materialize:
      return visit(*as<MaterializeNode>(&node)->child);
    case PlanKind::memoize:
      return visit(*as<MemoizeNode>(&node)->child);
    case PlanKind::lock_rows:
      return visit(*as<LockRowsNode>(&node)->child);
    case PlanKind::nested_loop:
    case PlanKind::hash_join:
    case PlanKind::merge_join: {
      auto& join = static_cast<const JoinNode&>(node);
      visit(*join.left);
      return visit(*join.right);
    }
    case PlanKind::append:
      for (const PlanNode* child : as<AppendNode>(&node)->children) visit(*child);
      return;
    case PlanKind::set_operation:
      visit(*as<SetOperationNode>(&node)->left);
      return visit(*as<SetOperationNode>(&node)->right);
    case PlanKind::recursive_union:
      visit(*as<RecursiveUnionNode>(&node)->left);
      return visit(*as<RecursiveUnionNode>(&node)->right);
    case PlanKind::insert:
    case PlanKind::update:
    case PlanKind::delete_:
      return visit(*static_cast<const ModifyNode&>(node).child);
  }
}

void for_each_expression(const PlanNode& node, Visit visit) {
  switch (node.kind) {
    case PlanKind::result:
      return one(as<ResultNode>(&node)->one_time_filter, visit);
    case PlanKind::values:
      for (ExpressionList row : as<ValuesNode>(&node)->rows) all(row, visit);
      return;
    case PlanKind::point_get: {
      auto* get = as<PointGetNode>(&node);
      for (const KeyValue& key : get->keys) one(key.value, visit);
      return one(get->filter, visit);
    }
    case PlanKind::index_scan:
      return visit_index_scan(*as<IndexScanNode>(&node), visit);
    case PlanKind::sequential_scan:
      return one(as<SequentialScanNode>(&node)->filter, visit);
    case PlanKind::function_scan:
      all(as<FunctionScanNode>(&node)->calls, visit);
      return one(as<FunctionScanNode>(&node)->filter, visit);
    case PlanKind::cte_scan:
      return one(as<CteScanNode>(&node)->filter, visit);
    case PlanKind::work_table_scan:
      return one(as<WorkTableScanNode>(&node)->filter, visit);
    case PlanKind::filter:
      one(as<FilterNode>(&node)->condition, visit);
      return one(as<FilterNode>(&node)->one_time_filter, visit);
    case PlanKind::project:
      return all(as<ProjectNode>(&node)->expressions, visit);
    case PlanKind::nested_loop:
      one(as<NestedLoopNode>(&node)->condition, visit);
      return one(as<NestedLoopNode>(&node)->filter, visit);
    case PlanKind::hash_join:
      return visit_keyed_join(*as<HashJoinNode>(&node), visit);
    case PlanKind::merge_join:
      return visit_keyed_join(*as<MergeJoinNode>(&node), visit);
    case PlanKind::aggregate:
      return visit_aggregate(*as<AggregateNode>(&node), visit);
    case PlanKind::limit:
      one(as<LimitNode>(&node)->count, visit);
      return one(as<LimitNode>(&node)->offset, visit);
    case PlanKind::insert:
      return visit_insert(*as<InsertNode>(&node), visit);
    case PlanKind::update:
      visit_assignments(*as<UpdateNode>(&node), visit, InputRow::input);
      return visit_modify(*as<UpdateNode>(&node), visit);
    case PlanKind::delete_:
      return visit_modify(*as<DeleteNode>(&node), visit);
    case PlanKind::unique:
    case PlanKind::sort:
    case PlanKind::append:
    case PlanKind::set_operation:
    case PlanKind::recursive_union:
    case PlanKind::materialize:
    case PlanKind::memoize:  // its keys are what its child reads
    case PlanKind::lock_rows:
      return;
  }
}

void for_each_expression(const PlanNode& node, FunctionRef<void(const BoundExpression&)> visit) {
  for_each_expression(node,
                      [&](const BoundExpression& expression, InputRow) { visit(expression); });
}

}  // namespace pgsilo
