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

// With a limit, the least rows seen, greatest on top.
void RowSorter::add() {
  const Datum* file = state_.registers.data();
  if (!keeps_few()) return rows_.append(file);
  if (rows_.size() < limit_) {
    rows_.append(file);
    std::push_heap(rows_.rows().begin(), rows_.rows().end(), Less{*this});
    return;
  }
  if (limit_ == 0) return;
  for (size_t i = 0; i < candidate_.size(); ++i) candidate_[i] = file[order_.shape.registers[i]];
  if (order_.compare(candidate_.data(), rows_[0]) >= 0) return;
  std::pop_heap(rows_.rows().begin(), rows_.rows().end(), Less{*this});
  rows_.replace_last(file);
  std::push_heap(rows_.rows().begin(), rows_.rows().end(), Less{*this});
}

void RowSorter::sort() {
  if (keeps_few()) {
    std::sort_heap(rows_.rows().begin(), rows_.rows().end(), Less{*this});
  } else {
    std::sort(rows_.rows().begin(), rows_.rows().end(), Less{*this});
  }
}

}  // namespace pgsilo
