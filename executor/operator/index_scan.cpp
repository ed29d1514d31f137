// A range of an index or of the primary tree, forwards or backwards, or one range per value of an
// IN list.
#include <algorithm>

#include "executor/operator/index_key.h"
#include "executor/operator/range_cursor.h"
#include "executor/operator/table_scan.h"
#include "sql/types/key_codec.h"

namespace pgsilo {

namespace {

struct CompiledIndexScan final : CompiledTableScan {
  const IndexDescriptor* index = nullptr;  // null: the primary tree
  const KeyLayout* key = nullptr;
  bool backward = false;
  bool skip_nulls = false;
  std::vector<CompiledKeyValue> equal;
  std::vector<CompiledKeyValue> in_list;
  size_t in_list_column = 0;
  CompiledKeyValue lower;  // bounds on the column's values
  CompiledKeyValue upper;
  bool has_lower = false;
  bool has_upper = false;
  bool lower_inclusive = false;
  bool upper_inclusive = false;

  Relation& relation() const { return index == nullptr ? *table->relation : *index->relation; }
  std::unique_ptr<Operator> instantiate(ExecutionState& state) const override;
};

class IndexScan final : public TableScanOperator {
 public:
  IndexScan(const CompiledIndexScan& compiled, ExecutionState& state)
      : TableScanOperator(compiled, state),
        compiled_(compiled),
        cursor_(state),
        entry_buffer_(buffer_memory_) {}

  void open() override {
    scratch_.begin_row();
    cursor_.close();
    ranges_left_ = 0;
    in_values_.clear();
    if (!evaluate()) return;
    if (!compiled_.in_list.empty()) {
      evaluate_in_list();
      ranges_left_ = in_values_.size();
    } else {
      ranges_left_ = 1;
    }
    next_value_ = 0;
    in_range_ = false;
  }

  bool next() override {
    for (;;) {
      if (!in_range_) {
        if (ranges_left_ == 0) return false;
        --ranges_left_;
        open_range();
      }
      while (next_row()) {
        if (accept(/*locked=*/false)) return true;
      }
      cursor_.close();
      in_range_ = false;
    }
  }

  void close() override { cursor_.close(); }

 private:
  // The values of this scan; false if they exclude every row.
  bool evaluate() {
    values_.resize(compiled_.equal.size());
    for (size_t i = 0; i < values_.size(); ++i) {
      if (!compiled_.in_list.empty() && i == compiled_.in_list_column) continue;
      // A key without NULLs has no form for one.
      if (compiled_.equal[i].is_null && !column(i).nullable) return false;
      if (compiled_.equal[i].evaluate(state_, &values_[i]) != KeyFit::fits) return false;
      keep(values_[i], i);
    }
    has_lower_ = compiled_.has_lower;
    has_upper_ = compiled_.has_upper;
    skip_nulls_ = compiled_.skip_nulls || has_lower_ || has_upper_;
    if (has_lower_) {
      KeyFit fit = compiled_.lower.evaluate(state_, &lower_);
      if (fit == KeyFit::null || fit == KeyFit::above) return false;
      if (fit == KeyFit::below) has_lower_ = false;
      keep(lower_, values_.size());
    }
    if (has_upper_) {
      KeyFit fit = compiled_.upper.evaluate(state_, &upper_);
      if (fit == KeyFit::null || fit == KeyFit::below) return false;
      if (fit == KeyFit::above) has_upper_ = false;
      keep(upper_, values_.size());
    }
    return true;
  }

  const KeyColumn& column(size_t index) const { return compiled_.key->columns()[index]; }

  // A range may be opened after the scratch memory went on to rows: values stay in memory of their
  // own.
  void keep(Datum& value, size_t column_index) {
    if (compiled_.in_list.empty()) return;
    value = copy_datum(value, *column(column_index).type, state_.memory);
  }

  void evaluate_in_list() {
    const KeyColumn& key = column(compiled_.in_list_column);
    for (const CompiledKeyValue& item : compiled_.in_list) {
      Datum value;
      if (item.evaluate(state_, &value) == KeyFit::fits) {
        in_values_.push_back(copy_datum(value, *key.type, state_.memory));
      }
    }
    bool descending = key.descending != compiled_.backward;
    auto order = key.type->compare;
    std::sort(in_values_.begin(), in_values_.end(), [&](const Datum& left, const Datum& right) {
      return descending ? order(right, left) < 0 : order(left, right) < 0;
    });
    auto same = [&](const Datum& left, const Datum& right) { return order(left, right) == 0; };
    in_values_.erase(std::unique(in_values_.begin(), in_values_.end(), same), in_values_.end());
  }

  void open_range() {
    if (!in_values_.empty()) values_[compiled_.in_list_column] = in_values_[next_value_++];
    range_.clear();
    if (encode_range()) {
      cursor_.open(compiled_.relation(), range_, compiled_.backward,
                   compiled_.index == nullptr ? buffer_ : entry_buffer_, purpose());
    }
    in_range_ = true;
  }

