#include "executor/operator/compile_operator.h"

#include "planner/plan/recursion_nodes.h"

namespace pgsilo {

CompiledOperator* compile_operator(const PlanNode& node, PlanCompiler& plan) {
  switch (node.kind) {
    case PlanKind::result:
      return compile_result(*as<ResultNode>(&node), plan);
    case PlanKind::values:
      return compile_values(*as<ValuesNode>(&node), plan);
    case PlanKind::point_get:
      return compile_point_get(*as<PointGetNode>(&node), plan);
    case PlanKind::index_scan:
      return compile_index_scan(*as<IndexScanNode>(&node), plan);
    case PlanKind::sequential_scan:
      return compile_sequential_scan(*as<SequentialScanNode>(&node), plan);
    case PlanKind::function_scan:
      return compile_function_scan(*as<FunctionScanNode>(&node), plan);
    case PlanKind::cte_scan:
      return compile_cte_scan(*as<CteScanNode>(&node), plan);
    case PlanKind::work_table_scan:
      return compile_work_table_scan(*as<WorkTableScanNode>(&node), plan);
    case PlanKind::filter:
      return compile_filter(*as<FilterNode>(&node), plan);
    case PlanKind::project:
      return compile_project(*as<ProjectNode>(&node), plan);
    case PlanKind::nested_loop:
      return compile_nested_loop(*as<NestedLoopNode>(&node), plan);
    case PlanKind::hash_join:
      return compile_hash_join(*as<HashJoinNode>(&node), plan);
    case PlanKind::merge_join:
      return compile_merge_join(*as<MergeJoinNode>(&node), plan);
    case PlanKind::aggregate:
      return compile_aggregate(*as<AggregateNode>(&node), plan);
    case PlanKind::unique:
      return compile_unique(*as<UniqueNode>(&node), plan);
    case PlanKind::sort:
      return compile_sort(*as<SortNode>(&node), plan);
    case PlanKind::limit:
      return compile_limit(*as<LimitNode>(&node), plan);
    case PlanKind::append:
      return compile_append(*as<AppendNode>(&node), plan);
    case PlanKind::set_operation:
      return compile_set_operation(*as<SetOperationNode>(&node), plan);
    case PlanKind::recursive_union:
      return compile_recursive_union(*as<RecursiveUnionNode>(&node), plan);
    case PlanKind::materialize:
      return compile_materialize(*as<MaterializeNode>(&node), plan);
    case PlanKind::memoize:
      return compile_memoize(*as<MemoizeNode>(&node), plan);
    case PlanKind::lock_rows:
      return compile_lock_rows(*as<LockRowsNode>(&node), plan);
    case PlanKind::insert:
      return compile_insert(*as<InsertNode>(&node), plan);
    case PlanKind::update:
      return compile_update(*as<UpdateNode>(&node), plan);
    case PlanKind::delete_:
      return compile_delete(*as<DeleteNode>(&node), plan);
  }
  __builtin_unreachable();
}

}  // namespace pgsilo
