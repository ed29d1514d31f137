// One function per kind of plan node; each lives in its operator's file.
// Thread safety: pure functions of the compiler they are given.
#pragma once

#include "executor/plan_compiler.h"
#include "planner/plan/plan_node.h"

namespace pgsilo {

struct RecursiveUnionNode;
struct WorkTableScanNode;

CompiledOperator* compile_operator(const PlanNode& node, PlanCompiler& plan);

CompiledOperator* compile_result(const ResultNode& node, PlanCompiler& plan);
CompiledOperator* compile_values(const ValuesNode& node, PlanCompiler& plan);
CompiledOperator* compile_point_get(const PointGetNode& node, PlanCompiler& plan);
CompiledOperator* compile_index_scan(const IndexScanNode& node, PlanCompiler& plan);
CompiledOperator* compile_sequential_scan(const SequentialScanNode& node, PlanCompiler& plan);
CompiledOperator* compile_function_scan(const FunctionScanNode& node, PlanCompiler& plan);
CompiledOperator* compile_cte_scan(const CteScanNode& node, PlanCompiler& plan);
CompiledOperator* compile_work_table_scan(const WorkTableScanNode& node, PlanCompiler& plan);
CompiledOperator* compile_recursive_union(const RecursiveUnionNode& node, PlanCompiler& plan);
CompiledOperator* compile_filter(const FilterNode& node, PlanCompiler& plan);
CompiledOperator* compile_project(const ProjectNode& node, PlanCompiler& plan);
CompiledOperator* compile_nested_loop(const NestedLoopNode& node, PlanCompiler& plan);
CompiledOperator* compile_hash_join(const HashJoinNode& node, PlanCompiler& plan);
CompiledOperator* compile_merge_join(const MergeJoinNode& node, PlanCompiler& plan);
CompiledOperator* compile_aggregate(const AggregateNode& node, PlanCompiler& plan);
CompiledOperator* compile_unique(const UniqueNode& node, PlanCompiler& plan);
CompiledOperator* compile_sort(const SortNode& node, PlanCompiler& plan);
CompiledOperator* compile_incremental_sort(const SortNode& node, PlanCompiler& plan);
CompiledOperator* compile_limit(const LimitNode& node, PlanCompiler& plan);
CompiledOperator* compile_append(const AppendNode& node, PlanCompiler& plan);
CompiledOperator* compile_set_operation(const SetOperationNode& node, PlanCompiler& plan);
CompiledOperator* compile_materialize(const MaterializeNode& node, PlanCompiler& plan);
CompiledOperator* compile_memoize(const MemoizeNode& node, PlanCompiler& plan);
CompiledOperator* compile_lock_rows(const LockRowsNode& node, PlanCompiler& plan);
CompiledOperator* compile_insert(const InsertNode& node, PlanCompiler& plan);
CompiledOperator* compile_update(const UpdateNode& node, PlanCompiler& plan);
CompiledOperator* compile_delete(const DeleteNode& node, PlanCompiler& plan);

}  // namespace pgsilo
