// One row without columns, or none.
#include "executor/operator/compile_operator.h"
#include "executor/operator/operator.h"

namespace pgsilo {

namespace {

struct CompiledResult final : CompiledOperator {
  ExpressionProgram filter;
  std::unique_ptr<Operator> instantiate(ExecutionState& state) const override;
};

class Result final : public Operator {
 public:
  Result(const CompiledResult& compiled, ExecutionState& state)
      : Operator(state), compiled_(compiled), scratch_(state) {}

  void open() override { delivered_ = false; }
  bool next() override {
    if (delivered_) return false;
    delivered_ = true;
    scratch_.begin_row();
    return compiled_.filter.is_true(registers(), state_.rows);
  }

 private:
  const CompiledResult& compiled_;
  Scratch scratch_;
  bool delivered_ = false;
};

std::unique_ptr<Operator> CompiledResult::instantiate(ExecutionState& state) const {
  return std::make_unique<Result>(*this, state);
}

}  // namespace

CompiledOperator* compile_result(const ResultNode& node, PlanCompiler& plan) {
  auto made = std::make_unique<CompiledResult>();
  made->filter = plan.condition(node.one_time_filter, {});
  return plan.add(std::move(made));
}

}  // namespace pgsilo
