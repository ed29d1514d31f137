// Reads a WITH query's rows, which are computed once per run, by whoever asks first.
#include "executor/operator/compile_operator.h"
#include "executor/operator/cte.h"
#include "executor/operator/operator.h"

namespace pgsilo {

namespace {

struct CompiledCteScan final : CompiledOperator {
  int32_t cte = 0;
  ExpressionProgram filter;
  std::unique_ptr<Operator> instantiate(ExecutionState& state) const override;
};

class CteScan final : public Operator {
 public:
  CteScan(const CompiledCteScan& compiled, ExecutionState& state)
      : Operator(state), compiled_(compiled), scratch_(state) {}

  void open() override { reader_.rewind(); }
  bool next() override {
    CteRun& rows = state_.cte(compiled_.cte);
    while (const Datum* row = rows.next(reader_)) {
      for (size_t i = 0; i < compiled_.output.size(); ++i) at(compiled_.output[i]) = row[i];
      scratch_.begin_row();
      if (compiled_.filter.is_true(registers(), state_.rows)) return true;
      state_.session.maybe_yield();  // kept rows come without giving way
    }
    return false;
  }
  void close() override { reader_.close(); }

 private:
  const CompiledCteScan& compiled_;
  Scratch scratch_;
  StoredRows::Reader reader_;
};

std::unique_ptr<Operator> CompiledCteScan::instantiate(ExecutionState& state) const {
  return std::make_unique<CteScan>(*this, state);
}

}  // namespace

CteRun::CteRun(const CompiledCte& compiled, ExecutionState& state)
    : state_(state), plan_(compiled.plan->instantiate(state)), rows_(compiled.shape) {}

const Datum* CteRun::next(StoredRows::Reader& reader) {
  if (!opened_) {
    plan_->open();
    opened_ = true;
  }
  const Datum* row = reader.next(rows_);
  while (row == nullptr) {
    if (exhausted_ || !plan_->next()) {
      exhausted_ = true;
      return nullptr;
    }
    state_.session.maybe_yield();
    rows_.append(state_.registers.data(), state_.session);
    row = reader.next(rows_);
  }
  return row;
}

void CteRun::reset() {
  plan_->close();
  rows_.close();
  opened_ = exhausted_ = false;
}

CompiledOperator* compile_cte_scan(const CteScanNode& node, PlanCompiler& plan) {
  auto made = std::make_unique<CompiledCteScan>();
  made->cte = node.cte;
  made->output = plan.new_register_list(node.columns.size());
  made->filter = plan.condition(node.filter, made->output);
  return plan.add(std::move(made));
}

}  // namespace pgsilo
