// Sorting in memory; with a limit only the first rows are kept, in a heap.
#include <algorithm>

#include "executor/operator/compile_operator.h"
#include "executor/operator/operator.h"
#include "executor/operator/row_store.h"
#include "sql/sql_error.h"
#include "sql/types/type.h"

namespace pgsilo {

namespace {

struct CompiledSortKey {
  size_t column = 0;
  bool descending = false;
  bool nulls_first = false;
  const TypeInfo* type = nullptr;
};

struct CompiledSort final : CompiledOperator {
  const CompiledOperator* child = nullptr;
  RowShape shape;
  std::vector<CompiledSortKey> keys;
  ExpressionProgram limit_count;
  ExpressionProgram limit_offset;
  bool has_limit = false;
  bool has_offset = false;
  std::unique_ptr<Operator> instantiate(ExecutionState& state) const override;

  int compare(const Datum* left, const Datum* right) const {
    for (const CompiledSortKey& key : keys) {
      const Datum& a = left[key.column];
      const Datum& b = right[key.column];
      int order;
      if (a.null || b.null) {
        if (a.null == b.null) continue;
        return a.null == key.nulls_first ? -1 : 1;
      }
      order = key.type->compare(a, b);
      if (order != 0) return key.descending ? -order : order;
    }
    return 0;
  }
};

class Sort final : public Operator {
 public:
  Sort(const CompiledSort& compiled, ExecutionState& state)
      : Operator(state),
        compiled_(compiled),
        child_(compiled.child->instantiate(state)),
        rows_(compiled.shape),
        scratch_(state) {}

  void open() override {
    position_ = 0;
    // With a limit the rows that were kept depend on the limit.
    if (sorted_ && !compiled_.child->depends_on_parameters && !compiled_.has_limit) return;
    rows_.clear();
    sorted_ = false;
    child_->open();
  }

  bool next() override {
    if (!sorted_) fill();
    if (position_ == rows_.size()) return false;
    compiled_.shape.restore(rows_[position_++], registers());
    return true;
  }

  void close() override {
    child_->close();
    rows_.clear();
    sorted_ = false;
  }

 private:
  // Long sorts give way and may be cancelled.
  struct Less {
    Sort& sort;
    bool operator()(const Datum* left, const Datum* right) const {
      if (--sort.until_check_ == 0) [[unlikely]] {
        sort.until_check_ = comparisons_per_check;
        sort.state_.session.check_budget();
      }
      return sort.compiled_.compare(left, right) < 0;
    }
  };

  void fill() {
    uint64_t limit = wanted();
    if (limit <= largest_heap) {
      fill_heap(static_cast<size_t>(limit));
      std::sort_heap(rows_.rows().begin(), rows_.rows().end(), Less{*this});
    } else {
      while (child_->next()) {
        state_.session.maybe_yield();
        rows_.append(registers());
      }
      std::sort(rows_.rows().begin(), rows_.rows().end(), Less{*this});
    }
    sorted_ = true;
  }

  // The least `limit` rows seen, greatest on top.
  void fill_heap(size_t limit) {
    std::vector<Datum> candidate(compiled_.shape.size());
    while (child_->next()) {
      state_.session.maybe_yield();
      if (rows_.size() < limit) {
        rows_.append(registers());
        std::push_heap(rows_.rows().begin(), rows_.rows().end(), Less{*this});
        continue;
      }
      if (limit == 0) continue;
      for (size_t i = 0; i < candidate.size(); ++i) candidate[i] = at(compiled_.shape.registers[i]);
      if (compiled_.compare(candidate.data(), rows_[0]) >= 0) continue;
      std::pop_heap(rows_.rows().begin(), rows_.rows().end(), Less{*this});
      rows_.replace_last(registers());
      std::push_heap(rows_.rows().begin(), rows_.rows().end(), Less{*this});
    }
  }

  // How many rows the limit above can ask for.
  uint64_t wanted() {
    if (!compiled_.has_limit) return UINT64_MAX;
    scratch_.begin_row();
    Datum count = compiled_.limit_count.evaluate(registers(), state_.rows);
    if (count.null || count.i64 < 0) return UINT64_MAX;
    auto total = static_cast<uint64_t>(count.i64);
    if (compiled_.has_offset) {
      Datum offset = compiled_.limit_offset.evaluate(registers(), state_.rows);
      if (!offset.null && offset.i64 > 0) total += static_cast<uint64_t>(offset.i64);
    }
    return total;
  }

  static constexpr uint64_t largest_heap = 10000;
  static constexpr uint32_t comparisons_per_check = 4096;
  uint32_t until_check_ = comparisons_per_check;
  const CompiledSort& compiled_;
  std::unique_ptr<Operator> child_;
  RowStore rows_;
  Scratch scratch_;
  size_t position_ = 0;
  bool sorted_ = false;
};

std::unique_ptr<Operator> CompiledSort::instantiate(ExecutionState& state) const {
  return std::make_unique<Sort>(*this, state);
}

}  // namespace

CompiledOperator* compile_sort(const SortNode& node, PlanCompiler& plan) {
  auto made = std::make_unique<CompiledSort>();
  made->child = plan.compile(node.child);
  made->output = made->child->output;
  made->shape = RowShape(made->output, node.columns);
  for (const SortKey& key : node.keys) {
    auto column = static_cast<size_t>(key.slot);
    const TypeInfo& type = type_info(node.columns[column].type);
    made->keys.push_back({column, key.descending, key.nulls_first, &type});
  }
  if (node.limit_hint != nullptr && node.limit_hint->count != nullptr) {
    made->has_limit = true;
    made->limit_count = plan.expression(node.limit_hint->count, {});
    made->has_offset = node.limit_hint->offset != nullptr;
    if (made->has_offset) made->limit_offset = plan.expression(node.limit_hint->offset, {});
  }
  return plan.add(std::move(made));
}

}  // namespace pgsilo
