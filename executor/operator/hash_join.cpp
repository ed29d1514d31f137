// The right side goes into a hash table by its keys, the left side probes it. Where the table has
// no room, both sides go to a temporary file in batches (docs/spilling.md).
#include "executor/operator/hash_table.h"
#include "executor/operator/join.h"
#include "executor/spill/external_sort.h"
#include "executor/spill/join_batches.h"
#include "executor/spill/table_budget.h"

namespace pgsilo {

namespace {

struct CompiledHashJoin final : CompiledJoin {
  // Without left rows there is no result, and to see whether there is one costs less than the
  // table, or is worth it because the left side runs in any case.
  bool left_first = false;
  std::vector<ExpressionProgram> left_keys;
  std::vector<ExpressionProgram> right_keys;
  KeyTypes key_types;
  JoinSides spilled;        // a hash, of the left side its number, the row
  TapeColumns spilled_out;  // the left row's number, both rows

  void set_spilled_rows();
  std::unique_ptr<Operator> instantiate(ExecutionState& state) const override;
};

// Left rows that nothing matches are rows of the result.
bool keeps_left(JoinType type) {
  return type == JoinType::left || type == JoinType::full || type == JoinType::anti;
}

bool keeps_right(JoinType type) { return type == JoinType::right || type == JoinType::full; }

bool is_left_only(JoinType type) { return type == JoinType::semi || type == JoinType::anti; }

void CompiledHashJoin::set_spilled_rows() {
  auto append = [](TapeColumns& to, const TapeColumns& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  spilled.keeps_left = keeps_left(type);
  spilled.keeps_right = keeps_right(type);
  spilled.left = {false, false};
  append(spilled.left, left_shape.by_reference);
  spilled.right = {false};
  append(spilled.right, right_shape.by_reference);
  spilled.right_row_bytes = sizeof(HashedRow) + sizeof(HashedRow*) +
                            sizeof(Datum) * (key_types.types.size() + right_shape.size());
  spilled_out = {false};
  append(spilled_out, left_shape.by_reference);
  if (!is_left_only(type)) append(spilled_out, right_shape.by_reference);
}

// Left rows come by number: rows that spilled leave the join in their order, as those that did not.
struct ByLeftRow final : RowOrder {
  int compare_rows(const Datum* left, const Datum* right) override {
    return left[0].i64 < right[0].i64 ? -1 : left[0].i64 > right[0].i64;
  }
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
        keys_(compiled.left_keys.size()) {}

  void open() override {
    begin_probing();
    left_waits_ = false;
    is_empty_ = !find_rows();
  }

  bool next() override {
    if (is_empty_) return false;
    bool has_row = batches_ == nullptr || keeps_right(compiled_.type) ? probe() : next_merged();
    is_empty_ = !has_row;
    return has_row;
  }

  void close() override {
    left_->close();
    right_->close();
    forget_batches();
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
    bool builds = !built_ || compiled_.right->depends_on_parameters || batches_ != nullptr;
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
    if (batches_ == nullptr && table_.size() == 0 && !keeps_left(compiled_.type)) return false;
    if (!left_waits_) left_->open();
    if (batches_ != nullptr) spill_left();
    return true;
  }

  // False: a key is NULL.
  bool evaluate(const std::vector<ExpressionProgram>& programs) {
    key_scratch_.begin_row();
    bool complete = true;
    for (size_t i = 0; i < programs.size(); ++i) {
      keys_[i] = programs[i].evaluate(registers(), state_.rows);
      complete = complete && !keys_[i].null;
    }
    return complete;
  }

  void build() {
    forget_batches();
    clear_table();
    right_->open();
    bool keeps_all = keeps_right(compiled_.type);
    while (right_->next()) {
      state_.session.maybe_yield();
      bool complete = evaluate(compiled_.right_keys);
      if (!complete && !keeps_all) continue;
      uint64_t hash = compiled_.key_types.hash(keys_.data());
      if (batches_ == nullptr && insert_right(hash)) continue;
      if (batches_ == nullptr) begin_batches();
      set_row(hash, compiled_.right_shape, 1);
      batches_->add_right(spilled_row_.data());
    }
    if (batches_ != nullptr) batches_->end_right();
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

  void forget_batches() {
    merged_.reset();
    batches_.reset();
    matched_left_ = {};
    is_last_piece_ = true;
    right_waits_ = false;
  }

  // The row in the registers behind `head` other columns, of which the first is a number.
  void set_row(uint64_t number, const RowShape& shape, size_t head) {
    spilled_row_.resize(head + shape.size());
    spilled_row_[0] = Datum::of_int(static_cast<int64_t>(number));
    for (size_t i = 0; i < shape.size(); ++i) spilled_row_[head + i] = at(shape.registers[i]);
  }

  // What the table has goes first.
  void begin_batches() {
    batches_ = std::make_unique<JoinBatches>(compiled_.spilled, state_.session, budget_.bytes());
    size_t width = compiled_.right_shape.size();
    spilled_row_.resize(1 + width);
    for (HashedRow* row : table_.buckets()) {
      for (; row != nullptr; row = row->next) {
        if (row->matched) continue;
        spilled_row_[0] = Datum::of_int(static_cast<int64_t>(row->hash));
        std::copy_n(row->values() + key_count(), width, spilled_row_.begin() + 1);
        batches_->add_right(spilled_row_.data());
      }
    }
    table_.clear();
  }

  void spill_left() {
    int64_t number = 0;
    bool keeps_all = keeps_left(compiled_.type);
    while (left_waits_ || left_->next()) {
      left_waits_ = false;
      state_.session.maybe_yield();
      if (!evaluate(compiled_.left_keys) && !keeps_all) continue;
      set_row(compiled_.key_types.hash(keys_.data()), compiled_.left_shape, 2);
      spilled_row_[1] = Datum::of_int(number++);
      batches_->add_left(spilled_row_.data());
    }
    batches_->begin();
  }

  // The next piece of the right side is in the table: a batch, or a part of one that is too large.
  bool begin_piece() {
    if (batches_ == nullptr) return false;
    bool all_matched = is_left_only(compiled_.type) && unmatched_left_ == 0;
    if (!right_waits_ || all_matched) {
      right_waits_ = false;
      if (!batches_->next_batch()) return false;
      matched_left_.clear();
      unmatched_left_ = batches_->left_rows();
    }
    load_right();
    begin_probing();
    left_index_ = 0;
    batches_->start_left(!is_last_piece_);
    if (merged_ != nullptr) merged_->end_run();
    return true;
  }

  void load_right() {
    clear_table();
    const Datum* row = right_waits_ ? batches_->right_row() : batches_->next_right();
    right_waits_ = false;
    for (; row != nullptr; row = batches_->next_right()) {
      state_.session.maybe_yield();
      compiled_.right_shape.restore(row + 1, registers());
      evaluate(compiled_.right_keys);
      right_waits_ = !insert_right(static_cast<uint64_t>(row[0].i64));
      if (right_waits_) break;
    }
    is_last_piece_ = !right_waits_;
    bool notes_matches = keeps_left(compiled_.type) || is_left_only(compiled_.type);
    if (is_last_piece_ || !notes_matches || !matched_left_.empty()) return;
    require_room(batches_->left_rows() / 8);
    matched_left_.assign(batches_->left_rows(), false);
  }

  // The next left row of the batch that some piece may still have to do with.
  bool next_spilled_left() {
    while (const Datum* row = batches_->next_left()) {
      size_t index = left_index_++;
      matched_ = !matched_left_.empty() && matched_left_[index];
      if (matched_ && is_left_only(compiled_.type)) continue;
      left_number_ = row[1].i64;
      compiled_.left_shape.restore(row + 2, registers());
      return true;
    }
    return false;
  }

  void note_match() {
    matched_ = true;
    if (matched_left_.empty()) return;
    if (!matched_left_[left_index_ - 1]) --unmatched_left_;
    matched_left_[left_index_ - 1] = true;
  }

  // All batches' rows by the left rows' numbers.
  bool next_merged() {
    if (merged_ == nullptr) merge();
    const Datum* row = merged_->next();
    if (row == nullptr) return false;
    compiled_.left_shape.restore(row + 1, registers());
    if (!is_left_only(compiled_.type))
      compiled_.right_shape.restore(row + 1 + compiled_.left_shape.size(), registers());
    return true;
  }

  void merge() {
    merged_ = std::make_unique<ExternalSort>(*state_.session.temporary_files, budget_.bytes(),
                                             compiled_.spilled_out, by_left_row_, UINT64_MAX);
    while (probe()) {
      state_.session.maybe_yield();
      set_row(static_cast<uint64_t>(left_number_), compiled_.left_shape, 1);
      if (!is_left_only(compiled_.type)) {
        for (Register index : compiled_.right_shape.registers) spilled_row_.push_back(at(index));
      }
      merged_->append(spilled_row_.data());
    }
    merged_->end_run();
    clear_table();
    merged_->begin_merge();
  }

  void forget_matches() {
    for (HashedRow* row : table_.buckets()) {
      for (; row != nullptr; row = row->next) row->matched = false;
    }
  }

  bool advance_left() {
    if (batches_ != nullptr) [[unlikely]] {
      if (!next_spilled_left()) return false;
    } else {
      if (!left_waits_ && !left_->next()) return false;
      left_waits_ = false;
      matched_ = false;
    }
    state_.session.maybe_yield();
    has_left_ = true;
    match_ = evaluate(compiled_.left_keys)
                 ? table_.find(keys_.data(), compiled_.key_types.hash(keys_.data()))
                 : nullptr;
    return true;
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
        if (!find_match()) return is_last_piece_ && passes(compiled_.filter);
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
    if (matched_ || !is_last_piece_ || !keeps_left(compiled_.type)) return false;
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

  // When it has spilled.
  std::unique_ptr<JoinBatches> batches_;
  std::unique_ptr<ExternalSort> merged_;
  ByLeftRow by_left_row_;
  std::vector<Datum> spilled_row_;
  std::vector<bool> matched_left_;  // of a batch in several pieces; else empty
  uint64_t unmatched_left_ = 0;
  size_t left_index_ = 0;  // of the next left row in its batch
  int64_t left_number_ = 0;
  bool is_last_piece_ = true;
  bool right_waits_ = false;  // the right row that came last is not in the table
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
  made->left_keys = plan.expressions(node.left_keys, made->left->output);
  made->right_keys = plan.expressions(node.right_keys, made->right->output);
  for (const BoundExpression* key : node.right_keys)
    made->key_types.types.push_back(&type_info(key->type));
  made->set_spilled_rows();
  return plan.add(std::move(made));
}

}  // namespace pgsilo
