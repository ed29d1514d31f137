// The right side goes into a hash table by its keys, the left side probes it. Where the table has
// no room, both sides go to a temporary file in batches (docs/spilling.md).
#include "executor/operator/spilled_join.h"
#include "executor/spill/table_budget.h"

namespace pgsilo {

namespace {

struct CompiledHashJoin final : CompiledJoin {
  // Without left rows there is no result, and to see whether there is one costs less than the
  // table, or is worth it because the left side runs in any case.
  bool left_first = false;
  JoinKeys left_keys;
  JoinKeys right_keys;
  KeyTypes key_types;
  SpilledJoinRows spilled;
  std::unique_ptr<Operator> instantiate(ExecutionState& state) const override;
};

// A table row holds the keys, then the right row.
class HashJoin final : public Operator {
 public:
  HashJoin(const CompiledHashJoin& compiled, ExecutionState& state)
      : Operator(state),
        compiled_(compiled),
        left_(compiled.left->instantiate(state)),
        right_(compiled.right->instantiate(state)),
        table_(compiled.key_types),
        scratch_(state),
        key_scratch_(state),
        keys_(compiled.key_types.types.size()) {}

  void open() override {
    begin_probing();
    left_waits_ = false;
    is_empty_ = !find_rows();
  }

  bool next() override {
    if (is_empty_) return false;
    bool has_row = sorts() ? next_sorted() : probe();
    is_empty_ = !has_row;
    return has_row;
  }

  void close() override {
    left_->close();
    right_->close();
    spilled_.reset();
    table_.clear();
    built_ = false;
  }

 private:
  size_t key_count() const { return keys_.size(); }

  void begin_probing() {
    match_ = nullptr;
    has_left_ = false;
    unmatched_bucket_ = 0;
    unmatched_row_ = nullptr;
    left_done_ = false;
  }

  // The next row of the left rows that are here, or of one batch after the other.
  bool probe() {
    for (;;) {
      if (left_done_) {
        if (next_unmatched()) return true;
        if (!begin_piece()) return false;
      } else if (!has_left_ && !advance_left()) {
        if (keeps_right(compiled_.type)) {
          left_done_ = true;
        } else if (!begin_piece()) {
          return false;
        }
      } else if (next_for_left()) {
        return true;
      }
    }
  }

  // False: one side has no rows without which there is no result. The other is then not run, as far
  // as that has not come about already.
  bool find_rows() {
    bool builds = !built_ || compiled_.right->depends_on_parameters || spilled_ != nullptr;
    if (builds && compiled_.left_first) {
      left_->open();
      left_waits_ = left_->next();
      if (!left_waits_) return false;
    }
    if (builds) {
      build();
    } else {
      forget_matches();
    }
    if (spilled_ == nullptr && table_.size() == 0 && !keeps_left(compiled_.type)) return false;
    if (spilled_ != nullptr) load_first();
    if (!left_waits_) left_->open();
    return true;
  }

  // False: a key is NULL. `known`: those that were computed before, and are not again.
  bool find_keys(const JoinKeys& side, const Datum* known = nullptr) {
    key_scratch_.begin_row();
    bool complete = true;
    for (size_t i = 0; i < keys_.size(); ++i) {
      keys_[i] = known != nullptr && side.is_computed[i]
                     ? *known++
                     : side.programs[i].evaluate(registers(), state_.rows);
      complete = complete && !keys_[i].null;
    }
    return complete;
  }

  void build() {
    spilled_.reset();
    sorted_ = false;
    clear_table();
    right_->open();
    bool keeps_all = keeps_right(compiled_.type);
    while (right_->next()) {
      state_.session.maybe_yield();
      bool complete = find_keys(compiled_.right_keys);
      if (!complete && !keeps_all) continue;
      uint64_t hash = compiled_.key_types.hash(keys_.data());
      if (spilled_ == nullptr && insert_right(hash)) continue;
      if (spilled_ == nullptr) spill_table();
      spilled_->add_right(hash, keys_.data());
    }
    if (spilled_ != nullptr) spilled_->end_right();
    built_ = true;
  }

  void clear_table() {
    table_.clear();
    budget_.begin(table_, state_.session.hash_budget());
  }

