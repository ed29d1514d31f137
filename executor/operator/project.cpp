// Computed columns. A column that is merely one of the child's is that column's register and costs
// nothing.
#include "executor/operator/compile_operator.h"
#include "executor/operator/operator.h"
#include "planner/bound/expression_tree.h"

namespace pgsilo {

namespace {

struct CompiledProject final : CompiledOperator {
  const CompiledOperator* child = nullptr;
  ExpressionProgram row;
  std::unique_ptr<Operator> instantiate(ExecutionState& state) const override;
};

class Project final : public Operator {
 public:
  Project(const CompiledProject& compiled, ExecutionState& state)
      : Operator(state),
        compiled_(compiled),
        child_(compiled.child->instantiate(state)),
        scratch_(state) {}

  void open() override { child_->open(); }
  bool next() override {
    if (!child_->next()) return false;
    scratch_.begin_row();
    compiled_.row.evaluate(registers(), state_.rows);
    return true;
  }
  void close() override { child_->close(); }

 private:
  const CompiledProject& compiled_;
  std::unique_ptr<Operator> child_;
  Scratch scratch_;
};

std::unique_ptr<Operator> CompiledProject::instantiate(ExecutionState& state) const {
  // Nothing to compute: the child's registers are the row.
  if (!row.computes()) return child->instantiate(state);
  return std::make_unique<Project>(*this, state);
}

const SlotExpression* plain_slot(const BoundExpression* expression) {
  return try_as<SlotExpression>(without_relabel(expression));
}

}  // namespace

CompiledOperator* compile_project(const ProjectNode& node, PlanCompiler& plan) {
  auto made = std::make_unique<CompiledProject>();
  made->child = plan.compile(node.child);
  // Only slots are taken as they are: a join that extends this row with nulls overwrites its
  // registers, which constants and parameters would not survive.
  std::vector<const BoundExpression*> computed;
  std::vector<Register> targets;
  for (const BoundExpression* expression : node.expressions) {
    if (const SlotExpression* slot = plain_slot(expression)) {
      made->output.push_back(made->child->output[static_cast<size_t>(slot->slot)]);
      continue;
    }
    made->output.push_back(plan.new_register());
    computed.push_back(expression);
    targets.push_back(made->output.back());
  }
  made->row = plan.row_into(computed, made->child->output, targets);
  return plan.add(std::move(made));
}

}  // namespace pgsilo
