#include "planner/explain/plan_names.h"

#include "planner/bound/expression_tree.h"
#include "planner/plan/plan_tree.h"

namespace pgsilo {

namespace {

// Everything that is run for a node: what is below it and its subplans.
void for_each_part(const PlanNode& node, FunctionRef<void(const PlanNode&)> visit) {
  for_each_child(node, visit);
  for_each_expression(node, [&](const BoundExpression& expression) {
    contains(expression, [&](const BoundExpression& e) {
      if (auto* subplan = try_as<SubplanExpression>(&e)) visit(*subplan->plan);
      return false;
    });
  });
}

size_t count_relations(const PlanNode& node) {
  size_t count = node.kind == PlanKind::point_get || node.kind == PlanKind::index_scan ||
                         node.kind == PlanKind::sequential_scan ||
                         node.kind == PlanKind::function_scan || node.kind == PlanKind::cte_scan ||
                         node.kind == PlanKind::work_table_scan || node.kind == PlanKind::values
                     ? 1
                     : 0;
  for_each_part(node, [&](const PlanNode& part) { count += count_relations(part); });
  return count;
}

void find_cte_name(const PlanNode& node, int32_t number, std::string& name) {
  auto* scan = try_as<CteScanNode>(&node);
  if (scan != nullptr && scan->cte == number) name = scan->name;
  for_each_part(node, [&](const PlanNode& part) { find_cte_name(part, number, name); });
}

}  // namespace

size_t count_relations(const PlannedStatement& planned) {
  size_t relations = count_relations(*planned.root);
  for (const PlanNode* cte : planned.ctes) relations += count_relations(*cte);
  return relations;
}

std::string cte_name(const PlannedStatement& planned, int32_t number) {
  std::string name;
  find_cte_name(*planned.root, number, name);
  for (const PlanNode* cte : planned.ctes) find_cte_name(*cte, number, name);
  return name;
}

}  // namespace pgsilo
