// All relations by id. Ids are given out ascending and never reused; recovery raises the floor
// above every id it met. Thread safety: find() is lock-free, by any thread under a pin (what it
// returns lives as long as the pin, dropped or not); the rest takes a mutex. Invariant: a dropped
// id is never found again.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "base/strong_id.h"
#include "storage/epoch/reclaimer.h"
#include "storage/relation/relation.h"

namespace pgsilo {

class RelationDirectory {
 public:
  RelationDirectory();
  // No transaction is open any more, and the reclaimer is gone or idle.
  ~RelationDirectory();
  RelationDirectory(const RelationDirectory&) = delete;
  RelationDirectory& operator=(const RelationDirectory&) = delete;

  // Null if there is none of that id.
  Relation* find(RelationId id) const;

  // A new relation under the next id. Transactions use Transaction::create_relation(), which makes
  // it private. Throws std::bad_alloc.
  Relation& create(RelationOptions options, bool is_private);
  // For recovery and bootstrap: the relation of a known id; raises the floor.
  Relation& get_or_create(RelationId id, RelationOptions options);
  // create() gives out only ids above `id`.
  void raise_id_floor(RelationId id);
  RelationId id_floor() const;

  // Takes the relation out of the directory. Its memory is freed in pieces by reclaim_dropped()
  // once no pin can reach it. Throws std::bad_alloc, and has done nothing then.
  void drop(RelationId id, ReclaimerHandle& handle);
  // Frees `records` records and a few of dropped relations; returns whether there is more to do.
  // Workers call it when idle.
  bool reclaim_dropped(size_t records, ReclaimerHandle& handle) {
    // Workers ask all the time; the list itself is guarded by the mutex.
    return has_freeable_.load(std::memory_order_relaxed) && reclaim_one(records, handle);
  }

  // A moment's list, private ones included, ascending by id. Valid under the caller's pin.
  std::vector<Relation*> list() const;

  // Relations dropped whose memory is not freed yet; for tests and monitoring.
  size_t dropped_count() const;

 private:
  // A radix tree over the id's 32 bits: nodes are created on the way to a new relation and stay.
  static constexpr int leaf_bits = 11;
  static constexpr int middle_bits = 11;
  static constexpr int top_bits = 32 - leaf_bits - middle_bits;
  struct Leaf {
    std::array<std::atomic<Relation*>, size_t{1} << leaf_bits> relations{};
  };
  struct Middle {
    std::array<std::atomic<Leaf*>, size_t{1} << middle_bits> leaves{};
  };
  struct Dropped;
  std::atomic<Relation*>& cell(RelationId id);
  Relation& create_locked(RelationId id, RelationOptions options, bool is_private);
  bool reclaim_one(size_t records, ReclaimerHandle& handle);
  static void became_unreachable(void* dropped);

  mutable std::mutex mutex_;  // creation, dropping, the members below
  uint32_t last_id_ = 0;
  std::array<std::atomic<Middle*>, size_t{1} << top_bits> top_{};
  std::map<RelationId, std::unique_ptr<Relation>> relations_;
  std::atomic<bool> has_freeable_{false};
  std::list<std::unique_ptr<Relation>> freeable_;  // unreachable, being freed in pieces
};

}  // namespace pgsilo
