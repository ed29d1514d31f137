#include "executor/plan_shape.h"

#include <string_view>
#include <vector>

#include "planner/explain/explain.h"
#include "planner/plan/transaction_plan.h"

namespace pgsilo {

namespace {

std::vector<std::string> lines_of(const PlannedStatement& planned, TypeContext& types) {
  ExplainRequest request;
  request.options.costs = false;
  request.types = &types;
  return explain_plan(planned, request);
}

}  // namespace

std::string plan_text(const PlannedStatement& planned, TypeContext& types) {
  std::string text;
  for (const std::string& line : lines_of(planned, types)) {
    text += line;
    text += '\n';
  }
  return text;
}

std::string plan_nodes(const PlannedStatement& planned, TypeContext& types) {
  std::string nodes;
  for (std::string_view line : lines_of(planned, types)) {
    // The first is the root's.
    if (!nodes.empty() && line.find("->") == std::string_view::npos) continue;
    nodes += line;
    nodes += '\n';
  }
  return nodes;
}

}  // namespace pgsilo
