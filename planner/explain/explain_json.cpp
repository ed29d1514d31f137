#include "planner/explain/explain_json.h"

#include <cstdio>

#include "planner/explain/explain_tree.h"
#include "sql/sql_error.h"

namespace pgsilo {

namespace {

std::string number(double value, int digits) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%.*f", digits, value);
  return buffer;
}

class JsonRenderer {
 public:
  explicit JsonRenderer(const ExplainRequest& request) : request_(request) {}

  std::string run(const ExplainedNode& root) {
    text_ = "[\n  {\n    \"Plan\": ";
    render(root, 4);
    if (request_.options.summary && request_.planning_ms >= 0) {
      text_ += ",\n    \"Planning Time\": " + number(request_.planning_ms, 3);
    }
    if (request_.options.summary && request_.execution_ms >= 0) {
      text_ += ",\n    \"Execution Time\": " + number(request_.execution_ms, 3);
    }
    text_ += "\n  }\n]";
    return std::move(text_);
  }

 private:
  void begin_field(std::string_view name, int indent) {
    if (!first_) text_ += ",";
    text_ += "\n" + std::string(static_cast<size_t>(indent), ' ') + json_string(name) + ": ";
    first_ = false;
  }

  void field(std::string_view name, std::string_view json, int indent) {
    begin_field(name, indent);
    text_ += json;
  }

  void render(const ExplainedNode& node, int indent) {
    text_ += "{";
    first_ = true;
    int inner = indent + 2;
    field("Node Type", json_string(node.node_type), inner);
    if (!node.relationship.empty())
      field("Parent Relationship", json_string(node.relationship), inner);
    if (!node.subplan_name.empty()) field("Subplan Name", json_string(node.subplan_name), inner);
    field("Parallel Aware", "false", inner);
    field("Async Capable", "false", inner);
    for (const auto& [name, json] : node.fields) field(name, json, inner);
    add_estimates(node, inner);
    for (const ExplainedProperty& property : node.properties) add_property(property, inner);
    if (!node.subplans.empty() || !node.children.empty()) add_plans(node, inner);
    text_ += "\n" + std::string(static_cast<size_t>(indent), ' ') + "}";
    first_ = false;
  }

  void add_estimates(const ExplainedNode& node, int indent) {
    if (node.plan == nullptr) return;
    if (request_.options.costs) {
      field("Startup Cost", number(node.plan->startup_cost, 2), indent);
      field("Total Cost", number(node.plan->total_cost, 2), indent);
      field("Plan Rows", number(node.plan->rows, 0), indent);
      field("Plan Width", std::to_string(node.plan->width), indent);
    }
    if (request_.runs == nullptr) return;
    OperatorRun run = (*request_.runs)(*node.plan);
    double loops = run.loops > 0 ? run.loops : 1;
    if (request_.options.timing) {
      field("Actual Startup Time", number(run.startup_ms / loops, 3), indent);
      field("Actual Total Time", number(run.total_ms / loops, 3), indent);
    }
    field("Actual Rows", number(run.rows / loops, 0), indent);
    field("Actual Loops", number(run.loops, 0), indent);
  }

  void add_property(const ExplainedProperty& property, int indent) {
    begin_field(property.name, indent);
    if (!property.is_list) {
      bool is_boolean = property.values[0] == "true" || property.values[0] == "false";
      text_ += is_boolean && property.name == "Inner Unique" ? property.values[0]
                                                             : json_string(property.values[0]);
      return;
    }
    text_ += "[";
    for (size_t i = 0; i < property.values.size(); ++i) {
      text_ += (i == 0 ? "" : ", ") + json_string(property.values[i]);
    }
    text_ += "]";
  }

  void add_plans(const ExplainedNode& node, int indent) {
    begin_field("Plans", indent);
    text_ += "[";
    bool first = true;
    for (const ExplainedNode* part : parts_of(node)) {
      text_ += (first ? "\n" : ",\n") + std::string(static_cast<size_t>(indent) + 2, ' ');
      first = false;
      render(*part, indent + 2);
    }
    text_ += "\n" + std::string(static_cast<size_t>(indent), ' ') + "]";
  }

  const ExplainRequest& request_;
  std::string text_;
  bool first_ = true;
};

}  // namespace

std::string json_string(std::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    switch (c) {
      case '"':
        result += "\\\"";
        break;
      case '\\':
        result += "\\\\";
        break;
      case '\n':
        result += "\\n";
        break;
      case '\r':
        result += "\\r";
        break;
      case '\t':
        result += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          char buffer[8];
          std::snprintf(buffer, sizeof buffer, "\\u%04x", static_cast<unsigned>(c));
          result += buffer;
        } else {
          result += c;
        }
    }
  }
  return result + "\"";
}

std::vector<std::string> render_json(const ExplainedNode& root, const ExplainRequest& request) {
  return {JsonRenderer(request).run(root)};
}

}  // namespace pgsilo
