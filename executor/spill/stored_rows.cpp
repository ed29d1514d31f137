#include "executor/spill/stored_rows.h"

#include <algorithm>

#include "base/long_work.h"
#include "executor/spill/buffer_plan.h"

namespace pgsilo {

void StoredRows::append(const Datum* file, const ExecutionContext& session) {
  bool is_refused = false;
  if (has_room(session.work_budget())) [[likely]] {
    try {
      return latest_->append(file);
    } catch (const MemoryLimitReached&) {
      if (session.temporary_files == nullptr || latest_->size() == 0) throw;
      is_refused = true;
    }
  }
  spill(session, is_refused);
  latest_->append(file);
}

// Readers that stand still hold some of what was spilled. Then the latest rows have what is left of
// the budget, or else an eighth of it: so many readers take little more than one.
bool StoredRows::has_room(size_t budget) {
  if (latest_->bytes_taken() + held_bytes_ <= budget || latest_->size() == 0) return true;
  std::erase_if(held_, [](const Held& each) { return each.rows.expired(); });
  held_bytes_ = 0;
  for (const Held& each : held_) held_bytes_ += each.bytes;
  return latest_->bytes_taken() <= std::max(budget - std::min(budget, held_bytes_), budget / 8);
}

void StoredRows::spill(const ExecutionContext& session, bool is_refused) {
  size_t budget = session.work_budget();
  if (is_refused) budget = std::min(budget, refused_spill_budget);
  if (file_ == nullptr) file_ = std::make_shared<SpillFile>(*session.temporary_files, budget);
  TapeWriter writer(*file_, shape_.by_reference);
  WorkMeter meter;
  size_t row_bytes = latest_->bytes_taken() / latest_->size();
  for (size_t i = 0; i < latest_->size(); ++i) {
    writer.append((*latest_)[i]);
    meter.did(row_bytes);
  }
  parts_.push_back({spilled_, writer.finish()});
  spilled_ += latest_->size();
  release_latest();
}

// Who reads them still has his last row there.
void StoredRows::release_latest() {
  if (latest_.use_count() == 1) return latest_->clear();
  held_.push_back({latest_, latest_->bytes_taken()});
  held_bytes_ += held_.back().bytes;
  latest_ = std::make_shared<RowStore>(shape_);
}

void StoredRows::clear() {
  release_latest();
  if (file_ != nullptr && !parts_.empty()) file_->forget_tapes();
  parts_.clear();
  spilled_ = 0;
}

void StoredRows::close() {
  file_.reset();
  clear();
  held_.clear();
  held_bytes_ = 0;
}

void StoredRows::Reader::close_tape() {
  tape_.reset();
  file_.reset();
  tape_position_ = UINT64_MAX;
}

const Datum* StoredRows::Reader::next_spilled(const StoredRows& rows) {
  if (tape_position_ != position_ || tape_position_ == tape_end_ || file_ != rows.file_)
    find_position(rows);
  ++position_;
  ++tape_position_;
  return tape_->next();
}

void StoredRows::Reader::find_position(const StoredRows& rows) {
  if (file_ != rows.file_) {
    tape_.reset();
    file_ = rows.file_;
    tape_ = std::make_unique<TapeReader>(*file_, rows.shape_.by_reference);
  }
  tape_position_ = UINT64_MAX;
  auto part = std::upper_bound(rows.parts_.begin(), rows.parts_.end(), position_,
                               [](uint64_t at, const Part& each) { return at < each.first_row; });
  --part;
  tape_->start(part->tape, true);
  tape_->skip(position_ - part->first_row);
  tape_position_ = position_;
  tape_end_ = part->first_row + part->tape.rows;
}

}  // namespace pgsilo
