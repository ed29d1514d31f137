#include "executor/spill/join_batches.h"

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
      right_(file_, sides.right) {}

void JoinBatches::end_right() {
  divided_right_ = dividing_->finish();
  dividing_ = std::make_unique<SpillPartitions>(file_, sides_.left, 0, count_);
}

// What can meet nobody is not written.
void JoinBatches::add_left(const Datum* row) {
  uint64_t hash = hash_of(row);
  if (!sides_.keeps_left && divided_right_[dividing_->number_of(hash)].rows == 0) return;
  dividing_->append(hash, row);
}

void JoinBatches::begin() {
  uint64_t rows = 0;
  for (const Tape& tape : divided_right_) rows += tape.rows;
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

bool JoinBatches::is_too_large(const Tape& right) const {
  return right.rows * sides_.right_row_bytes + right.bytes > budget_;
}

bool JoinBatches::next_batch() {
  while (!waiting_.empty()) {
    batch_ = waiting_.back();
    waiting_.pop_back();
    if (batch_.may_divide && is_too_large(batch_.right)) {
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
