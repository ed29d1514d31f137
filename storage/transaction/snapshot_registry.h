// Which snapshots are open, and the old versions kept for them (docs/snapshots.md).
//
// A snapshot at boundary S reads what the commits of all epochs up to S have left, and nothing of
// later ones. While none is open nothing is kept: a commit pays for that with one load.
//
// Thread safety: any thread.
// Invariants
// - A commit of an epoch after S, for an open S, sees newest() >= S: open() publishes before it
// advances E, a commit looks after it has read E, all in the one total order of seq_cst operations.
// - oldest() is at most every open boundary; and if it was at least e at a moment when E was at
// least e, every snapshot opened since has a boundary of at least e.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "storage/epoch/epoch_manager.h"
#include "storage/transaction/old_versions.h"

namespace pgsilo {

class SnapshotRegistry {
 public:
  explicit SnapshotRegistry(EpochManager& epochs) : epochs_(epochs) {}
  ~SnapshotRegistry();  // none is open
  SnapshotRegistry(const SnapshotRegistry&) = delete;
  SnapshotRegistry& operator=(const SnapshotRegistry&) = delete;

  // A new boundary: no epoch that was acknowledged to anybody before the call is after it. It may
  // be read once is_complete(). Throws std::bad_alloc.
  Epoch open();
  void close(Epoch boundary);
  bool is_complete(Epoch boundary) { return epochs_.completed() >= boundary; }

  // For commits, after they have read E: a version that they replace may be needed if its epoch is
  // not after this one. Epoch(0): none is.
  Epoch newest() const { return Epoch(newest_.load(std::memory_order_seq_cst)); }
  // For those who take away what was deleted or dropped in some epoch: if that is not after this
  // one, no snapshot sees what was there before, nor will any.
  Epoch oldest() const { return Epoch(oldest_.load(std::memory_order_seq_cst)); }
  // For monitoring: a moment's number, and a moment's list, oldest first. The list looks at every
  // version that is kept; those that only closed snapshots saw are in no entry.
  size_t open_count() const;
  struct Entry {
    Epoch boundary;
    int64_t opened_us = 0;  // Unix time
    OldVersions::Kept kept;
  };
  std::vector<Entry> list() const;

  OldVersions& versions() { return versions_; }
  const OldVersions& versions() const { return versions_; }
  // A bounded piece of freeing what closed snapshots have left behind; true if it did something.
  // Throws std::bad_alloc.
  bool sweep(unsigned thread_index) {
    return unswept_.load(std::memory_order_relaxed) != 0 && sweep_shards(thread_index);
  }

 private:
  static constexpr uint64_t any = Tid::max_epoch;
  static constexpr size_t versions_per_sweep = 2048;  // and those of one more shard
  void publish_bounds();
  bool sweep_shards(unsigned thread_index);

  EpochManager& epochs_;
  // Read by every commit, written when a snapshot is opened or closed.
  alignas(64) std::atomic<uint64_t> newest_{0};
  std::atomic<uint64_t> oldest_{any};
  std::atomic<size_t> unswept_{0};  // shards; written under mutex_
  alignas(64) mutable std::mutex mutex_;
  // Open, ascending, and since when; guarded by mutex_.
  std::vector<Epoch> boundaries_;
  std::vector<int64_t> opened_us_;
  Epoch sweep_after_;  // guarded by mutex_
  OldVersions versions_;
};

}  // namespace pgsilo
