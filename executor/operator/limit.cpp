// LIMIT and OFFSET.
#include "executor/operator/compile_operator.h"
#include "executor/operator/hash_table.h"
#include "executor/operator/operator.h"
#include "executor/operator/row_store.h"
#include "sql/sql_error.h"

namespace pgsilo {

namespace {

struct CompiledLimit final : CompiledOperator {
  const CompiledOperator* child = nullptr;
  ExpressionProgram count;
  ExpressionProgram offset;
  bool has_count = false;
  bool has_offset = false;
  RowShape tie_keys;  // none: nothing follows the last row that is counted
  KeyTypes tie_types;
  std::unique_ptr<Operator> instantiate(ExecutionState& state) const override;
};

class Limit final : public Operator {
 public:
  Limit(const CompiledLimit& compiled, ExecutionState& state)
      : Operator(state),
        compiled_(compiled),
        child_(compiled.child->instantiate(state)),
        scratch_(state),
        keys_(compiled.tie_keys.size()) {}

  void open() override {
    scratch_.begin_row();
    to_skip_ = 0;
    left_ = INT64_MAX;
    if (compiled_.has_offset) {
      Datum value = compiled_.offset.evaluate(registers(), state_.rows);
      if (!value.null) to_skip_ = value.i64;
      if (to_skip_ < 0) {
        throw SqlError(sqlstate::invalid_row_count_in_result_offset_clause,
                       "OFFSET must not be negative");
      }
    }
    if (compiled_.has_count) {
      Datum value = compiled_.count.evaluate(registers(), state_.rows);
      if (!value.null) left_ = value.i64;
      if (left_ < 0) {
        throw SqlError(sqlstate::invalid_row_count_in_limit_clause, "LIMIT must not be negative");
      }
    }
    last_ = nullptr;
    memory_.reset();
    child_->open();
  }

  bool next() override {
    if (left_ == 0) return next_tie();
    for (; to_skip_ > 0; --to_skip_) {
      if (!child_->next()) {
        left_ = 0;
        return false;
      }
    }
    --left_;
    if (!child_->next()) {
      left_ = 0;
      return false;
    }
    if (left_ == 0 && !keys_.empty()) last_ = compiled_.tie_keys.save(registers(), memory_);
    return true;
  }
  void close() override { child_->close(); }

 private:
  // Of the last row that was counted.
  bool next_tie() {
    if (last_ == nullptr || !child_->next()) return false;
    for (size_t i = 0; i < keys_.size(); ++i) keys_[i] = at(compiled_.tie_keys.registers[i]);
    if (compiled_.tie_types.equal(last_, keys_.data())) return true;
    last_ = nullptr;
    return false;
  }

  const CompiledLimit& compiled_;
  std::unique_ptr<Operator> child_;
  Scratch scratch_;
  int64_t to_skip_ = 0;
  int64_t left_ = 0;
  std::vector<Datum> keys_;
  Arena memory_;
  const Datum* last_ = nullptr;  // its keys; null: no row follows for being equal to it
};

std::unique_ptr<Operator> CompiledLimit::instantiate(ExecutionState& state) const {
  return std::make_unique<Limit>(*this, state);
}

}  // namespace

CompiledOperator* compile_limit(const LimitNode& node, PlanCompiler& plan) {
  auto made = std::make_unique<CompiledLimit>();
  made->child = plan.compile(node.child);
  made->output = made->child->output;
  made->has_count = node.count != nullptr;
  made->has_offset = node.offset != nullptr;
  if (made->has_count) made->count = plan.expression(node.count, {});
  if (made->has_offset) made->offset = plan.expression(node.offset, {});
  for (int32_t slot : node.tie_slots) {
    auto column = static_cast<size_t>(slot);
    const TypeInfo& type = type_info(node.columns[column].type);
    made->tie_keys.registers.push_back(made->output[column]);
    made->tie_keys.by_reference.push_back(type.by_reference);
    made->tie_types.types.push_back(&type);
  }
  return plan.add(std::move(made));
}

}  // namespace pgsilo
