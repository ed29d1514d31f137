#include "base/chunk_source.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <mutex>
#include <new>
#include <utility>

namespace pgsilo {

namespace {

// Aligned to a chunk; null if there is no room.
char* map_aligned(size_t bytes) {
  size_t more = bytes + ChunkSource::chunk_bytes;
  void* mapped = mmap(nullptr, more, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  auto* begin = static_cast<char*>(mapped);
  size_t before = -reinterpret_cast<uintptr_t>(begin) % ChunkSource::chunk_bytes;
  if (before > 0) munmap(begin, before);
  munmap(begin + before + bytes, ChunkSource::chunk_bytes - before);
  madvise(begin + before, bytes, MADV_HUGEPAGE);  // where the system has none, it has none
  return begin + before;
}

// Never destroyed.
union Forever {
  ChunkSource source;
  constexpr Forever() : source() {}
  ~Forever() {}
};
constinit Forever process_chunks;

}  // namespace

ChunkSource& chunk_source() { return process_chunks.source; }

void* ChunkSource::take() {
  if (void* chunk = take_free()) return chunk;
  std::lock_guard guard(mapping_);
  for (;;) {
    if (void* chunk = take_free()) return chunk;
    if (!map(chunks_of_mapping) && !map(1)) return nullptr;
  }
}

void* ChunkSource::take_free() {
  std::lock_guard guard(latch_);
  size_t kept = kept_.load(std::memory_order_relaxed);
  void* chunk = nullptr;
  if (kept > 0) {
    chunk = free_[--kept];
    kept_.store(kept, std::memory_order_relaxed);
  } else if (without_pages_ > 0) {
    chunk = free_[capacity_ - without_pages_--];
  } else {
    return nullptr;
  }
  in_use_.store(in_use_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  return chunk;
}

// As fewer are in use fewer are kept, one less at a time.
void ChunkSource::give(void* chunk, bool is_whole) {
  std::array<void*, 2> emptied;
  size_t count = 0;
  std::unique_lock guard(latch_);
  size_t kept = kept_.load(std::memory_order_relaxed);
  size_t in_use = in_use_.load(std::memory_order_relaxed) - 1;
  in_use_.store(in_use, std::memory_order_relaxed);
  const size_t most = least_kept + in_use / 8;
  if (is_whole && kept < most)
    free_[kept++] = chunk;
  else
    emptied[count++] = chunk;
  if (kept > most) emptied[count++] = free_[--kept];
  kept_.store(kept, std::memory_order_relaxed);
  guard.unlock();
  for (size_t i = 0; i < count; ++i) madvise(emptied[i], chunk_bytes, MADV_DONTNEED);
  if (!is_whole) madvise(chunk, chunk_bytes, MADV_HUGEPAGE);
  guard.lock();
  for (size_t i = 0; i < count; ++i) free_[capacity_ - ++without_pages_] = emptied[i];
}

// False: there is no memory, or there are no addresses. Only this changes the room.
bool ChunkSource::map(size_t chunks) {
  size_t capacity = chunks_ + chunks <= capacity_ ? capacity_ : 2 * (chunks_ + chunks);
  auto* room = capacity > capacity_ ? new (std::nothrow) void*[capacity] : free_;
  if (room == nullptr) return false;
  char* mapped = map_aligned(chunks * chunk_bytes);
  if (mapped != nullptr) {
    std::lock_guard guard(latch_);
    if (room != free_) {
      std::copy_n(free_, kept_.load(std::memory_order_relaxed), room);
      std::copy_n(free_ + capacity_ - without_pages_, without_pages_,
                  room + capacity - without_pages_);
      std::swap(free_, room);
      capacity_ = capacity;
    }
    chunks_ += chunks;
    // By ascending address, as they are taken.
    for (size_t i = chunks; i-- > 0;)
      free_[capacity_ - ++without_pages_] = mapped + i * chunk_bytes;
  }
  if (room != free_) delete[] room;
  return mapped != nullptr;
}

ChunkSource::~ChunkSource() {
  for (size_t i = 0; i < kept_; ++i) munmap(free_[i], chunk_bytes);
  for (size_t i = 0; i < without_pages_; ++i) munmap(free_[capacity_ - 1 - i], chunk_bytes);
  delete[] free_;
}

}  // namespace pgsilo
