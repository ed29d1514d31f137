// The right side goes into a hash table by its keys, the left side probes it.
#include "executor/operator/hash_table.h"
#include "executor/operator/join.h"

namespace pgsilo {

namespace {

struct CompiledHashJoin final : CompiledJoin {
  // Without left rows there is no result, and to see whether there is one costs less than the
  // table, or is worth it because the left side runs in any case.
  bool left_first = false;
  std::vector<ExpressionProgram> left_keys;
  std::vector<ExpressionProgram> right_keys;
  KeyTypes key_types;
  std::unique_ptr<Operator> instantiate(ExecutionState& state) const override;
};

// Left rows that nothing matches are rows of the result.
bool keeps_left(JoinType type) {
  return type == JoinType::left || type == JoinType::full || type == JoinType::anti;
}

bool keeps_right(JoinType type) { return type == JoinType::right || type == JoinType::full; }

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
    match_ = nullptr;
    has_left_ = false;
    left_waits_ = false;
    unmatched_bucket_ = 0;
    unmatched_row_ = nullptr;
    left_done_ = false;
    is_empty_ = !find_rows();
  }

  bool next() override {
    if (is_empty_) return false;
    for (;;) {
      if (left_done_) return next_unmatched();
      if (!has_left_ && !advance_left()) {
        if (!keeps_right(compiled_.type)) return false;
        left_done_ = true;
        continue;
      }
      if (next_for_left()) return true;
    }
  }

  void close() override {
    left_->close();
    right_->close();
    table_.clear();
    built_ = false;
  }

 private:
  size_t key_count() const { return keys_.size(); }

  // False: one side has no rows without which there is no result. The other is then not run, as far
  // as that has not come about already.
  bool find_rows() {
    bool builds = !built_ || compiled_.right->depends_on_parameters;
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
    if (table_.size() == 0 && !keeps_left(compiled_.type)) return false;
    if (!left_waits_) left_->open();
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
    table_.clear();
    right_->open();
    bool keeps_all = keeps_right(compiled_.type);
    while (right_->next()) {
      state_.session.maybe_yield();
      bool complete = evaluate(compiled_.right_keys);
      if (!complete && !keeps_all) continue;
      HashedRow* row = table_.add(compiled_.key_types.hash(keys_.data()),
                                  key_count() + compiled_.right_shape.size());
      for (size_t i = 0; i < key_count(); ++i) {
        row->values()[i] = copy_datum(keys_[i], *compiled_.key_types.types[i], table_.arena());
      }
      compiled_.right_shape.save_to(registers(), row->values() + key_count(), table_.arena());
    }
    built_ = true;
  }

  void forget_matches() {
    for (HashedRow* row : table_.buckets()) {
      for (; row != nullptr; row = row->next) row->matched = false;
    }
  }

  bool advance_left() {
    if (!left_waits_ && !left_->next()) return false;
    left_waits_ = false;
    state_.session.maybe_yield();
    has_left_ = true;
    matched_ = false;
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
        return find_match() && passes(compiled_.filter);
      case JoinType::anti:
        has_left_ = false;
        return !find_match() && passes(compiled_.filter);
      default:
        break;
    }
    while (find_match()) {
      matched_ = true;
      if (passes(compiled_.filter)) return true;
    }
    has_left_ = false;
    if (matched_ || compiled_.type == JoinType::inner || compiled_.type == JoinType::right)
      return false;
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
  return plan.add(std::move(made));
}

}  // namespace pgsilo