  // The right row in the registers, of which the keys are known. False: there is no room for it.
  bool insert_right(uint64_t hash) {
    bool may_spill = state_.session.temporary_files != nullptr && table_.size() != 0;
    if (may_spill && budget_.is_used_up(table_)) return false;
    HashedRow* row = nullptr;
    try {
      row = table_.add(hash, key_count() + compiled_.right_shape.size());
      for (size_t i = 0; i < key_count(); ++i) {
        row->values()[i] = copy_datum(keys_[i], *compiled_.key_types.types[i], table_.arena());
      }
      compiled_.right_shape.save_to(registers(), row->values() + key_count(), table_.arena());
    } catch (const MemoryLimitReached&) {
      if (!may_spill) throw;
      if (row != nullptr) {  // in part: no key finds it, nor is it missed
        row->hash = ~hash;
        row->matched = true;
      }
      budget_.refuse();
      return false;
    }
    return true;
  }

  // What the table has goes first.
  void spill_table() {
    spilled_ = std::make_unique<SpilledJoin>(compiled_.spilled, state_, budget_.bytes());
    for (HashedRow* row : table_.buckets()) {
      for (; row != nullptr; row = row->next) {
        state_.session.maybe_yield();
        if (row->matched) continue;
        spilled_->add_right(row->hash, row->values(), row->values() + key_count());
      }
    }
    table_.clear();
  }

  // The next right rows go to the table. False: it has no room for the last one.
  bool load_right() {
    clear_table();
    uint64_t hash = 0;
    while (const Datum* known = spilled_->next_right(&hash)) {
      find_keys(compiled_.right_keys, known);
      if (!insert_right(hash)) return false;
    }
    return true;
  }

  // What left rows meet as they come.
  void load_first() {
    is_first_ = true;
    if (load_right()) return;
    spilled_->give_up_first();
    for (HashedRow* row : table_.buckets()) {
      // No left row looks for it, nor is it missed.
      for (; row != nullptr; row = row->next) row->matched |= !spilled_->is_first(row->hash);
    }
  }

  // The next piece of the right side is in the table, and its left rows are to be probed.
  bool begin_piece() {
    if (spilled_ == nullptr) return false;
    if (is_first_) spilled_->end_left();
    is_first_ = false;
    if (!spilled_->begin_piece()) return false;
    if (!load_right()) spilled_->end_piece_early();
    begin_probing();
    spilled_->start_left();
    return true;
  }

  bool is_last_piece() const { return spilled_ == nullptr || spilled_->is_last_piece(); }

  // It has spilled, and somebody rests on the order of the left side, in which the rows come
  // otherwise. Right and full joins never have it.
  bool sorts() const { return spilled_ != nullptr && compiled_.spilled.in_order; }

  bool next_sorted() {
    if (!sorted_) {
      while (probe()) {
        state_.session.maybe_yield();
        spilled_->keep_result();
      }
      clear_table();
      spilled_->sort_results();
      sorted_ = true;
    }
    return spilled_->next_result();
  }

  void forget_matches() {
    for (HashedRow* row : table_.buckets()) {
      for (; row != nullptr; row = row->next) row->matched = false;
    }
  }

  bool advance_left() {
    if (spilled_ != nullptr) [[unlikely]]
      return is_first_ ? advance_first() : advance_spilled();
    if (!left_waits_ && !left_->next()) return false;
    left_waits_ = false;
    state_.session.maybe_yield();
    take_left(find_keys(compiled_.left_keys), false);
    return true;
  }

  // The left row in the registers, whose keys are known.
  void take_left(bool is_complete, bool is_matched) {
    has_left_ = true;
    matched_ = is_matched;
    match_ =
        is_complete ? table_.find(keys_.data(), compiled_.key_types.hash(keys_.data())) : nullptr;
  }

  // Left rows that belong to later batches are put by.
  bool advance_first() {
    while (left_waits_ || left_->next()) {
      left_waits_ = false;
      state_.session.maybe_yield();
      bool complete = find_keys(compiled_.left_keys);
      if (!complete && !keeps_left(compiled_.type)) continue;
      uint64_t hash = compiled_.key_types.hash(keys_.data());
      if (spilled_->takes_left(complete ? &hash : nullptr, keys_.data())) continue;
      take_left(complete, false);
      return true;
    }
    return false;
  }

