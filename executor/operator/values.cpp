// VALUES: rows of expressions.
#include "executor/operator/compile_operator.h"
#include "executor/operator/operator.h"

namespace pgsilo {

namespace {

struct CompiledValues final : CompiledOperator {
  std::vector<ExpressionProgram> rows;  // each fills `output`
  std::unique_ptr<Operator> instantiate(ExecutionState& state) const override;
};

class Values final : public Operator {
 public:
  Values(const CompiledValues& compiled, ExecutionState& state)
      : Operator(state), compiled_(compiled), scratch_(state) {}

  void open() override { position_ = 0; }
  bool next() override {
    if (position_ == compiled_.rows.size()) return false;
    scratch_.begin_row();
    compiled_.rows[position_++].evaluate(registers(), state_.rows);
    return true;
  }

 private:
  const CompiledValues& compiled_;
  Scratch scratch_;
  size_t position_ = 0;
};

std::unique_ptr<Operator> CompiledValues::instantiate(ExecutionState& state) const {
  return std::make_unique<Values>(*this, state);
}

}  // namespace

CompiledOperator* compile_values(const ValuesNode& node, PlanCompiler& plan) {
  auto made = std::make_unique<CompiledValues>();
  made->output = plan.new_register_list(node.columns.size());
  made->rows.reserve(node.rows.size());
  for (const ExpressionList& row : node.rows) {
    made->rows.push_back(plan.row_into(row, {}, made->output));
  }
  return plan.add(std::move(made));
}

}  // namespace pgsilo
