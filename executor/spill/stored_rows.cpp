#include "executor/spill/stored_rows.h"

#include <algorithm>

namespace pgsilo {

void StoredRows::append(const Datum* file, const ExecutionContext& session) {
  bool is_refused = false;
  if (latest_->bytes_taken() <= session.work_budget() || latest_->size() == 0) [[likely]] {
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

// Who reads them still has his last row there.
void StoredRows::spill(const ExecutionContext& session, bool is_refused) {
  constexpr size_t refused_budget = size_t{512} << 10;
  size_t budget = session.work_budget();
  if (is_refused) budget = std::min(budget, refused_budget);
  if (file_ == nullptr) file_ = std::make_shared<SpillFile>(*session.temporary_files, budget);
  TapeWriter writer(*file_, shape_.by_reference);
  for (size_t i = 0; i < latest_->size(); ++i) writer.append((*latest_)[i]);
  parts_.push_back({spilled_, writer.finish()});
  spilled_ += latest_->size();
  if (latest_.use_count() == 1) {
    latest_->release();
  } else {
    latest_ = std::make_shared<RowStore>(shape_);
  }
}

void StoredRows::clear() {
  if (latest_.use_count() == 1) {
    latest_->release();
  } else {
    latest_ = std::make_shared<RowStore>(shape_);
  }
  parts_.clear();
  file_.reset();
  spilled_ = 0;
}

void StoredRows::Reader::close() {
  tape_.reset();
  file_.reset();
  held_.reset();
  position_ = 0;
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
