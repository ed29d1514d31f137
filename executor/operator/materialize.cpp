// Keeps the child's rows as they are first read and replays them on rescans.
#include "executor/operator/compile_operator.h"
#include "executor/operator/operator.h"
#include "executor/spill/stored_rows.h"

namespace pgsilo {

namespace {

struct CompiledMaterialize final : CompiledOperator {
  const CompiledOperator* child = nullptr;
  RowShape shape;
  std::unique_ptr<Operator> instantiate(ExecutionState& state) const override;
};

// The rows come in registers of their own: a replay must not disturb a child that is half read.
class Materialize final : public Operator {
 public:
  Materialize(const CompiledMaterialize& compiled, ExecutionState& state)
      : Operator(state),
        compiled_(compiled),
        child_(compiled.child->instantiate(state)),
        rows_(compiled.shape) {}

  void open() override {
    if (opened_ && !compiled_.child->depends_on_parameters) return reader_.rewind();
    reader_.close();
    rows_.clear();
    child_->open();
    opened_ = true;
    exhausted_ = false;
  }
  bool next() override {
    const Datum* row = reader_.next(rows_);
    if (row == nullptr) {
      if (exhausted_ || !child_->next()) {
        exhausted_ = true;
        return false;
      }
      rows_.append(registers(), state_.session);
      row = reader_.next(rows_);
    }
    for (size_t i = 0; i < compiled_.output.size(); ++i) at(compiled_.output[i]) = row[i];
    return true;
  }
  void close() override {
    child_->close();
    reader_.close();
    rows_.close();
    opened_ = false;
  }

 private:
  const CompiledMaterialize& compiled_;
  std::unique_ptr<Operator> child_;
  StoredRows rows_;
  StoredRows::Reader reader_;
  bool opened_ = false;
  bool exhausted_ = false;
};

std::unique_ptr<Operator> CompiledMaterialize::instantiate(ExecutionState& state) const {
  return std::make_unique<Materialize>(*this, state);
}

}  // namespace

CompiledOperator* compile_materialize(const MaterializeNode& node, PlanCompiler& plan) {
  auto made = std::make_unique<CompiledMaterialize>();
  made->child = plan.compile(node.child);
  made->shape = RowShape(made->child->output, node.columns);
  made->output = plan.new_register_list(node.columns.size());
  return plan.add(std::move(made));
}

}  // namespace pgsilo
