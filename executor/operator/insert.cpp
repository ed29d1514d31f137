#include "executor/operator/modify.h"

namespace pgsilo {

namespace {

struct CompiledInsert final : CompiledModify {
  ExpressionProgram values;
  std::unique_ptr<Operator> instantiate(ExecutionState& state) const override;
};

class Insert final : public Modify {
 public:
  Insert(const CompiledInsert& compiled, ExecutionState& state)
      : Modify(compiled, state), insert_(compiled) {}

 private:
  bool change() override {
    insert_.values.evaluate(registers(), state_.rows);
    check_row();
    writer_.insert(row());
    return true;
  }

  const CompiledInsert& insert_;
};

std::unique_ptr<Operator> CompiledInsert::instantiate(ExecutionState& state) const {
  return std::make_unique<Insert>(*this, state);
}

}  // namespace

CompiledOperator* compile_insert(const InsertNode& node, PlanCompiler& plan) {
  auto made = std::make_unique<CompiledInsert>();
  made->prepare(node, plan);
  std::vector<Register> targets;
  targets.reserve(node.values.size());
  for (size_t i = 0; i < node.values.size(); ++i)
    targets.push_back(made->row + static_cast<Register>(i));
  made->values = plan.row_into(node.values, made->child->output, targets);
  return plan.add(std::move(made));
}

}  // namespace pgsilo
