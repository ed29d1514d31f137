// A plan taken apart for showing: per operator its type, its properties and what is below it. Made
// once, rendered as text or JSON. Thread safety: none.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "planner/explain/explain.h"

namespace pgsilo {

struct ExplainedProperty {
  std::string name;
  std::vector<std::string> values;
  bool is_list = false;
};

struct ExplainedNode {
  std::string title;      // text form: "Index Scan using t_pkey on t"
  std::string node_type;  // JSON: "Index Scan"
  std::vector<std::pair<std::string, std::string>> fields;  // JSON only; values are JSON
  std::vector<ExplainedProperty> properties;
  const PlanNode* plan = nullptr;  // estimates
  std::string relationship;        // JSON: "Outer", "Inner", "InitPlan", "SubPlan", "Member"
  std::string subplan_name;        // "SubPlan 1", "InitPlan 1 (returns $0)", "CTE x"
  std::vector<std::unique_ptr<ExplainedNode>> subplans;
  std::vector<std::unique_ptr<ExplainedNode>> children;

  void add(std::string name, std::string value) {
    properties.push_back({std::move(name), {std::move(value)}, false});
  }
};

std::unique_ptr<ExplainedNode> make_explained_tree(const PlannedStatement& planned,
                                                   const ExplainRequest& request);

// What is below an operator, in PostgreSQL's order: InitPlans, inputs, SubPlans.
std::vector<const ExplainedNode*> parts_of(const ExplainedNode& node);

std::vector<std::string> render_text(const ExplainedNode& root, const ExplainRequest& request);
std::vector<std::string> render_json(const ExplainedNode& root, const ExplainRequest& request);

}  // namespace pgsilo
