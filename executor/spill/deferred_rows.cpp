#include "executor/spill/deferred_rows.h"

namespace pgsilo {

void DeferredRows::clear() {
  reader_.reset();
  partitions_.reset();
  waiting_.clear();
  file_.reset();
  depth_ = 0;
}

void DeferredRows::append(const Datum* row, size_t budget) {
  if (file_ == nullptr) file_ = std::make_unique<SpillFile>(*session_.temporary_files, budget);
  if (partitions_ == nullptr) {
    partitions_ = std::make_unique<SpillPartitions>(*file_, layout_, depth_,
                                                    SpillPartitions::count_for(*file_));
  }
  partitions_->append(static_cast<uint64_t>(row[0].i64), row);
}

void DeferredRows::end_pass() {
  if (partitions_ == nullptr) return;
  for (const Tape& tape : partitions_->finish()) {
    if (tape.rows != 0) waiting_.push_back({tape, depth_ + 1});
  }
  partitions_.reset();
}

bool DeferredRows::begin_pass() {
  if (waiting_.empty()) return false;
  Waiting next = waiting_.back();
  waiting_.pop_back();
  depth_ = next.depth;
  if (reader_ == nullptr) reader_ = std::make_unique<TapeReader>(*file_, layout_);
  reader_->start(next.tape, false);
  return true;
}

const Datum* DeferredRows::next() {
  session_.maybe_yield();
  return reader_->next();
}

}  // namespace pgsilo
