// EXPLAIN in text form.
#include <cmath>
#include <cstdio>

#include "planner/explain/explain_tree.h"
#include "sql/sql_error.h"

namespace pgsilo {

namespace {

std::string fixed(double value, int digits) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%.*f", digits, value);
  return buffer;
}

class TextRenderer {
 public:
  explicit TextRenderer(const ExplainRequest& request) : request_(request) {}

  // Every level below the top begins with an arrow and is indented by six.
  void render(const ExplainedNode& node, int indent, bool arrow) {
    std::string line(static_cast<size_t>(indent), ' ');
    if (arrow) line += "->  ";
    line += node.title + costs(node) + actual(node);
    lines.push_back(std::move(line));
    int inner = indent + (arrow ? 6 : 2);
    for (const ExplainedProperty& property : node.properties) {
      std::string text = std::string(static_cast<size_t>(inner), ' ') + property.name + ": ";
      for (size_t i = 0; i < property.values.size(); ++i)
        text += (i == 0 ? "" : ", ") + property.values[i];
      lines.push_back(std::move(text));
    }
    for (const ExplainedNode* part : parts_of(node)) {
      bool is_subplan = !part->subplan_name.empty();
      if (is_subplan)
        lines.push_back(std::string(static_cast<size_t>(inner), ' ') + part->subplan_name);
      render(*part, is_subplan ? inner + 2 : inner, true);
    }
  }

  std::vector<std::string> lines;

 private:
  std::string costs(const ExplainedNode& node) const {
    if (!request_.options.costs || node.plan == nullptr) return {};
    const PlanNode& plan = *node.plan;
    bool modifies = plan.kind == PlanKind::insert || plan.kind == PlanKind::update ||
                    plan.kind == PlanKind::delete_;
    double rows = modifies && plan.columns.empty() ? 0 : plan.rows;
    return concat("  (cost=", fixed(plan.startup_cost, 2), "..", fixed(plan.total_cost, 2),
                  " rows=", fixed(rows, 0), " width=", rows == 0 ? 0 : plan.width, ")");
  }

  std::string actual(const ExplainedNode& node) const {
    if (request_.runs == nullptr || node.plan == nullptr) return {};
    OperatorRun run = (*request_.runs)(*node.plan);
    if (run.loops <= 0) return " (never executed)";
    std::string text = " (actual ";
    if (request_.options.timing) {
      text += concat("time=", fixed(run.startup_ms / run.loops, 3), "..",
                     fixed(run.total_ms / run.loops, 3), " ");
    }
    return text + concat("rows=", fixed(std::rint(run.rows / run.loops), 0),
                         " loops=", fixed(run.loops, 0), ")");
  }

  const ExplainRequest& request_;
};

}  // namespace

std::vector<std::string> render_text(const ExplainedNode& root, const ExplainRequest& request) {
  TextRenderer renderer(request);
  renderer.render(root, 0, false);
  if (request.options.summary && request.planning_ms >= 0) {
    renderer.lines.push_back(concat("Planning Time: ", fixed(request.planning_ms, 3), " ms"));
  }
  if (request.options.summary && request.execution_ms >= 0) {
    renderer.lines.push_back(concat("Execution Time: ", fixed(request.execution_ms, 3), " ms"));
  }
  return std::move(renderer.lines);
}

std::vector<const ExplainedNode*> parts_of(const ExplainedNode& node) {
  std::vector<const ExplainedNode*> parts;
  auto add = [&](const auto& nodes, bool initial) {
    for (const auto& each : nodes) {
      if ((each->relationship == "InitPlan") == initial) parts.push_back(each.get());
    }
  };
  add(node.subplans, true);
  add(node.children, false);
  add(node.subplans, false);
  return parts;
}

}  // namespace pgsilo