  bool encode_range() {
    compiled_.key->encode_prefix(values_, range_.lower);
    size_t prefix = range_.lower.size();
    range_.upper.append(range_.lower.view());
    bool bounded_column = values_.size() < compiled_.key->columns().size();
    if (!bounded_column) {
      range_.has_lower = true;
      range_.has_upper = advance_past_prefix(range_.upper);
      return true;
    }
    const KeyColumn& key = column(values_.size());
    bool turned = key.descending;
    if (!encode_low(key, turned ? has_upper_ : has_lower_, turned ? upper_ : lower_,
                    turned ? compiled_.upper_inclusive : compiled_.lower_inclusive)) {
      return false;
    }
    encode_high(key, turned ? has_lower_ : has_upper_, turned ? lower_ : upper_,
                turned ? compiled_.lower_inclusive : compiled_.upper_inclusive);
    if (range_.lower.size() == prefix && prefix == 0) range_.has_lower = false;
    return true;
  }

  // Both ends in the order of keys. range_.lower and upper hold the prefix of the equal columns.
  bool encode_low(const KeyColumn& key, bool bounded, Datum value, bool inclusive) {
    range_.has_lower = true;
    if (!bounded) {
      if (skip_nulls_) encode_not_null_prefix(key, range_.lower);
      return true;
    }
    encode_key(key, value, range_.lower);
    return inclusive || advance_past_prefix(range_.lower);
  }

  void encode_high(const KeyColumn& key, bool bounded, Datum value, bool inclusive) {
    if (bounded) {
      encode_key(key, value, range_.upper);
      range_.has_upper = !inclusive || advance_past_prefix(range_.upper);
      return;
    }
    if (skip_nulls_) encode_not_null_prefix(key, range_.upper);
    range_.has_upper = !range_.upper.empty() && advance_past_prefix(range_.upper);
  }

  bool next_row() {
    if (compiled_.index == nullptr) return cursor_.next(&row_);
    RowRef entry;
    while (cursor_.next(&entry)) {
      TransactionStatus status =
          state_.transaction().get_via_entry(primary(), entry, buffer_, &row_, purpose());
      if (status == TransactionStatus::ok) return true;
      // An entry whose row is gone: another transaction is between our reads, and validation will
      // tell.
      if (status != TransactionStatus::not_found) state_.raise(status);
    }
    return false;
  }

  const CompiledIndexScan& compiled_;
  RangeCursor cursor_;
  RowBuffer entry_buffer_;
  EncodedRange range_;
  std::vector<Datum> values_;     // of the equal columns
  std::vector<Datum> in_values_;  // in the order of the scan
  Datum lower_;
  Datum upper_;
  bool has_lower_ = false;
  bool has_upper_ = false;
  bool skip_nulls_ = false;
  size_t ranges_left_ = 0;
  size_t next_value_ = 0;
  bool in_range_ = false;
};

std::unique_ptr<Operator> CompiledIndexScan::instantiate(ExecutionState& state) const {
  return std::make_unique<IndexScan>(*this, state);
}

}  // namespace

CompiledOperator* compile_index_scan(const IndexScanNode& node, PlanCompiler& plan) {
  auto made = std::make_unique<CompiledIndexScan>();
  made->prepare(node, node.index_condition, plan);
  bool by_primary_tree = node.index == nullptr || node.index->is_primary_tree();
  made->index = by_primary_tree ? nullptr : node.index;
  made->key = by_primary_tree ? &node.table->primary_key : &node.index->key;
  made->backward = node.direction == decltype(node.direction)::backward;
  made->skip_nulls = node.skip_nulls;
  auto compile_value = [&](const KeyValue& value, size_t column) {
    return CompiledKeyValue::compile(value, *made->key->columns()[column].type, plan);
  };
  bool has_in_list = !node.in_list.empty();
  made->in_list_column = has_in_list ? static_cast<size_t>(node.in_list_column) : 0;
  for (size_t i = 0; i < node.equal.size(); ++i) {
    bool unused = has_in_list && i == made->in_list_column;
    made->equal.push_back(unused ? CompiledKeyValue() : compile_value(node.equal[i], i));
  }
  for (const BoundExpression* item : node.in_list) {
    made->in_list.push_back(
        compile_value({item, node.in_list_conversion, false}, made->in_list_column));
  }
  made->has_lower = node.lower.value != nullptr;
  made->has_upper = node.upper.value != nullptr;
  made->lower_inclusive = node.lower_inclusive;
  made->upper_inclusive = node.upper_inclusive;
  if (made->has_lower) made->lower = compile_value(node.lower, node.equal.size());
  if (made->has_upper) made->upper = compile_value(node.upper, node.equal.size());
  return plan.add(std::move(made));
}

}  // namespace pgsilo
