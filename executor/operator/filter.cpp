// Rows for which a condition is true.
#include "executor/operator/compile_operator.h"
#include "executor/operator/operator.h"

namespace pgsilo {

namespace {

struct CompiledFilter final : CompiledOperator {
  const CompiledOperator* child = nullptr;
  ExpressionProgram condition;
  ExpressionProgram one_time;
  std::unique_ptr<Operator> instantiate(ExecutionState& state) const override;
};

class Filter final : public Operator {
 public:
  Filter(const CompiledFilter& compiled, ExecutionState& state)
      : Operator(state),
        compiled_(compiled),
        child_(compiled.child->instantiate(state)),
        scratch_(state) {}

  void open() override {
    scratch_.begin_row();
    passes_ = compiled_.one_time.is_true(registers(), state_.rows);
    if (passes_) child_->open();
  }
  bool next() override {
    if (!passes_) return false;
    while (child_->next()) {
      scratch_.begin_row();
      if (compiled_.condition.is_true(registers(), state_.rows)) return true;
      state_.session.maybe_yield();  // kept rows come without giving way
    }
    return false;
  }
  void close() override { child_->close(); }

 private:
  const CompiledFilter& compiled_;
  std::unique_ptr<Operator> child_;
  Scratch scratch_;
  bool passes_ = true;
};

std::unique_ptr<Operator> CompiledFilter::instantiate(ExecutionState& state) const {
  return std::make_unique<Filter>(*this, state);
}

}  // namespace

CompiledOperator* compile_filter(const FilterNode& node, PlanCompiler& plan) {
  auto made = std::make_unique<CompiledFilter>();
  made->child = plan.compile(node.child);
  made->output = made->child->output;
  made->condition = plan.condition(node.condition, made->output);
  made->one_time = plan.condition(node.one_time_filter, {});
  return plan.add(std::move(made));
}

}  // namespace pgsilo
