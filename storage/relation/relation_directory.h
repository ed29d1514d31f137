// All relations by id. Ids are given out ascending and never reused; recovery raises the floor above every id it met.
// Thread safety: find() is lock-free, by any thread under a pin (what it returns lives as long as the pin, dropped or not);
// the rest takes a mutex.
// Invariant: a dropped id is never found again.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/strong_id.h"
#include "storage/epoch/reclaimer.h"
#include "storage/relation/relation.h"

namespace pgsilo {

class RelationDirectory {
 public:
  explicit RelationDirectory(Reclaimer& reclaimer);
  // No transaction is open any more.
  ~RelationDirectory();
  RelationDirectory(const RelationDirectory&) = delete;
  RelationDirectory& operator=(const RelationDirectory&) = delete;

  // Null if there is none of that id.
  Relation* find(RelationId id) const;

  // A new relation under the next id. Transactions use Transaction::create_relation(), which makes it private. Throws
  // std::bad_alloc.
  Relation& create(RelationOptions options, bool is_private, ReclaimerHandle& handle);
  // For recovery and bootstrap: the relation of a known id; raises the floor.
  Relation& get_or_create(RelationId id, RelationOptions options, ReclaimerHandle& handle);
  // create() gives out only ids above `id`.
  void raise_id_floor(RelationId id);
  RelationId id_floor() const;

  // Takes the relation out of the directory. Its memory is freed in pieces by reclaim_dropped() once no pin can reach it.
  void drop(RelationId id, ReclaimerHandle& handle);
  // Frees up to `records` records of dropped relations; returns whether there is more to do. Workers call it when idle.
  bool reclaim_dropped(size_t records, ReclaimerHandle& handle);

  // A moment's list, private ones included, ascending by id. Valid under the caller's pin.
  std::vector<Relation*> list() const;

  static constexpr uint32_t max_relations = uint32_t{1} << 24;

 private:
  static constexpr size_t chunk_size = 4096;
  struct Chunk {
    std::array<std::atomic<Relation*>, chunk_size> relations{};
  };
  struct Dropped {
    std::unique_ptr<Relation> relation;
    RelationDirectory* directory;
  };
  std::atomic<Relation*>& cell(RelationId id);
  static void unreachable(void* dropped);

  Reclaimer& reclaimer_;
  mutable std::mutex mutex_;  // creation, dropping, the lists below
  uint32_t last_id_ = 0;
  std::array<std::atomic<Chunk*>, max_relations / chunk_size> chunks_{};
  std::vector<std::unique_ptr<Chunk>> owned_chunks_;
  std::vector<std::unique_ptr<Relation>> freeable_;  // unreachable, being freed in pieces
};

}  // namespace pgsilo
