// Chunks of the size of a huge page, mapped from the system many at a time. What is given back
// keeps its pages while few do, and then loses them; the addresses stay. Not malloc's: jemalloc
// puts a page behind each large allocation, so that every second huge page's addresses were lost,
// and gives pages back by pieces. Internal to base (base/slab_shard.h). Thread safety: any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>

#include "base/spin_latch.h"

namespace pgsilo {

class ChunkSource {
 public:
  static constexpr size_t chunk_bytes = size_t{2} << 20;
  // So many at a time; one where there is no room for them.
  static constexpr size_t chunks_of_mapping = 32;
  // With pages stay at most so many and an eighth of as many as are in use.
  static constexpr size_t least_kept = 8;

  constexpr ChunkSource() = default;
  ChunkSource(const ChunkSource&) = delete;
  ChunkSource& operator=(const ChunkSource&) = delete;
  // Nobody uses it or one of its chunks any more; the one of the process stays for ever.
  ~ChunkSource();

  // Aligned to its size. Null: there is no memory, or there are no addresses.
  void* take();
  // `is_whole`: no page of it was given to the system, nor MADV_NOHUGEPAGE said; else it keeps
  // none.
  void give(void* chunk, bool is_whole);

  // Estimates of a moment.
  size_t in_use() const { return in_use_.load(std::memory_order_relaxed); }
  // Given back, and still with their pages.
  size_t kept() const { return kept_.load(std::memory_order_relaxed); }

 private:
  bool map(size_t chunks);
  void* take_free();

  std::mutex mapping_;  // of who maps; taken before the latch
  SpinLatch latch_;
  // Room for all chunks there are: from the left those with pages, from the right those without.
  void** free_ = nullptr;
  size_t capacity_ = 0;
  size_t chunks_ = 0;
  size_t without_pages_ = 0;
  std::atomic<size_t> kept_{0};
  std::atomic<size_t> in_use_{0};
};

// The process's. Made before any thread, and there until the process is gone.
ChunkSource& chunk_source();

}  // namespace pgsilo
