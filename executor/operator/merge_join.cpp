// Both sides come by their keys; of the right one the rows of one key are kept, in a temporary file
// what work_mem has no room for (docs/spilling.md). Rows of the result
// have registers of their own where a side's would be changed while it is half read.
#include "base/append.h"
#include "base/memory_budget.h"
#include "executor/operator/join.h"
#include "executor/spill/stored_rows.h"

namespace pgsilo {

namespace {

struct CompiledMergeJoin final : CompiledJoin {
  std::vector<Register> own_left;  // with unmatched right rows only; else the left side's
  std::vector<Register> own_right;
  std::vector<ExpressionProgram> left_keys;
  std::vector<ExpressionProgram> right_keys;
  std::vector<const TypeInfo*> types;
  std::unique_ptr<Operator> instantiate(ExecutionState& state) const override;
};

// The right rows of one key, and which of them have been matched.
struct RightGroup {
  RightGroup(const RowShape& shape, size_t keys) : rows(shape), keys(keys) {}

  void clear() {
    reader.close();
    rows.clear();
    matched.clear();
    memory.reset();
  }
  void close() {
    clear();
    rows.close();
    free_memory(matched);
  }
  void add(const Datum* file, const ExecutionContext& session) {
    rows.append(file, session);
    if (matched.size() == matched.capacity()) require_room(matched.capacity() / 4);
    matched.push_back(false);
  }
  // The row of this number, as long as they are asked for one after the other from 0 on.
  const Datum* row(size_t number) {
    if (number == 0) reader.rewind();
    return reader.next(rows);
  }

  StoredRows rows;
  StoredRows::Reader reader;
  std::vector<bool> matched;
  std::vector<Datum> keys;
  Arena memory{ArenaLimit::memory_limit};
};

class MergeJoin final : public Operator {
 public:
  MergeJoin(const CompiledMergeJoin& compiled, ExecutionState& state)
      : Operator(state),
        compiled_(compiled),
        left_(compiled.left->instantiate(state)),
        right_(compiled.right->instantiate(state)),
        scratch_(state),
        left_scratch_(state),
        right_scratch_(state),
        left_keys_(compiled.left_keys.size()),
        right_keys_(compiled.left_keys.size()),
        groups_{{compiled.right_shape, compiled.left_keys.size()},
                {compiled.right_shape, compiled.left_keys.size()}} {}

  void open() override {
    left_->open();
    right_->open();
    for (RightGroup& group : groups_) group.clear();
    has_left_ = false;
    left_done_ = false;
    right_done_ = false;
    has_group_ = false;
    position_ = 0;
    is_done_ = false;
    advance_left();
    // Without left rows nothing of the right side is asked for.
    if (!left_done_ || keeps_right(compiled_.type)) advance_group();
  }

  bool next() override {
    while (!is_done_) {
      if (has_left_ ? step_left() : step_right()) return true;
    }
    return false;
  }

  void close() override {
    left_->close();
    right_->close();
    for (RightGroup& group : groups_) group.close();
    is_done_ = true;
  }

 private:
  RightGroup& group() { return groups_[current_]; }
  RightGroup& group_ahead() { return groups_[1 - current_]; }

  void show_left() {
    if (!keeps_right(compiled_.type)) return;
    for (size_t i = 0; i < compiled_.own_left.size(); ++i)
      at(compiled_.own_left[i]) = at(compiled_.left->output[i]);
  }
  void hide_left() {
    for (Register own : compiled_.own_left) at(own) = Datum();
  }
  void show_right(const Datum* row) {
    for (size_t i = 0; i < compiled_.own_right.size(); ++i) at(compiled_.own_right[i]) = row[i];
  }
  void hide_right() {
    for (Register own : compiled_.own_right) at(own) = Datum();
  }

  // False: a key is NULL.
  bool evaluate(const std::vector<ExpressionProgram>& programs, Scratch& scratch,
                std::vector<Datum>& keys) {
    scratch.begin_row();
    bool complete = true;
    for (size_t i = 0; i < programs.size(); ++i) {
      keys[i] = programs[i].evaluate(registers(), state_.rows);
      complete = complete && !keys[i].null;
    }
    return complete;
  }

  void advance_left() {
    has_left_ = left_->next();
    left_done_ = !has_left_;
    matched_ = is_ended_ = false;
    position_ = 0;
    if (!has_left_) return;
    state_.session.maybe_yield();
    show_left();
    left_complete_ = evaluate(compiled_.left_keys, left_scratch_, left_keys_);
  }

  int compare(const Datum* left, const Datum* right) const {
    for (size_t i = 0; i < compiled_.types.size(); ++i) {
      int order = 0;
      if (left[i].null || right[i].null) {
        order = static_cast<int>(left[i].null) - static_cast<int>(right[i].null);
      } else {
        order = compiled_.types[i]->compare(left[i], right[i]);
      }
      if (order != 0) return order;
    }
    return 0;
  }

  // Begins a group with the right row in the registers.
  void begin(RightGroup& group) {
    group.clear();
    for (size_t i = 0; i < right_keys_.size(); ++i)
      group.keys[i] = copy_datum(right_keys_[i], *compiled_.types[i], group.memory);
    group.add(registers(), state_.session);
  }

