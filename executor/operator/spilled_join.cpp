#include "executor/operator/spilled_join.h"

namespace pgsilo {

namespace {

void add_columns(TapeColumns& to, const TapeColumns& columns) {
  to.insert(to.end(), columns.begin(), columns.end());
}

void add_computed(TapeColumns& to, const JoinKeys& side, const KeyTypes& types) {
  for (size_t i = 0; i < side.is_computed.size(); ++i) {
    if (side.is_computed[i]) to.push_back(types.types[i]->by_reference);
  }
}

}  // namespace

JoinKeys::JoinKeys(ExpressionList keys, const std::vector<Register>& slots, PlanCompiler& plan)
    : programs(plan.expressions(keys, slots)) {
  for (const BoundExpression* key : keys) {
    is_computed.push_back(try_as<SlotExpression>(key) == nullptr);
    computed += is_computed.back() ? 1 : 0;
  }
}

void SpilledJoinRows::set(const KeyTypes& types) {
  const RowShape& left = join->left_shape;
  const RowShape& right = join->right_shape;
  sides.keeps_left = keeps_left(join->type);
  sides.keeps_right = keeps_right(join->type);
  sides.left.assign(left_head(), false);
  add_computed(sides.left, *left_keys, types);
  add_columns(sides.left, left.by_reference);
  sides.right = {false};
  add_computed(sides.right, *right_keys, types);
  add_columns(sides.right, right.by_reference);
  sides.right_row_bytes =
      sizeof(HashedRow) + sizeof(HashedRow*) + sizeof(Datum) * (types.types.size() + right.size());
  result = {false};
  add_columns(result, left.by_reference);
  if (!is_left_only(join->type)) add_columns(result, right.by_reference);
}

SpilledJoin::SpilledJoin(const SpilledJoinRows& rows, ExecutionState& state, size_t budget)
    : rows_(rows), state_(state), budget_(budget), batches_(rows.sides, state.session, budget) {}

void SpilledJoin::append(const RowShape& shape) {
  const Datum* file = state_.registers.data();
  for (Register index : shape.registers) row_.push_back(file[index]);
}

void SpilledJoin::append_computed(const JoinKeys& side, const Datum* keys) {
  if (side.computed == 0) return;
  for (size_t i = 0; i < side.is_computed.size(); ++i) {
    if (side.is_computed[i]) row_.push_back(keys[i]);
  }
}

void SpilledJoin::add_right(uint64_t hash, const Datum* keys) {
  row_.assign(1, Datum::of_int(static_cast<int64_t>(hash)));
  append_computed(*rows_.right_keys, keys);
  append(join().right_shape);
  batches_.add_right(row_.data());
}

void SpilledJoin::add_right(uint64_t hash, const Datum* keys, const Datum* row) {
  row_.assign(1, Datum::of_int(static_cast<int64_t>(hash)));
  append_computed(*rows_.right_keys, keys);
  row_.insert(row_.end(), row, row + join().right_shape.size());
  batches_.add_right(row_.data());
}

void SpilledJoin::end_right() {
  batches_.end_right();
  batches_.begin_first();
}

bool SpilledJoin::takes_left(const uint64_t* hash, const Datum* keys) {
  left_number_ = left_rows_++;
  if (hash == nullptr || batches_.is_first(*hash)) return false;
  row_.assign(1, Datum::of_int(static_cast<int64_t>(*hash)));
  if (rows_.in_order) row_.push_back(Datum::of_int(left_number_));
  append_computed(*rows_.left_keys, keys);
  append(join().left_shape);
  batches_.add_left(row_.data());
  return true;
}

bool SpilledJoin::begin_piece() {
  if (sorted_ != nullptr) sorted_->end_run();
  // Where a match is all that is asked for, nothing is left to find.
  bool all_matched = is_left_only(join().type) && unmatched_ == 0;
  if (!is_last_piece_ && !all_matched) return true;
  right_waits_ = false;
  if (!batches_.next_batch()) return false;
  matched_.clear();
  unmatched_ = batches_.left_rows();
  return true;
}

const Datum* SpilledJoin::next_right(uint64_t* hash) {
  state_.session.maybe_yield();
  const Datum* row = right_waits_ ? batches_.right_row() : batches_.next_right();
  right_waits_ = false;
  if (row == nullptr) return nullptr;
  *hash = static_cast<uint64_t>(row[0].i64);
  join().right_shape.restore(row + 1 + rows_.right_keys->computed, state_.registers.data());
  return row + 1;
}

void SpilledJoin::start_left() {
  is_last_piece_ = !right_waits_;
  bool notes_matches = keeps_left(join().type) || is_left_only(join().type);
  if (!is_last_piece_ && notes_matches && matched_.empty()) {
    require_room(batches_.left_rows() / 8);
    matched_.assign(batches_.left_rows(), false);
  }
  left_index_ = 0;
  batches_.start_left(!is_last_piece_);
}

const Datum* SpilledJoin::next_left() {
  while (const Datum* row = batches_.next_left()) {
    ++left_index_;
    if (is_matched() && is_left_only(join().type)) {
      state_.session.maybe_yield();
      continue;
    }
    if (rows_.in_order) left_number_ = row[1].i64;
    row += rows_.left_head();
    join().left_shape.restore(row + rows_.left_keys->computed, state_.registers.data());
    return row;
  }
  return nullptr;
}

void SpilledJoin::note_match() {
  if (matched_.empty() || matched_[left_index_ - 1]) return;
  matched_[left_index_ - 1] = true;
  --unmatched_;
}

void SpilledJoin::keep_result() {
  if (sorted_ == nullptr) {
    RowOrder& by_number = *this;
    sorted_ = std::make_unique<ExternalSort>(*state_.session.temporary_files, budget_, rows_.result,
                                             by_number, UINT64_MAX);
  }
  row_.assign(1, Datum::of_int(left_number_));
  append(join().left_shape);
  if (!is_left_only(join().type)) append(join().right_shape);
  sorted_->append(row_.data());
}

void SpilledJoin::sort_results() {
  if (sorted_ == nullptr) return;
  sorted_->end_run();
  sorted_->begin_merge();
}

bool SpilledJoin::next_result() {
  const Datum* row = sorted_ != nullptr ? sorted_->next() : nullptr;
  if (row == nullptr) return false;
  Datum* file = state_.registers.data();
  join().left_shape.restore(row + 1, file);
  if (!is_left_only(join().type))
    join().right_shape.restore(row + 1 + join().left_shape.size(), file);
  return true;
}

}  // namespace pgsilo
