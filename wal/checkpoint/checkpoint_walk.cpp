#include "wal/checkpoint/checkpoint_walk.h"

#include <cerrno>
#include <new>

#include "storage/index/scan_cursor.h"
#include "storage/record/record.h"
#include "storage/relation/relation_directory.h"

namespace pgsilo {
namespace {

// A row this long leaves its buffer behind.
constexpr size_t kept_buffer_bytes = size_t{1} << 20;

// About what planned_bytes() counts for it.
size_t bytes_in_memory(const Record& record, std::string_view row) {
  return sizeof(Record) + round_up_to_words(record.key().size()) + round_up_to_words(row.size());
}

}  // namespace

void CheckpointWalk::plan(ReclaimerHandle& handle) {
  Pin pin(handle);
  for (Relation* relation : relations_.list()) {
    if (!relation->logged()) continue;
    uint64_t bytes = relation->memory_bytes(MemoryKind::rows);
    planned_bytes_ += bytes;
    if (uint64_t floor = relation->row_id_floor(); floor != 0)
      row_ids_.push_back({relation->id(), floor});
    Range range{.relation = relation->id(), .lower = "", .upper = ""};
    for (std::string& key : relation->tree().separators(bytes / range_bytes)) {
      range.upper = key;
      ranges_.push_back(range);
      range.lower = std::move(key);
    }
    range.upper.clear();
    ranges_.push_back(std::move(range));
  }
}

bool CheckpointWalker::step() {
  if (!result_.ok()) return false;
  if (range_ == nullptr) {
    range_ = walk_.next_range();
    begun_ = false;
    if (range_ == nullptr) return false;
  }
  try {
    write_some();
  } catch (const std::bad_alloc&) {
    result_ = {FileStatus::failed, ENOMEM};
  }
  if (!result_.ok()) walk_.give_up();
  return result_.ok();
}

void CheckpointWalker::write_some() {
  fill_block();
  // Workers that sleep may have left memory to whoever holds the oldest pin: us.
  handle_.reclaim();
  if (block_.empty()) return;
  CheckpointFileWriter& file = *files_[turn_];
  turn_ = (turn_ + 1) % files_.size();
  result_ = file.append(block_);
}

// Ends with the range, when the block is full, or after many records without a row for it.
void CheckpointWalker::fill_block() {
  block_.begin(range_->relation, newest_encoding);
  uint64_t walked = 0;
  {
    Pin pin(handle_);
    // Dropped meanwhile: by a commit that is durable before the checkpoint counts.
    Relation* relation = walk_.relations().find(range_->relation);
    if (relation == nullptr) {
      range_ = nullptr;
      return;
    }
    block_.begin(range_->relation, relation->encoding());
    KeyRange keys;
    if (begun_) {
      keys.lower = KeyBound::exclusive(last_key_);
    } else if (!range_->lower.empty()) {
      keys.lower = KeyBound::inclusive(range_->lower);
    }
    if (!range_->upper.empty()) keys.upper = KeyBound::exclusive(range_->upper);
    ScanCursor cursor(relation->tree(), keys, ScanDirection::forward, nullptr);
    const Record* record = nullptr;
    for (int looked = 0; looked < most_records && !block_.full(); ++looked) {
      record = cursor.next();
      if (record == nullptr) break;
      if (collect(*record)) walked += bytes_in_memory(*record, row_.bytes());
    }
    if (record == nullptr) {
      range_ = nullptr;
    } else {
      last_key_ = record->key();
      begun_ = true;
    }
  }
  walk_.add(block_.records(), walked);
}

// Whether the record has a row from before the walk began.
bool CheckpointWalker::collect(const Record& record) {
  // These stay as they are for the walk: whoever changes the record now has an epoch of the walk.
  TidWord word = record.tid_word().load();
  if (word.is_absent() || word.tid() == Tid() || word.tid().epoch() >= walk_.begun()) return false;
  if (row_.capacity_bytes() > kept_buffer_bytes) {
    arena_.reset();
    row_ = RowBuffer(arena_);
  }
  word = record.stable_read(row_);
  if (word.is_absent() || word.is_obsolete() || word.tid().epoch() >= walk_.begun()) return false;
  block_.add(word.tid(), record.key(), row_.bytes());
  return true;
}

}  // namespace pgsilo
