// Rows sorted; where only the first ones are wanted no more than those are kept, in a heap. What
// work_mem or memory_limit has no room for goes to a temporary file in sorted runs
// (docs/spilling.md). Thread safety: the order immutable after compilation; a sorter belongs to one
// operator.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "executor/operator/compile_operator.h"
#include "executor/operator/operator.h"
#include "executor/operator/row_store.h"
#include "executor/spill/external_sort.h"
#include "sql/types/type.h"

namespace pgsilo {

struct CompiledSortKey {
  size_t column = 0;
  bool descending = false;
  bool nulls_first = false;
  const TypeInfo* type = nullptr;

  int order(const Datum& left, const Datum& right) const {
    if (left.null || right.null) {
      if (left.null == right.null) return 0;
      return left.null == nulls_first ? -1 : 1;
    }
    int order = type->compare(left, right);
    return descending ? -order : order;
  }
};

// What Sort and Incremental Sort have of their node.
struct CompiledSortOrder : CompiledOperator {
  const CompiledOperator* child = nullptr;
  RowShape shape;
  std::vector<CompiledSortKey> keys;
  size_t presorted = 0;
  ExpressionProgram limit_count;
  ExpressionProgram limit_offset;
  bool has_limit = false;
  bool has_offset = false;

  void prepare(const SortNode& node, PlanCompiler& plan);
  int compare(const Datum* left, const Datum* right) const {
    for (const CompiledSortKey& key : keys) {
      int order = key.order(left[key.column], right[key.column]);
      if (order != 0) return order;
    }
    return 0;
  }
  // How many rows the limit above can ask for.
  uint64_t wanted(ExecutionState& state) const;
};

class RowSorter final : RowOrder {
 public:
  RowSorter(const CompiledSortOrder& order, ExecutionState& state)
      : order_(order), state_(state), rows_(order.shape), candidate_(order.shape.size()) {}

  // `wanted`: so many of the rows that come now.
  void clear(uint64_t wanted);
  // The row in the registers.
  void add();
  void sort();
  // After sort(); null behind the last row, as often as it is asked. A row is valid until the next
  // one.
  const Datum* next() {
    if (external_ != nullptr) [[unlikely]]
      return external_->next();
    return position_ == rows_.size() ? nullptr : rows_[position_++];
  }
  // From the first row on.
  void rewind() {
    position_ = 0;
    if (external_ != nullptr) external_->begin_merge();
  }
  // That came to it.
  uint64_t added() const { return added_; }

 private:
  // Long sorts give way and may be cancelled.
  struct Less {
    RowSorter& sorter;
    bool operator()(const Datum* left, const Datum* right) const {
      return sorter.compare_rows(left, right) < 0;
    }
  };

  int compare_rows(const Datum* left, const Datum* right) override {
    if (--until_check_ == 0) [[unlikely]] {
      until_check_ = comparisons_per_check;
      state_.session.check_budget();
    }
    return order_.compare(left, right);
  }
  bool keeps_few() const { return limit_ <= largest_heap; }
  void add_to_heap();
  void append();
  void sort_rows();
  void spill(bool is_refused);
  void set_cutoff();

  static constexpr uint64_t largest_heap = 10000;
  static constexpr uint32_t comparisons_per_check = 4096;
  uint32_t until_check_ = comparisons_per_check;
  const CompiledSortOrder& order_;
  ExecutionState& state_;
  RowStore rows_;
  std::vector<Datum> candidate_;
  uint64_t limit_ = UINT64_MAX;
  uint64_t added_ = 0;
  size_t budget_ = SIZE_MAX;
  size_t position_ = 0;
  std::unique_ptr<ExternalSort> external_;  // null: all rows are in memory
  // Of runs of as many rows as are wanted, the last row of the latest: what is not before it is not
  // wanted.
  const Datum* cutoff_ = nullptr;
  Arena cutoff_memory_{ArenaLimit::memory_limit};
};

}  // namespace pgsilo
