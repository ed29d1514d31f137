// UNION ALL: the children's rows one after the other.
#include "base/long_work.h"
#include "executor/operator/compile_operator.h"
#include "executor/operator/operator.h"

namespace pgsilo {

namespace {

// There may be many thousands.
constexpr size_t child_work = 4096;

struct CompiledAppend final : CompiledOperator {
  std::vector<const CompiledOperator*> children;
  std::unique_ptr<Operator> instantiate(ExecutionState& state) const override;
};

class Append final : public Operator {
 public:
  Append(const CompiledAppend& compiled, ExecutionState& state)
      : Operator(state), compiled_(compiled) {
    for (const CompiledOperator* child : compiled.children) {
      did_work(child_work);
      children_.push_back(child->instantiate(state));
    }
  }

  void open() override {
    current_ = 0;
    opened_ = false;
  }
  bool next() override {
    for (; current_ < children_.size(); ++current_, opened_ = false) {
      if (!opened_) children_[current_]->open();
      opened_ = true;
      if (!children_[current_]->next()) continue;
      const std::vector<Register>& from = compiled_.children[current_]->output;
      for (size_t i = 0; i < from.size(); ++i) at(compiled_.output[i]) = at(from[i]);
      return true;
    }
    return false;
  }
  void close() override {
    for (auto& child : children_) {
      did_needed_work(child_work);
      child->close();
    }
  }

 private:
  const CompiledAppend& compiled_;
  std::vector<std::unique_ptr<Operator>> children_;
  size_t current_ = 0;
  bool opened_ = false;
};

std::unique_ptr<Operator> CompiledAppend::instantiate(ExecutionState& state) const {
  return std::make_unique<Append>(*this, state);
}

}  // namespace

CompiledOperator* compile_append(const AppendNode& node, PlanCompiler& plan) {
  auto made = std::make_unique<CompiledAppend>();
  made->output = plan.new_register_list(node.columns.size());
  for (const PlanNode* child : node.children) made->children.push_back(plan.compile(child));
  return plan.add(std::move(made));
}

}  // namespace pgsilo
