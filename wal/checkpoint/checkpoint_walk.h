// The walk of a checkpoint: every row of every logged relation that is older than the epoch at
// which the walk begins, read beside running transactions, goes into blocks (docs/checkpoints.md).
//
// CheckpointWalk is what the walkers share: the key ranges that are left. A CheckpointWalker takes
// one after the other, and from each block to the next lets go of everything, so that it holds
// back memory for a block's time only.
//
// Thread safety: CheckpointWalk: any thread after plan(). A walker: its thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "base/arena.h"
#include "base/file.h"
#include "storage/epoch/epoch.h"
#include "storage/epoch/reclaimer.h"
#include "storage/record/row_buffer.h"
#include "wal/checkpoint/checkpoint_file.h"

namespace pgsilo {

class Record;
class RelationDirectory;

class CheckpointWalk {
 public:
  struct Range {
    RelationId relation;
    std::string lower;  // inclusive; empty: from the first key
    std::string upper;  // exclusive; empty: to the last key
  };

  CheckpointWalk(RelationDirectory& relations, Epoch begun)
      : relations_(relations), begun_(begun) {}

  // Cuts the relations that there are now into ranges. Every commit of an epoch before `begun` has
  // ended. Throws std::bad_alloc.
  void plan(ReclaimerHandle& handle);
  // Null: none is left.
  const Range* next_range() {
    size_t index = next_.fetch_add(1, std::memory_order_relaxed);
    return index < ranges_.size() ? &ranges_[index] : nullptr;
  }

  // A walker failed: the others need not go on.
  void give_up() { given_up_.store(true, std::memory_order_relaxed); }
  bool given_up() const { return given_up_.load(std::memory_order_relaxed); }

  RelationDirectory& relations() { return relations_; }
  Epoch begun() const { return begun_; }
  // What plan() found there to be, in memory; and how much of it has been walked: rows that are
  // left out do not count.
  uint64_t planned_bytes() const { return planned_bytes_; }
  uint64_t walked_bytes() const { return walked_bytes_.load(std::memory_order_relaxed); }
  uint64_t records() const { return records_.load(std::memory_order_relaxed); }
  void add(uint64_t records, uint64_t bytes) {
    records_.fetch_add(records, std::memory_order_relaxed);
    walked_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  }
  const std::vector<RowIdFloor>& row_ids() const { return row_ids_; }

 private:
  static constexpr uint64_t range_bytes = uint64_t{16} << 20;

  RelationDirectory& relations_;
  const Epoch begun_;
  std::vector<Range> ranges_;
  std::vector<RowIdFloor> row_ids_;
  uint64_t planned_bytes_ = 0;
  std::atomic<size_t> next_{0};
  std::atomic<bool> given_up_{false};
  std::atomic<uint64_t> walked_bytes_{0};
  std::atomic<uint64_t> records_{0};
};

class CheckpointWalker {
 public:
  // Its blocks go to `files` in turn.
  CheckpointWalker(CheckpointWalk& walk, Reclaimer& reclaimer,
                   std::vector<CheckpointFileWriter*> files)
      : walk_(walk), handle_(reclaimer), files_(std::move(files)) {}

  // Writes about a block. False: nothing is left, or it failed: then for good, for rows may be
  // missing.
  bool step();
  const FileResult& result() const { return result_; }

 private:
  // Records looked at under one pin.
  static constexpr int most_records = 20'000;

  void write_some();
  void fill_block();
  bool collect(const Record& record);

  CheckpointWalk& walk_;
  ReclaimerHandle handle_;
  const std::vector<CheckpointFileWriter*> files_;
  size_t turn_ = 0;
  const CheckpointWalk::Range* range_ = nullptr;
  std::string last_key_;  // of the range, walked already
  bool begun_ = false;    // whether there is one
  CheckpointBlockBuilder block_;
  Arena arena_;
  RowBuffer row_{arena_};
  FileResult result_;
};

}  // namespace pgsilo
