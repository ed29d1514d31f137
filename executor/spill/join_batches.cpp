#include "executor/spill/join_batches.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace pgsilo {

JoinBatches::JoinBatches(const JoinSides& sides, ExecutionContext& session, size_t budget)
    : sides_(sides),
      session_(session),
      budget_(budget),
      file_(*session.temporary_files, budget),
      count_(SpillPartitions::count_for(file_)),
      dividing_(std::make_unique<SpillPartitions>(file_, sides.right, 0, count_)),
      left_(file_, sides.left),
      right_(file_, sides.right),
      rest_(file_, sides.right) {}

void JoinBatches::end_right() {
  divided_right_ = dividing_->finish();
  dividing_ = std::make_unique<SpillPartitions>(file_, sides_.left, 0, count_);
}

void JoinBatches::begin_first() {
  std::vector<size_t> by_size(count_);
  std::iota(by_size.begin(), by_size.end(), size_t{0});
  std::sort(by_size.begin(), by_size.end(), [&](size_t left, size_t right) {
    return divided_right_[left].bytes < divided_right_[right].bytes;
  });
  // Tables grow by leaps. Of a part none is left where there is no room for all.
  double room = 0.75 * static_cast<double>(budget_);
  is_first_.assign(count_, false);
  uint64_t rows = 0;
  for (size_t number : by_size) {
    double bytes = table_bytes(divided_right_[number]);
    bool is_whole = bytes <= room;
    if (!is_whole && rows == 0) {
      parted_ = number;
      part_ = static_cast<uint64_t>(room / 2 / bytes * static_cast<double>(part_scale));
    }
    if (!is_whole) break;
    is_first_[number] = true;
    room -= bytes;
    rows += divided_right_[number].rows;
  }
  next_first_ = 0;
  reads_first_ = true;
}

void JoinBatches::give_up_first() {
  right_.stop();
  static_cast<void>(rest_.finish());
  size_t known = reads_part_ ? count_ : next_first_ - 1;
  for (size_t i = known; i < count_; ++i) is_first_[i] = divided_right_[i].rows == 0;
  reads_first_ = reads_part_ = false;
  parted_ = none;
}

// Its tapes are kept: it may be given up yet. Other rows of the partition of which it has a part
// make a tape of their own.
const Datum* JoinBatches::next_first() {
  for (;;) {
    while (const Datum* row = right_.next()) {
      if (!reads_part_ || is_of_part(hash_of(row))) return row;
      session_.maybe_yield();
      rest_.append(row);
    }
    if (reads_part_) break;
    while (next_first_ < count_ && !is_first_[next_first_]) ++next_first_;
    reads_part_ = next_first_ == count_;
    if (reads_part_ && parted_ == none) break;
    right_.start(divided_right_[reads_part_ ? parted_ : next_first_++], true);
  }
  if (parted_ != none) divided_right_[parted_] = rest_.finish();
  reads_first_ = reads_part_ = false;
  return nullptr;
}

void JoinBatches::end_left() {
  uint64_t rows = 0;
  for (size_t i = 0; i < count_; ++i) {
    rows += divided_right_[i].rows;
    if (is_first_[i]) divided_right_[i] = {};
  }
  add_batches(dividing_->finish(), divided_right_, 1, rows);
  dividing_.reset();
}

void JoinBatches::add_batches(const std::vector<Tape>& left, const std::vector<Tape>& right,
                              unsigned depth, uint64_t rows) {
  for (size_t i = 0; i < left.size(); ++i) {
    bool gives_rows = (left[i].rows != 0 && (right[i].rows != 0 || sides_.keeps_left)) ||
                      (right[i].rows != 0 && sides_.keeps_right);
    bool may_divide = right[i].rows < rows && depth <= SpillPartitions::most_depth;
    if (gives_rows) waiting_.push_back({left[i], right[i], depth, may_divide});
  }
}

double JoinBatches::table_bytes(const Tape& right) const {
  return static_cast<double>(right.rows) * static_cast<double>(sides_.right_row_bytes) +
         static_cast<double>(right.bytes);
}

bool JoinBatches::next_batch() {
  while (!waiting_.empty()) {
    batch_ = waiting_.back();
    waiting_.pop_back();
    if (batch_.may_divide && table_bytes(batch_.right) > static_cast<double>(budget_)) {
      divide();
      continue;
    }
    right_.start(batch_.right, false);
    return true;
  }
  return false;
}

void JoinBatches::divide() {
  Batch batch = batch_;
  size_t count = SpillPartitions::count_for(file_);
  depth_ = batch.depth;
  std::vector<Tape> right = divide(right_, batch.right, sides_.right, count);
  std::vector<Tape> left = divide(left_, batch.left, sides_.left, count);
  add_batches(left, right, batch.depth + 1, batch.right.rows);
}

std::vector<Tape> JoinBatches::divide(TapeReader& reader, const Tape& tape,
                                      const TapeColumns& layout, size_t count) {
  SpillPartitions parts(file_, layout, depth_, count);
  reader.start(tape, false);
  while (const Datum* row = reader.next()) {
    session_.maybe_yield();
    parts.append(hash_of(row), row);
  }
  reader.stop();
  return parts.finish();
}

}  // namespace pgsilo