  bool advance_spilled() {
    const Datum* known = spilled_->next_left();
    if (known == nullptr) return false;
    state_.session.maybe_yield();
    take_left(find_keys(compiled_.left_keys, known), spilled_->is_matched());
    return true;
  }

  void note_match() {
    matched_ = true;
    if (spilled_ != nullptr) [[unlikely]]
      spilled_->note_match();
  }

  bool passes(const ExpressionProgram& condition) {
    scratch_.begin_row();
    return condition.is_true(registers(), state_.rows);
  }

  // Steps to the next pair that matches; its right row is in the registers.
  bool find_match() {
    while (match_ != nullptr) {
      HashedRow* row = match_;
      match_ = compiled_.right_is_unique ? nullptr : table_.next_match(row, keys_.data());
      compiled_.right_shape.restore(row->values() + key_count(), registers());
      if (passes(compiled_.condition)) {
        row->matched = true;
        return true;
      }
    }
    return false;
  }

  bool next_for_left() {
    switch (compiled_.type) {
      case JoinType::semi:
        has_left_ = false;
        if (!find_match()) return false;
        note_match();
        return passes(compiled_.filter);
      case JoinType::anti:
        has_left_ = false;
        if (!find_match()) return is_last_piece() && passes(compiled_.filter);
        note_match();
        return false;
      default:
        break;
    }
    while (find_match()) {
      note_match();
      if (passes(compiled_.filter)) return true;
    }
    has_left_ = false;
    if (matched_ || !is_last_piece() || !keeps_left(compiled_.type)) return false;
    compiled_.right_shape.set_null(registers());
    return passes(compiled_.filter);
  }

  // Right and full joins: the right rows that no left row matched.
  bool next_unmatched() {
    compiled_.left_shape.set_null(registers());
    for (;;) {
      while (unmatched_row_ == nullptr) {
        if (unmatched_bucket_ == table_.buckets().size()) return false;
        unmatched_row_ = table_.buckets()[unmatched_bucket_++];
      }
      HashedRow* row = unmatched_row_;
      unmatched_row_ = row->next;
      if (row->matched) continue;
      compiled_.right_shape.restore(row->values() + key_count(), registers());
      if (passes(compiled_.filter)) return true;
    }
  }

  const CompiledHashJoin& compiled_;
  std::unique_ptr<Operator> left_;
  std::unique_ptr<Operator> right_;
  RowHashTable table_;
  Scratch scratch_;
  Scratch key_scratch_;
  std::vector<Datum> keys_;  // of the present left row
  HashedRow* match_ = nullptr;
  HashedRow* unmatched_row_ = nullptr;
  size_t unmatched_bucket_ = 0;
  bool built_ = false;
  bool has_left_ = false;
  bool matched_ = false;
  bool left_done_ = false;
  bool left_waits_ = false;  // the next left row is in the registers already
  bool is_empty_ = false;

  std::unique_ptr<SpilledJoin> spilled_;  // null: the table has all
  bool is_first_ = false;                 // left rows come from the left side yet
  bool sorted_ = false;
  TableBudget budget_;
};

std::unique_ptr<Operator> CompiledHashJoin::instantiate(ExecutionState& state) const {
  return std::make_unique<HashJoin>(*this, state);
}

}  // namespace

CompiledOperator* compile_hash_join(const HashJoinNode& node, PlanCompiler& plan) {
  auto made = std::make_unique<CompiledHashJoin>();
  made->prepare(node, plan);
  made->left_first =
      !keeps_right(node.join_type) &&
      (keeps_left(node.join_type) || node.left->startup_cost < node.right->total_cost);
  made->left_keys = JoinKeys(node.left_keys, made->left->output, plan);
  made->right_keys = JoinKeys(node.right_keys, made->right->output, plan);
  for (const BoundExpression* key : node.right_keys)
    made->key_types.types.push_back(&type_info(key->type));
  bool in_order = node.keeps_order && !keeps_right(node.join_type);
  made->spilled = {made.get(), &made->left_keys, &made->right_keys, in_order, {}, {}};
  made->spilled.set(made->key_types);
  return plan.add(std::move(made));
}

}  // namespace pgsilo
