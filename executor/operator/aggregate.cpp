// GROUP BY, DISTINCT and plain aggregates.
#include "executor/operator/aggregate_state.h"
#include "executor/operator/compile_operator.h"
#include "executor/operator/hash_table.h"
#include "executor/operator/operator.h"
#include "executor/operator/row_store.h"

namespace pgsilo {

namespace {

struct CompiledGrouping final : CompiledOperator {
  const CompiledOperator* child = nullptr;
  AggregateStrategy strategy = AggregateStrategy::plain;
  std::vector<ExpressionProgram> keys;
  KeyTypes key_types;
  CompiledAggregates aggregates;
  std::unique_ptr<Operator> instantiate(ExecutionState& state) const override;
};

// A group: its keys, then one Datum whose pointer leads to the aggregates' states.
class Grouping final : public Operator {
 public:
  Grouping(const CompiledGrouping& compiled, ExecutionState& state)
      : Operator(state),
        compiled_(compiled),
        child_(compiled.child->instantiate(state)),
        aggregates_(compiled.aggregates, state),
        groups_(compiled.key_types),
        scratch_(state),
        keys_(compiled.keys.size()) {}

  void open() override {
    clear();
    child_->open();
  }

  bool next() override {
    if (compiled_.strategy == AggregateStrategy::sorted) return next_sorted();
    if (!filled_) fill();
    if (position_ == order_.size()) return false;
    deliver(order_[position_++]);
    return true;
  }

  void close() override {
    child_->close();
    clear();
  }

 private:
  void clear() {
    groups_.clear();
    group_memory_.reset();
    free_long_list(order_);
    position_ = 0;
    filled_ = false;
    pending_ = false;
    input_done_ = false;
  }

  void evaluate_keys() {
    scratch_.begin_row();
    for (size_t i = 0; i < keys_.size(); ++i) {
      keys_[i] = compiled_.keys[i].evaluate(registers(), state_.rows);
    }
  }

  Datum* new_group(Datum* values, Arena& memory) {
    for (size_t i = 0; i < keys_.size(); ++i) {
      values[i] = copy_datum(keys_[i], *compiled_.key_types.types[i], memory);
    }
    values[keys_.size()] = Datum();
    values[keys_.size()].ptr = aggregates_.new_states(memory);
    return values;
  }

  void fill() {
    filled_ = true;
    if (compiled_.strategy == AggregateStrategy::plain) {
      Datum* group = new_group(group_memory_.make_span<Datum>(1).data(), group_memory_);
      order_.push_back(group);
      while (child_->next()) {
        state_.session.maybe_yield();
        aggregates_.step(group[0].ptr, group_memory_);
      }
      return;
    }
    while (child_->next()) {
      state_.session.maybe_yield();
      evaluate_keys();
      uint64_t hash = compiled_.key_types.hash(keys_.data());
      HashedRow* found = groups_.find(keys_.data(), hash);
      if (found == nullptr) {
        found = groups_.add(hash, keys_.size() + 1);
        order_.push_back(new_group(found->values(), groups_.arena()));
      }
      aggregates_.step(found->values()[keys_.size()].ptr, groups_.arena());
    }
  }

  // The input's first row of the next group is in the registers when `pending_`.
  bool next_sorted() {
    if (input_done_) return false;
    if (!pending_ && !child_->next()) return false;
    group_memory_.reset();
    evaluate_keys();
    Datum* group =
        new_group(group_memory_.make_span<Datum>(keys_.size() + 1).data(), group_memory_);
    pending_ = false;
    do {
      state_.session.maybe_yield();
      aggregates_.step(group[keys_.size()].ptr, group_memory_);
      if (!child_->next()) {
        input_done_ = true;
        break;
      }
      evaluate_keys();
    } while (compiled_.key_types.equal(group, keys_.data()));
    pending_ = !input_done_;
    deliver(group);
    return true;
  }

  void deliver(const Datum* group) {
    for (size_t i = 0; i < keys_.size(); ++i) at(compiled_.output[i]) = group[i];
    scratch_.begin_row();
    aggregates_.finish(group[keys_.size()].ptr, compiled_.output.data() + keys_.size());
  }

  const CompiledGrouping& compiled_;
  std::unique_ptr<Operator> child_;
  AggregateRun aggregates_;
  RowHashTable groups_;
  Scratch scratch_;
  Arena group_memory_{ArenaLimit::memory_limit};  // plain and sorted: of the present group
  std::vector<Datum> keys_;
  std::vector<Datum*> order_;  // groups in the order they came
  size_t position_ = 0;
  bool filled_ = false;
  bool pending_ = false;
  bool input_done_ = false;
};

std::unique_ptr<Operator> CompiledGrouping::instantiate(ExecutionState& state) const {
  return std::make_unique<Grouping>(*this, state);
}

}  // namespace

CompiledOperator* compile_aggregate(const AggregateNode& node, PlanCompiler& plan) {
  auto made = std::make_unique<CompiledGrouping>();
  made->child = plan.compile(node.child);
  made->strategy = node.strategy;
  made->keys = plan.expressions(node.keys, made->child->output);
  for (const BoundExpression* key : node.keys)
    made->key_types.types.push_back(&type_info(key->type));
  made->output = plan.new_register_list(node.columns.size());
  made->aggregates.compile(node.calls, made->child->output, plan);
  return plan.add(std::move(made));
}

}  // namespace pgsilo
