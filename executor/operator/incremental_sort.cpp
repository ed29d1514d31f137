// Sorting rows that come by the first keys already: those that are equal in them, a run, are sorted
// by themselves. So the first rows come early, and a limit above leaves later runs unread.
#include "executor/operator/row_sorter.h"

namespace pgsilo {

namespace {

struct CompiledIncrementalSort final : CompiledSortOrder {
  std::unique_ptr<Operator> instantiate(ExecutionState& state) const override;
};

class IncrementalSort final : public Operator {
 public:
  IncrementalSort(const CompiledIncrementalSort& compiled, ExecutionState& state)
      : Operator(state),
        compiled_(compiled),
        child_(compiled.child->instantiate(state)),
        run_(compiled, state),
        ahead_(compiled.shape),
        scratch_(state) {}

  void open() override {
    child_->open();
    scratch_.begin_row();
    wanted_ = compiled_.wanted(state_);
    run_.clear(wanted_);
    ahead_.clear();
    input_done_ = false;
  }

  bool next() override {
    const Datum* row = run_.next();
    if (row == nullptr) {
      if (!fill()) return false;
      row = run_.next();
    }
    compiled_.shape.restore(row, registers());
    return true;
  }

  void close() override {
    child_->close();
    run_.clear(0);
    ahead_.clear();
    input_done_ = true;
  }

 private:
  // The next run; false: there is none, or none that is wanted.
  bool fill() {
    wanted_ -= std::min<uint64_t>(wanted_, run_.added());
    run_.clear(wanted_);
    if (wanted_ == 0 || !begin_run()) return false;
    while (!input_done_) {
      if (!child_->next()) {
        input_done_ = true;
      } else if (is_of_run()) {
        state_.session.maybe_yield();
        run_.add();
      } else {
        ahead_.append(registers());
        break;
      }
    }
    run_.sort();
    return true;
  }

  // Its first row is the one that ended the run before.
  bool begin_run() {
    if (ahead_.size() == 0 && !input_done_) {
      if (child_->next()) {
        ahead_.append(registers());
      } else {
        input_done_ = true;
      }
    }
    if (ahead_.size() == 0) return false;
    first_.clear();
    memory_.reset();
    compiled_.shape.restore(ahead_[0], registers());
    for (size_t i = 0; i < compiled_.presorted; ++i) {
      size_t column = compiled_.keys[i].column;
      first_.push_back(copy(column, ahead_[0][column]));
    }
    run_.add();
    ahead_.clear();
    return true;
  }

  Datum copy(size_t column, Datum value) {
    if (value.null || !compiled_.shape.by_reference[column]) return value;
    return Datum::of_bytes(memory_.copy_string(value.bytes()));
  }

  bool is_of_run() {
    for (size_t i = 0; i < compiled_.presorted; ++i) {
      const CompiledSortKey& key = compiled_.keys[i];
      if (key.order(first_[i], at(compiled_.shape.registers[key.column])) != 0) return false;
    }
    return true;
  }

  const CompiledIncrementalSort& compiled_;
  std::unique_ptr<Operator> child_;
  RowSorter run_;
  RowStore ahead_;            // the row behind the run, once it is known
  std::vector<Datum> first_;  // the presorted keys of the run
  Arena memory_{ArenaLimit::memory_limit};
  Scratch scratch_;
  uint64_t wanted_ = 0;
  bool input_done_ = false;
};

std::unique_ptr<Operator> CompiledIncrementalSort::instantiate(ExecutionState& state) const {
  return std::make_unique<IncrementalSort>(*this, state);
}

}  // namespace

CompiledOperator* compile_incremental_sort(const SortNode& node, PlanCompiler& plan) {
  auto made = std::make_unique<CompiledIncrementalSort>();
  made->prepare(node, plan);
  return plan.add(std::move(made));
}

}  // namespace pgsilo
