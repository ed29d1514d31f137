// Rows in memory, sorted; where only the first ones are wanted no more than those are kept, in a
// heap. Thread safety: the order immutable after compilation; a sorter belongs to one operator.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "executor/operator/compile_operator.h"
#include "executor/operator/operator.h"
#include "executor/operator/row_store.h"
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

class RowSorter {
 public:
  RowSorter(const CompiledSortOrder& order, ExecutionState& state)
      : order_(order), state_(state), rows_(order.shape), candidate_(order.shape.size()) {}

  // `wanted`: so many of the rows that come now.
  void clear(uint64_t wanted) {
    rows_.clear();
    limit_ = wanted;
  }
  // The row in the registers.
  void add();
  void sort();
  size_t size() const { return rows_.size(); }
  const Datum* operator[](size_t index) const { return rows_[index]; }

 private:
  // Long sorts give way and may be cancelled.
  struct Less {
    RowSorter& sorter;
    bool operator()(const Datum* left, const Datum* right) const {
      if (--sorter.until_check_ == 0) [[unlikely]] {
        sorter.until_check_ = comparisons_per_check;
        sorter.state_.session.check_budget();
      }
      return sorter.order_.compare(left, right) < 0;
    }
  };

  bool keeps_few() const { return limit_ <= largest_heap; }

  static constexpr uint64_t largest_heap = 10000;
  static constexpr uint32_t comparisons_per_check = 4096;
  uint32_t until_check_ = comparisons_per_check;
  const CompiledSortOrder& order_;
  ExecutionState& state_;
  RowStore rows_;
  std::vector<Datum> candidate_;
  uint64_t limit_ = UINT64_MAX;
};

}  // namespace pgsilo
