// Sorting all rows.
#include "executor/operator/row_sorter.h"

namespace pgsilo {

namespace {

struct CompiledSort final : CompiledSortOrder {
  std::unique_ptr<Operator> instantiate(ExecutionState& state) const override;
};

class Sort final : public Operator {
 public:
  Sort(const CompiledSort& compiled, ExecutionState& state)
      : Operator(state),
        compiled_(compiled),
        child_(compiled.child->instantiate(state)),
        rows_(compiled, state),
        scratch_(state) {}

  void open() override {
    // With a limit the rows that were kept depend on the limit.
    if (sorted_ && !compiled_.child->depends_on_parameters && !compiled_.has_limit)
      return rows_.rewind();
    sorted_ = false;
    child_->open();
  }

  bool next() override {
    if (!sorted_) fill();
    const Datum* row = rows_.next();
    if (row == nullptr) return false;
    compiled_.shape.restore(row, registers());
    return true;
  }

  void close() override {
    child_->close();
    rows_.clear(0);
    sorted_ = false;
  }

 private:
  void fill() {
    scratch_.begin_row();
    rows_.clear(compiled_.wanted(state_));
    while (child_->next()) {
      state_.session.maybe_yield();
      rows_.add();
    }
    rows_.sort();
    sorted_ = true;
  }

  const CompiledSort& compiled_;
  std::unique_ptr<Operator> child_;
  RowSorter rows_;
  Scratch scratch_;
  bool sorted_ = false;
};

std::unique_ptr<Operator> CompiledSort::instantiate(ExecutionState& state) const {
  return std::make_unique<Sort>(*this, state);
}

}  // namespace

CompiledOperator* compile_sort(const SortNode& node, PlanCompiler& plan) {
  if (node.presorted > 0) return compile_incremental_sort(node, plan);
  auto made = std::make_unique<CompiledSort>();
  made->prepare(node, plan);
  return plan.add(std::move(made));
}

}  // namespace pgsilo
