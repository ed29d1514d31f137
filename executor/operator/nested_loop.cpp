// For each row of the left side, the matching rows of the right side, which is rescanned with
// parameters from the left row.
#include "executor/operator/join.h"

namespace pgsilo {

namespace {

struct CompiledNestedLoop final : CompiledJoin {
  std::vector<std::pair<Register, Register>> parameters;  // execution parameter <- left slot
  std::unique_ptr<Operator> instantiate(ExecutionState& state) const override;
};

class NestedLoop final : public Operator {
 public:
  NestedLoop(const CompiledNestedLoop& compiled, ExecutionState& state)
      : Operator(state),
        compiled_(compiled),
        left_(compiled.left->instantiate(state)),
        right_(compiled.right->instantiate(state)),
        scratch_(state) {}

  void open() override {
    left_->open();
    has_left_ = false;
  }

  bool next() override {
    for (;;) {
      if (!has_left_ && !advance_left()) return false;
      switch (compiled_.type) {
        case JoinType::semi:
          has_left_ = false;
          if (find_match() && passes(compiled_.filter)) return true;
          break;
        case JoinType::anti:
          has_left_ = false;
          if (!find_match() && passes(compiled_.filter)) return true;
          break;
        default:
          if (next_joined()) return true;
          break;
      }
    }
  }

  void close() override {
    left_->close();
    right_->close();
  }

 private:
  bool advance_left() {
    if (!left_->next()) return false;
    for (auto [parameter, slot] : compiled_.parameters) at(parameter) = at(slot);
    right_->open();
    has_left_ = true;
    matched_ = false;
    return true;
  }

  bool passes(const ExpressionProgram& condition) {
    scratch_.begin_row();
    return condition.is_true(registers(), state_.rows);
  }

  bool find_match() {
    while (right_->next()) {
      state_.session.maybe_yield();
      if (passes(compiled_.condition)) return true;
    }
    return false;
  }

  // The next output row of an inner or left join for the present left row; false when that one is
  // done.
  bool next_joined() {
    while (!(matched_ && compiled_.right_is_unique) && find_match()) {
      matched_ = true;
      if (passes(compiled_.filter)) return true;
    }
    has_left_ = false;
    if (matched_ || compiled_.type != JoinType::left) return false;
    compiled_.right_shape.set_null(registers());
    return passes(compiled_.filter);
  }

  const CompiledNestedLoop& compiled_;
  std::unique_ptr<Operator> left_;
  std::unique_ptr<Operator> right_;
  Scratch scratch_;
  bool has_left_ = false;
  bool matched_ = false;
};

std::unique_ptr<Operator> CompiledNestedLoop::instantiate(ExecutionState& state) const {
  return std::make_unique<NestedLoop>(*this, state);
}

}  // namespace

CompiledOperator* compile_nested_loop(const NestedLoopNode& node, PlanCompiler& plan) {
  auto made = std::make_unique<CompiledNestedLoop>();
  made->prepare(node, plan);
  for (const NestedLoopParameter& parameter : node.parameters) {
    made->parameters.emplace_back(plan.execution_parameter(parameter.execution_parameter),
                                  made->left->output[static_cast<size_t>(parameter.left_slot)]);
  }
  return plan.add(std::move(made));
}

}  // namespace pgsilo