  bool next_right() {
    while (!right_done_) {
      right_done_ = !right_->next();
      if (right_done_) break;
      state_.session.maybe_yield();
      bool complete = evaluate(compiled_.right_keys, right_scratch_, right_keys_);
      if (complete || keeps_right(compiled_.type)) return true;
    }
    return false;
  }

  // The rows of the next right key; the row that ends it begins the one after that.
  void advance_group() {
    current_ = 1 - current_;
    if (group().rows.size() == 0 && next_right()) begin(group());
    has_group_ = group().rows.size() != 0;
    group_ahead().clear();
    unmatched_ = 0;
    position_ = 0;
    if (!has_group_) return;
    while (next_right()) {
      if (compare(right_keys_.data(), group().keys.data()) == 0) {
        group().add(registers(), state_.session);
        continue;
      }
      begin(group_ahead());
      break;
    }
  }

  bool passes(const ExpressionProgram& condition) {
    scratch_.begin_row();
    return condition.is_true(registers(), state_.rows);
  }

  // One step with the left row that is in the registers; true: there is a row of the result.
  bool step_left() {
    if (!left_complete_) return end_left();
    if (!has_group_) {
      if (keeps_left(compiled_.type)) return end_left();
      is_done_ = true;
      return false;
    }
    int order = compare(left_keys_.data(), group().keys.data());
    if (order < 0) return end_left();
    if (order > 0) return leave_group();
    return find_match() ? matched_row() : end_left();
  }

  // Steps to the next pair that matches; its right row is in the registers.
  bool find_match() {
    while (position_ < group().rows.size() && !(matched_ && compiled_.right_is_unique)) {
      size_t row = position_++;
      show_right(group().row(row));
      if (!passes(compiled_.condition)) {
        state_.session.maybe_yield();
        continue;
      }
      group().matched[row] = true;
      return true;
    }
    return false;
  }

  bool matched_row() {
    matched_ = true;
    if (compiled_.type == JoinType::anti) {
      advance_left();
      return false;
    }
    if (compiled_.type == JoinType::semi) position_ = group().rows.size();
    return passes(compiled_.filter);
  }

  // The left row has met all that it can. If it is a row of the result by itself, it is still there
  // when the next is asked for.
  bool end_left() {
    if (matched_ || is_ended_ || !keeps_left(compiled_.type)) {
      advance_left();
      return false;
    }
    is_ended_ = true;
    hide_right();
    return passes(compiled_.filter);
  }

  // The left row is behind the group, of which what nothing has matched comes first.
  bool leave_group() {
    if (keeps_right(compiled_.type)) {
      if (next_unmatched()) return true;
      show_left();
    }
    advance_group();
    return false;
  }

  // Behind the last left row.
  bool step_right() {
    if (!keeps_right(compiled_.type)) {
      is_done_ = true;
      return false;
    }
    if (has_group_ && next_unmatched()) return true;
    if (has_group_) advance_group();
    is_done_ = !has_group_;
    return false;
  }

  bool next_unmatched() {
    while (unmatched_ < group().rows.size()) {
      size_t row = unmatched_++;
      const Datum* unmatched = group().row(row);
      if (group().matched[row]) continue;
      hide_left();
      show_right(unmatched);
      if (passes(compiled_.filter)) return true;
      state_.session.maybe_yield();
    }
    return false;
  }

  const CompiledMergeJoin& compiled_;
  std::unique_ptr<Operator> left_;
  std::unique_ptr<Operator> right_;
  Scratch scratch_;
  Scratch left_scratch_;
  Scratch right_scratch_;
  std::vector<Datum> left_keys_;   // of the left row
  std::vector<Datum> right_keys_;  // of the right row that was read last
  RightGroup groups_[2];           // what left rows are compared with, and what comes behind it
  size_t current_ = 0;
  size_t position_ = 0;   // of the next row of the group that the left row meets
  size_t unmatched_ = 0;  // of the next one that may be a row by itself
  bool has_left_ = false;
  bool left_complete_ = false;  // no key of it is NULL
  bool left_done_ = false;
  bool matched_ = false;
  bool is_ended_ = false;  // it was a row of the result by itself
  bool right_done_ = false;
  bool has_group_ = false;
  bool is_done_ = false;
};

std::unique_ptr<Operator> CompiledMergeJoin::instantiate(ExecutionState& state) const {
  return std::make_unique<MergeJoin>(*this, state);
}

}  // namespace

CompiledOperator* compile_merge_join(const MergeJoinNode& node, PlanCompiler& plan) {
  auto made = std::make_unique<CompiledMergeJoin>();
  made->type = node.join_type;
  made->right_is_unique = node.right_is_unique;
  made->left = plan.compile(node.left);
  made->right = plan.compile(node.right);
  made->right_shape = RowShape(made->right->output, node.right->columns);
  made->own_left = keeps_right(made->type) ? plan.new_register_list(node.left->columns.size())
                                           : made->left->output;
  made->own_right = plan.new_register_list(node.right->columns.size());
  made->set_output(made->own_left, made->own_right);
  made->condition = plan.condition(node.condition, made->both);
  made->filter = plan.condition(node.filter, made->output);
  made->left_keys = plan.expressions(node.left_keys, made->left->output);
  made->right_keys = plan.expressions(node.right_keys, made->right->output);
  for (const BoundExpression* key : node.left_keys) made->types.push_back(&type_info(key->type));
  return plan.add(std::move(made));
}

}  // namespace pgsilo
