// LIMIT and OFFSET.
#include "executor/operator/compile_operator.h"
#include "executor/operator/neighbour_keys.h"
#include "executor/operator/operator.h"
#include "sql/sql_error.h"

namespace pgsilo {

namespace {

struct CompiledLimit final : CompiledOperator {
  const CompiledOperator* child = nullptr;
  ExpressionProgram count;
  ExpressionProgram offset;
  bool has_count = false;
  bool has_offset = false;
  bool has_ties = false;  // rows equal to the last one that is counted follow it
  CompiledNeighbourKeys keys;
  std::unique_ptr<Operator> instantiate(ExecutionState& state) const override;
};

class Limit final : public Operator {
 public:
  Limit(const CompiledLimit& compiled, ExecutionState& state)
      : Operator(state),
        compiled_(compiled),
        child_(compiled.child->instantiate(state)),
        scratch_(state),
        keys_(compiled.keys) {}

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
    keys_.forget();
    in_ties_ = false;
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
    if (left_ == 0 && compiled_.has_ties) {
      keys_.keep(registers());
      in_ties_ = true;
    }
    return true;
  }
  void close() override { child_->close(); }

 private:
  // Of the last row that was counted.
  bool next_tie() {
    in_ties_ = in_ties_ && child_->next() && keys_.matches(registers());
    return in_ties_;
  }

  const CompiledLimit& compiled_;
  std::unique_ptr<Operator> child_;
  Scratch scratch_;
  int64_t to_skip_ = 0;
  int64_t left_ = 0;
  NeighbourKeys keys_;    // of the last row that was counted
  bool in_ties_ = false;  // rows may still follow it
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
  made->has_ties = !node.tie_slots.empty();
  made->keys.set(node.tie_slots, node.columns, made->output);
  return plan.add(std::move(made));
}

}  // namespace pgsilo
