// What is known of operators once the plan is whole: what their rows depend on when they are run
// again within one execution; which have to keep the order of what they read.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/long_work.h"
#include "planner/bound/expression_tree.h"
#include "planner/plan/make_plan.h"
#include "planner/plan/plan_tree.h"
#include "planner/plan/recursion_nodes.h"

namespace pgsilo {

namespace {

using Parameters = std::vector<const ExecutionParameterExpression*>;

void add(Parameters& parameters, const ExecutionParameterExpression* parameter) {
  bool known = std::any_of(
      parameters.begin(), parameters.end(),
      [&](const ExecutionParameterExpression* other) { return other->index == parameter->index; });
  if (!known) parameters.push_back(parameter);
}

// What one operator and everything below it reads from outside.
struct Reads {
  Parameters parameters;
  std::unordered_set<int32_t> work_tables;
};

class Finisher {
 public:
  static constexpr size_t node_work = 4096;

  const Reads& reads_of(const PlanNode& node) {
    if (auto known = reads_.find(&node); known != reads_.end()) return known->second;
    did_work(node_work);
    Reads reads;
    for_each_expression(node,
                        [&](const BoundExpression& expression) { add_reads(reads, expression); });
    for_each_child(node, [&](const PlanNode& child) { merge(reads, reads_of(child)); });
    // What the operator itself sets for what is below it does not come from outside.
    if (auto* loop = try_as<NestedLoopNode>(&node)) {
      for (const NestedLoopParameter& own : loop->parameters)
        remove(reads, own.execution_parameter);
    }
    if (auto* scan = try_as<WorkTableScanNode>(&node)) reads.work_tables.insert(scan->work_table);
    if (auto* recursion = try_as<RecursiveUnionNode>(&node))
      reads.work_tables.erase(recursion->work_table);
    return reads_[&node] = std::move(reads);
  }

 private:
  static void remove(Reads& reads, int32_t parameter) {
    std::erase_if(reads.parameters, [&](const ExecutionParameterExpression* other) {
      return other->index == parameter;
    });
  }

  static void merge(Reads& reads, const Reads& other) {
    for (const ExecutionParameterExpression* parameter : other.parameters)
      add(reads.parameters, parameter);
    reads.work_tables.insert(other.work_tables.begin(), other.work_tables.end());
  }

  void add_reads(Reads& reads, const BoundExpression& expression) {
    Reads own;
    collect(own, expression);
    merge(reads, own);
  }

  void collect(Reads& reads, const BoundExpression& expression) {
    for_each_child(expression, [&](const BoundExpression& child) { collect(reads, child); });
    if (auto* parameter = try_as<ExecutionParameterExpression>(&expression))
      add(reads.parameters, parameter);
    if (auto* node = try_as<CaseExpression>(&expression)) remove(reads, node->argument_parameter);
    if (auto* subplan = try_as<SubplanExpression>(&expression)) {
      merge(reads, reads_of(*subplan->plan));
      for (const SubplanArgument& argument : subplan->arguments)
        remove(reads, argument.execution_parameter);
      for (int32_t parameter : subplan->row_parameters) remove(reads, parameter);
    }
  }

  std::unordered_map<const PlanNode*, Reads> reads_;
};

// The hash joins through which rows come whose order somebody rests on.
class OrderedJoins {
 public:
  void add(const PlanNode& node) {
    switch (node.kind) {
      case PlanKind::hash_join: {
        const auto& join = *as<HashJoinNode>(&node);
        if (joins_.insert(&join).second) add(*join.left);
        return;
      }
      case PlanKind::merge_join:
        return add(*as<MergeJoinNode>(&node)->left);
      case PlanKind::aggregate:
        if (as<AggregateNode>(&node)->strategy != AggregateStrategy::sorted) return;
        break;
      case PlanKind::sort:
      case PlanKind::set_operation:
      case PlanKind::recursive_union:
      case PlanKind::append:
        return;
      default:
        break;
    }
    // Of a nested loop also the right side: it is the order within what belongs to one left row.
    for_each_child(node, [&](const PlanNode& child) { add(child); });
  }
  bool contains(const PlanNode* join) const { return joins_.contains(join); }

 private:
  std::unordered_set<const PlanNode*> joins_;
};

}  // namespace

void rest_on_order(StatementPlanning& statement, const PlanNode* node) {
  statement.ordered.push_back(node);
}

void finish_plan(StatementPlanning& statement) {
  Finisher finisher;
  OrderedJoins ordered;
  for (const PlanNode* node : statement.ordered) ordered.add(*node);
  for (PlanNode* node : statement.nodes) {
    const Reads& reads = finisher.reads_of(*node);
    node->depends_on_parameters = !reads.parameters.empty() || !reads.work_tables.empty();
    if (node->kind == PlanKind::hash_join)
      static_cast<HashJoinNode*>(node)->keeps_order = ordered.contains(node);
    // Made for what is not volatile.
    if (node->kind != PlanKind::memoize) continue;
    static_cast<MemoizeNode*>(node)->keys = statement.arena.copy_span(
        std::vector<const BoundExpression*>(reads.parameters.begin(), reads.parameters.end()));
  }
}

}  // namespace pgsilo
