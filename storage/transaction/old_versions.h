// Rows that were replaced while a snapshot that reads them is open, found by record and boundary
// (docs/snapshots.md). Empty while no snapshot is open, so records carry nothing for it: a hash
// table beside the trees.
//
// A version says for which boundaries it is the one to read: those from the epoch that wrote it to
// before the epoch that replaced it. So a record of which no version covers a boundary had no row
// then, and what is left of a record that has gone misleads nobody: its versions cover no boundary
// that could still meet its address.
//
// Thread safety: any thread. Who adds holds the record's lock bit; a version that covers a live
// boundary stays, so a reader needs no latch to use what find() gave it. Lock order:
// docs/lock_order.md.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/spin_latch.h"
#include "storage/epoch/epoch.h"
#include "storage/record/memory_account.h"
#include "storage/record/tid_word.h"

namespace pgsilo {

class Record;

struct OldVersion {
  OldVersion* next = nullptr;
  const Record* record = nullptr;
  Tid tid;
  Epoch replaced_in;
  size_t row_bytes = 0;
  size_t capacity = 0;

  bool covers(Epoch boundary) const { return tid.epoch() <= boundary && boundary < replaced_in; }
  char* bytes() { return reinterpret_cast<char*>(this + 1); }
  std::string_view row() const { return {reinterpret_cast<const char*>(this + 1), row_bytes}; }
};

class OldVersions {
 public:
  OldVersions();
  ~OldVersions();  // frees what is left
  OldVersions(const OldVersions&) = delete;
  OldVersions& operator=(const OldVersions&) = delete;

  // Room for a version of `record` whose row has up to `capacity` bytes. No lock may be held (I3).
  // Throws std::bad_alloc. `thread_index`: of the caller's ReclaimerHandle.
  OldVersion* create(const Record* record, size_t capacity, unsigned thread_index);
  // Of one that was not added.
  void destroy(OldVersion* version, unsigned thread_index);
  // Before the record's new version is installed. Allocates nothing.
  void add(OldVersion* version);

  // The version of `record` for `boundary`, which is live; null: the key had no row then.
  const OldVersion* find(const Record* record, Epoch boundary) const;

  // Frees the versions of one shard that were replaced up to epoch `until` and cover none of
  // `boundaries`.
  void sweep(size_t shard, Epoch until, std::span<const Epoch> boundaries, unsigned thread_index);

  // A moment's estimates: of all, of one shard.
  size_t count() const;
  size_t count(size_t shard) const {
    return shards_[shard].versions.load(std::memory_order_relaxed);
  }
  size_t bytes() const { return account_.bytes(); }
  // What is kept for each of `boundaries`, for monitoring: looks at every version. A version that
  // several of them cover counts for each.
  struct Kept {
    size_t versions = 0;
    size_t bytes = 0;
  };
  std::vector<Kept> kept_for(std::span<const Epoch> boundaries) const;

  static constexpr size_t shard_count = 1024;

 private:
  // A hash table of its own: `single` is the only bucket until there are a few versions.
  struct alignas(64) Shard {
    mutable SpinLatch latch;          // guards everything else
    std::atomic<size_t> versions{0};  // written under the latch
    std::atomic<size_t> buckets{1};   // a power of two; written under the latch
    OldVersion* single = nullptr;
    std::unique_ptr<OldVersion*[]> many;  // null: there is `single`

    OldVersion*& bucket(uint64_t hash);
  };
  static uint64_t hash_of(const Record* record);
  Shard& shard_of(uint64_t hash) const { return shards_[hash % shard_count]; }
  static bool is_crowded(const Shard& shard);
  static void grow(Shard& shard);
  static void shrink(Shard& shard);
  static OldVersion* take_needless(Shard& shard, size_t bucket, Epoch until,
                                   std::span<const Epoch> boundaries);

  std::unique_ptr<Shard[]> shards_;
  MemoryAccount account_;
};

}  // namespace pgsilo
