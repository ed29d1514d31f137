#include "executor/operator/row_sorter.h"

namespace pgsilo {

void CompiledSortOrder::prepare(const SortNode& node, PlanCompiler& plan) {
  child = plan.compile(node.child);
  output = child->output;
  shape = RowShape(output, node.columns);
  presorted = node.presorted;
  for (const SortKey& key : node.keys) {
    auto column = static_cast<size_t>(key.slot);
    const TypeInfo& type = type_info(node.columns[column].type);
    keys.push_back({column, key.descending, key.nulls_first, &type});
  }
  if (node.limit_hint == nullptr || node.limit_hint->count == nullptr) return;
  has_limit = true;
  limit_count = plan.expression(node.limit_hint->count, {});
  has_offset = node.limit_hint->offset != nullptr;
  if (has_offset) limit_offset = plan.expression(node.limit_hint->offset, {});
}

uint64_t CompiledSortOrder::wanted(ExecutionState& state) const {
  if (!has_limit) return UINT64_MAX;
  Datum count = limit_count.evaluate(state.registers.data(), state.rows);
  if (count.null || count.i64 < 0) return UINT64_MAX;
  auto total = static_cast<uint64_t>(count.i64);
  if (has_offset) {
    Datum offset = limit_offset.evaluate(state.registers.data(), state.rows);
    if (!offset.null && offset.i64 > 0) total += static_cast<uint64_t>(offset.i64);
  }
  return total;
}

void RowSorter::clear(uint64_t wanted) {
  external_.reset();
  rows_.clear();
  cutoff_ = nullptr;
  if (cutoff_memory_.bytes_reserved() != 0) cutoff_memory_.reset();
  limit_ = wanted;
  added_ = position_ = 0;
  budget_ = state_.session.work_budget();
}

void RowSorter::add() {
  ++added_;
  if (keeps_few()) return add_to_heap();
  append();
}

// With a limit, the least rows seen, greatest on top.
void RowSorter::add_to_heap() {
  if (limit_ == 0) return;
  const Datum* file = state_.registers.data();
  if (rows_.size() == limit_ || cutoff_ != nullptr) {
    for (size_t i = 0; i < candidate_.size(); ++i) candidate_[i] = file[order_.shape.registers[i]];
    const Datum* bound = rows_.size() == limit_ ? rows_[0] : cutoff_;
    if (order_.compare(candidate_.data(), bound) >= 0) return;
  }
  if (rows_.size() < limit_) {
    append();
    std::push_heap(rows_.rows().begin(), rows_.rows().end(), Less{*this});
    return;
  }
  std::pop_heap(rows_.rows().begin(), rows_.rows().end(), Less{*this});
  bool fits = rows_.bytes_taken() <= budget_;
  bool is_refused = false;
  try {
    if (fits) rows_.replace_last(file);
  } catch (const MemoryLimitReached&) {
    is_refused = true;
  }
  if (!fits || is_refused) {
    // What was taken off the top is still the last one.
    std::push_heap(rows_.rows().begin(), rows_.rows().end(), Less{*this});
    spill(is_refused);
    append();
  }
  std::push_heap(rows_.rows().begin(), rows_.rows().end(), Less{*this});
}

void RowSorter::append() {
  const Datum* file = state_.registers.data();
  bool is_refused = false;
  if (rows_.bytes_taken() <= budget_ || rows_.size() == 0) [[likely]] {
    try {
      return rows_.append(file);
    } catch (const MemoryLimitReached&) {
      is_refused = true;
    }
  }
  spill(is_refused);
  rows_.append(file);
}

// What is in memory becomes a run.
void RowSorter::spill(bool is_refused) {
  if (state_.session.temporary_files == nullptr || rows_.size() == 0) throw MemoryLimitReached();
  sort_rows();
  if (external_ == nullptr) {
    size_t budget = is_refused ? std::min(budget_, refused_spill_budget) : budget_;
    RowOrder& as_order = *this;
    external_ = std::make_unique<ExternalSort>(*state_.session.temporary_files, budget,
                                               order_.shape.by_reference, as_order, limit_);
  }
  external_->add_run(rows_.rows());
  set_cutoff();
  rows_.clear();
}

// Where there is no room for it, more rows are kept than are wanted.
void RowSorter::set_cutoff() {
  if (rows_.size() != limit_) return;
  cutoff_ = nullptr;
  cutoff_memory_.reset();
  try {
    const Datum* last = rows_[rows_.size() - 1];
    std::span<Datum> copy = cutoff_memory_.make_span<Datum>(order_.shape.size());
    for (size_t i = 0; i < copy.size(); ++i) {
      copy[i] = last[i];
      if (order_.shape.by_reference[i] && !last[i].null)
        copy[i].ptr = cutoff_memory_.copy_string(last[i].bytes()).data();
    }
    cutoff_ = copy.data();
  } catch (const MemoryLimitReached&) {
    cutoff_memory_.reset();
  }
}

void RowSorter::sort_rows() {
  if (keeps_few()) {
    std::sort_heap(rows_.rows().begin(), rows_.rows().end(), Less{*this});
  } else {
    std::sort(rows_.rows().begin(), rows_.rows().end(), Less{*this});
  }
}

void RowSorter::sort() {
  position_ = 0;
  if (external_ == nullptr) return sort_rows();
  if (rows_.size() != 0) spill(false);
  external_->begin_merge();
}

}  // namespace pgsilo
