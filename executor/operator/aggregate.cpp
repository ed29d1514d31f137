// GROUP BY, DISTINCT and plain aggregates. When the hash table's room is used up, its groups go on,
// and rows of others wait in partitions of a temporary file, each of which is grouped by itself
// then.
#include "executor/operator/aggregate_state.h"
#include "executor/operator/compile_operator.h"
#include "executor/operator/hash_table.h"
#include "executor/operator/operator.h"
#include "executor/operator/row_store.h"
#include "executor/spill/deferred_rows.h"
#include "executor/spill/table_budget.h"

namespace pgsilo {

namespace {

struct CompiledGrouping final : CompiledOperator {
  const CompiledOperator* child = nullptr;
  AggregateStrategy strategy = AggregateStrategy::plain;
  std::vector<ExpressionProgram> keys;
  KeyTypes key_types;
  CompiledAggregates aggregates;
  RowShape child_shape;
  TapeColumns spilled_row;  // a hash, the child's row, the keys as they were computed once
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
        keys_(compiled.keys.size()),
        deferred_(compiled.spilled_row, state.session),
        new_values_(compiled.keys.size() + 1),
        spilled_row_(compiled.spilled_row.size()) {}

  void open() override {
    clear();
    child_->open();
  }

  bool next() override {
    if (compiled_.strategy == AggregateStrategy::sorted) return next_sorted();
    if (!filled_) fill();
    while (position_ == order_.size()) {
      if (!deferred_.begin_pass()) return false;
      fill_from_tape();
    }
    deliver(order_[position_++]);
    return true;
  }

  void close() override {
    child_->close();
    clear();
  }

 private:
  void clear() {
    deferred_.clear();
    clear_groups();
    group_memory_.reset();
    filled_ = false;
    pending_ = false;
    input_done_ = false;
  }

  void clear_groups() {
    groups_.clear();
    free_long_list(order_);
    position_ = 0;
    budget_.begin(groups_, state_.session.hash_budget());
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
      take_row(compiled_.key_types.hash(keys_.data()));
    }
    deferred_.end_pass();
  }

  // The row in the registers, with its keys, which are not computed again: they may be volatile.
  void take_row(uint64_t hash) {
    HashedRow* found = groups_.find(keys_.data(), hash);
    if (found == nullptr) found = add_group(hash);
    if (found == nullptr) return spill_row(hash);
    aggregates_.step(found->values()[keys_.size()].ptr, groups_.arena());
  }

  // Null: there is no room for it.
  HashedRow* add_group(uint64_t hash) {
    if (deferred_.is_deferring()) return nullptr;
    bool may_spill = deferred_.may_defer() && !order_.empty();
    if (may_spill && budget_.is_used_up(groups_, order_.size() * sizeof(Datum*))) return nullptr;
    try {
      // Whatever is refused: the table has whole groups only.
      Arena& memory = groups_.arena();
      new_group(new_values_.data(), memory);
      HashedRow* added = groups_.add(hash, new_values_.size());
      std::copy(new_values_.begin(), new_values_.end(), added->values());
      order_.push_back(added->values());
      return added;
    } catch (const MemoryLimitReached&) {
      if (!may_spill) throw;
      budget_.refuse();
      return nullptr;
    }
  }

  void spill_row(uint64_t hash) {
    spilled_row_[0] = Datum::of_int(static_cast<int64_t>(hash));
    const std::vector<Register>& registers_of_row = compiled_.child_shape.registers;
    for (size_t i = 0; i < registers_of_row.size(); ++i)
      spilled_row_[i + 1] = at(registers_of_row[i]);
    std::copy(keys_.begin(), keys_.end(), spilled_row_.end() - std::ssize(keys_));
    deferred_.append(spilled_row_.data(), budget_.bytes());
  }

  void fill_from_tape() {
    clear_groups();
    while (const Datum* row = deferred_.next()) {
      compiled_.child_shape.restore(row + 1, registers());
      std::copy_n(row + spilled_row_.size() - keys_.size(), keys_.size(), keys_.begin());
      take_row(static_cast<uint64_t>(row[0].i64));
    }
    deferred_.end_pass();
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
  DeferredRows deferred_;
  std::vector<Datum> new_values_;
  std::vector<Datum> spilled_row_;
  TableBudget budget_;
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
  made->child_shape = RowShape(made->child->output, node.child->columns);
  made->spilled_row = made->child_shape.by_reference;
  made->spilled_row.insert(made->spilled_row.begin(), false);
  for (const TypeInfo* type : made->key_types.types)
    made->spilled_row.push_back(type->by_reference);
  made->output = plan.new_register_list(node.columns.size());
  made->aggregates.compile(node.calls, made->child->output, plan);
  return plan.add(std::move(made));
}

}  // namespace pgsilo
