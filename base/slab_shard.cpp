#include "base/slab_shard.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <mutex>
#include <new>
#include <utility>

#include "base/check.h"

namespace pgsilo {

namespace {

constexpr size_t slab_head_bytes = 64;
// The first slab's also holds the chunk's head; all alike, so that objects of whole cache lines
// begin with one.
constexpr size_t objects_offset = 2 * slab_head_bytes;
constexpr uint32_t all_slabs = UINT32_MAX;
constexpr int least_purged = 4;  // slabs
static_assert(SlabShard::slabs_of_chunk == 32);

constexpr uint32_t capacity_of(SizeClass size_class) {
  return static_cast<uint32_t>((SlabShard::slab_bytes - objects_offset) / size_class.bytes());
}

// The whole pages between the two.
void purge(char* begin, char* end) {
  static const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  auto* first =
      reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(begin) + page - 1) / page * page);
  auto* last = reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(end) / page * page);
  if (first < last) madvise(first, static_cast<size_t>(last - first), MADV_DONTNEED);
}

}  // namespace

// At its first byte. On one list at most: of a bin's that have room.
struct SlabShard::Slab {
  Slab* next = nullptr;
  Slab* previous = nullptr;
  SlabShard* shard;
  FreeObject* free = nullptr;
  uint32_t fresh = objects_offset;  // from here on nothing was ever given out
  uint16_t live = 0;
  SizeClass size_class;

  Slab(SlabShard* shard_of, SizeClass class_of) : shard(shard_of), size_class(class_of) {}
  bool is_full() const { return live == capacity_of(size_class); }
  void* take_one();
};

// Behind the head of its first slab, which is never purged. Bit i of a mask is its slab i.
struct SlabShard::Chunk {
  Chunk* next = nullptr;
  Chunk* previous = nullptr;
  uint32_t free = all_slabs;  // but for those that are being purged
  uint32_t purged = 0;        // of them
  bool was_purged = false;    // ever: it is no huge page, and does not become one again
  bool is_queued = false;     // to be purged

  static Chunk* of(const Slab* slab) {
    return reinterpret_cast<Chunk*>((reinterpret_cast<uintptr_t>(slab) & ~(chunk_bytes - 1)) +
                                    slab_head_bytes);
  }
  // Those with pages, if they are many and most of the chunk is free; else none.
  uint32_t worth_purging() const {
    if (std::popcount(free) < static_cast<int>(purged_from)) return 0;
    uint32_t there = free & ~purged & ~uint32_t{1};  // the heads lie in the first
    return std::popcount(there) >= least_purged ? there : 0;
  }
  char* begin() { return reinterpret_cast<char*>(this) - slab_head_bytes; }
  char* slab(unsigned index) { return begin() + index * slab_bytes; }
  unsigned index_of(const Slab* slab) {
    return static_cast<unsigned>((reinterpret_cast<const char*>(slab) - begin()) / slab_bytes);
  }
};

SlabUsage& SlabUsage::operator+=(const SlabUsage& other) {
  chunks += other.chunks;
  free += other.free;
  purged += other.purged;
  return *this;
}

void* SlabShard::Slab::take_one() {
  ++live;
  if (free != nullptr) {
    FreeObject* object = free;
    free = object->next;
    return object;
  }
  void* object = reinterpret_cast<char*>(this) + fresh;
  fresh += static_cast<uint32_t>(size_class.bytes());
  return object;
}

SlabShard::Slab* SlabShard::slab_of(const void* object) {
  return reinterpret_cast<Slab*>(reinterpret_cast<uintptr_t>(object) & ~(slab_bytes - 1));
}

SlabShard& SlabShard::of(const void* object) { return *slab_of(object)->shard; }

SizeClass SlabShard::size_class_of(const void* object) { return slab_of(object)->size_class; }

// Last first, so that they lie on the list by ascending address where the slab is new.
void SlabShard::take(SizeClass size_class, uint32_t count, FreeList& list) {
  Bin& bin = bins_[size_class.index()];
  std::array<void*, 64> taken;
  PGSILO_DCHECK(count <= taken.size());
  uint32_t got = 0;
  {
    std::lock_guard guard(bin.latch);
    while (got < count) {
      Slab* slab = bin.partly_used.load(std::memory_order_relaxed);
      if (slab == nullptr) break;
      while (got < count && !slab->is_full()) taken[got++] = slab->take_one();
      if (!slab->is_full()) break;
      bin.partly_used.store(slab->next, std::memory_order_relaxed);
      if (slab->next != nullptr) slab->next->previous = nullptr;
      slab->next = nullptr;
    }
    bin.live.store(bin.live.load(std::memory_order_relaxed) + got, std::memory_order_relaxed);
  }
  while (got > 0) list.push(taken[--got]);
}

bool SlabShard::grow(SizeClass size_class, bool may_allocate) {
  Slab* memory = take_slab();
  while (memory == nullptr) {
    if (!may_allocate || !add_chunk()) return false;
    memory = take_slab();
  }
  auto* slab = new (memory) Slab(this, size_class);
  Bin& bin = bins_[size_class.index()];
  std::lock_guard guard(bin.latch);
  slab->next = bin.partly_used.load(std::memory_order_relaxed);
  if (slab->next != nullptr) slab->next->previous = slab;
  bin.partly_used.store(slab, std::memory_order_relaxed);
  bin.slabs.store(bin.slabs.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  return true;
}

bool SlabShard::has_objects(SizeClass size_class) const {
  return bins_[size_class.index()].partly_used.load(std::memory_order_relaxed) != nullptr;
}

bool SlabShard::has_slabs() const {
  return with_free_slabs_.load(std::memory_order_relaxed) != nullptr;
}

// True: the slab is empty, and in no list of the bin any more.
bool SlabShard::give_one(Bin& bin, Slab* slab, void* object) {
  bool was_full = slab->is_full();
  auto* freed = static_cast<FreeObject*>(object);
  freed->next = slab->free;
  slab->free = freed;
  Slab* first = bin.partly_used.load(std::memory_order_relaxed);
  if (--slab->live > 0) {
    if (!was_full) return false;
    slab->next = first;
    if (first != nullptr) first->previous = slab;
    bin.partly_used.store(slab, std::memory_order_relaxed);
    return false;
  }
  if (was_full) return true;  // a slab of one object
  if (slab == first) bin.partly_used.store(slab->next, std::memory_order_relaxed);
  if (slab->previous != nullptr) slab->previous->next = slab->next;
  if (slab->next != nullptr) slab->next->previous = slab->previous;
  return true;
}

void SlabShard::give(SizeClass size_class, FreeList list) {
  Bin& bin = bins_[size_class.index()];
  Slab* empty = nullptr;
  {
    std::lock_guard guard(bin.latch);
    uint32_t emptied = 0;
    uint64_t live = bin.live.load(std::memory_order_relaxed) - list.count;
    while (list.count > 0) {
      void* object = list.pop();
      Slab* slab = slab_of(object);
      PGSILO_CHECK(slab->shard == this && slab->size_class == size_class && slab->live > 0);
      if (!give_one(bin, slab, object)) continue;
      slab->next = empty;
      empty = slab;
      ++emptied;
    }
    bin.live.store(live, std::memory_order_relaxed);
    bin.slabs.store(bin.slabs.load(std::memory_order_relaxed) - emptied, std::memory_order_relaxed);
  }
  while (empty != nullptr) {
    Slab* next = empty->next;
    give_back(empty);
    empty = next;
  }
}

// Of the chunk whose slab was given back last; one whose pages are still there if it has one.
SlabShard::Slab* SlabShard::take_slab() {
  std::lock_guard guard(chunks_latch_);
  Chunk* chunk = with_free_slabs_.load(std::memory_order_relaxed);
  if (chunk == nullptr) return nullptr;
  uint32_t there = chunk->free & ~chunk->purged;
  auto index = static_cast<unsigned>(std::countr_zero(there != 0 ? there : chunk->free));
  uint32_t bit = uint32_t{1} << index;
  if ((chunk->purged & bit) != 0) {
    chunk->purged &= ~bit;
    count_purged(-1);
  }
  chunk->free &= ~bit;
  if (chunk->free == 0) unlink(chunk);
  return reinterpret_cast<Slab*>(chunk->slab(index));
}

bool SlabShard::add_chunk() {
  void* memory = chunk_source().take();
  if (memory == nullptr) return false;
  auto* chunk = new (static_cast<char*>(memory) + slab_head_bytes) Chunk;
  std::lock_guard guard(chunks_latch_);
  link(chunk);
  chunks_.store(chunks_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  return true;
}

void SlabShard::give_back(Slab* slab) {
  Chunk* chunk = Chunk::of(slab);
  std::unique_lock guard(chunks_latch_);
  add_free(chunk, uint32_t{1} << chunk->index_of(slab));
  if (chunk->free == all_slabs) {
    release(chunk, guard);
    return;
  }
  if (chunk->is_queued || chunk->worth_purging() == 0) return;
  chunk->is_queued = true;
  Chunk* oldest = std::exchange(to_purge_[next_to_purge_], chunk);
  next_to_purge_ = (next_to_purge_ + 1) % to_purge_.size();
  if (oldest == nullptr) return;
  oldest->is_queued = false;
  purge_slabs(oldest, guard);
}

// Where it still looks as it did when it was queued: most that were about to become empty are gone.
void SlabShard::purge_slabs(Chunk* chunk, std::unique_lock<SpinLatch>& guard) {
  uint32_t slabs = chunk->worth_purging();
  if (slabs == 0) return;
  chunk->free &= ~slabs;  // so that nobody takes them, or frees the chunk
  if (chunk->free == 0) unlink(chunk);
  const bool is_first = !std::exchange(chunk->was_purged, true);
  guard.unlock();
  // Else the kernel soon makes a huge page of it again, all of it resident. EINVAL: it has none.
  const bool purges =
      !is_first || madvise(chunk->begin(), chunk_bytes, MADV_NOHUGEPAGE) == 0 || errno == EINVAL;
  for (uint32_t left = purges ? slabs : 0; left != 0;) {
    auto first = static_cast<unsigned>(std::countr_zero(left));
    auto run = static_cast<unsigned>(std::countr_one(left >> first));
    purge(chunk->slab(first), chunk->slab(first) + run * slab_bytes);
    left &= left + (uint32_t{1} << first);
  }
  guard.lock();
  if (purges) {
    chunk->purged |= slabs;
    count_purged(std::popcount(slabs));
  } else {
    chunk->was_purged = false;
  }
  add_free(chunk, slabs);
  if (chunk->free == all_slabs) release(chunk, guard);
}

void SlabShard::add_free(Chunk* chunk, uint32_t slabs) {
  if (chunk->free == 0) link(chunk);
  chunk->free |= slabs;
}

void SlabShard::release(Chunk* chunk, std::unique_lock<SpinLatch>& guard) {
  unlink(chunk);
  if (chunk->is_queued) *std::ranges::find(to_purge_, chunk) = nullptr;
  count_purged(-std::popcount(chunk->purged));
  chunks_.store(chunks_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
  guard.unlock();
  chunk_source().give(chunk->begin(), !chunk->was_purged);
}

void SlabShard::count_purged(int difference) {
  purged_slabs_.store(
      purged_slabs_.load(std::memory_order_relaxed) + static_cast<size_t>(difference),
      std::memory_order_relaxed);
}

void SlabShard::link(Chunk* chunk) {
  chunk->previous = nullptr;
  chunk->next = with_free_slabs_.load(std::memory_order_relaxed);
  if (chunk->next != nullptr) chunk->next->previous = chunk;
  with_free_slabs_.store(chunk, std::memory_order_relaxed);
}

void SlabShard::unlink(Chunk* chunk) {
  if (chunk->previous != nullptr) {
    chunk->previous->next = chunk->next;
  } else {
    with_free_slabs_.store(chunk->next, std::memory_order_relaxed);
  }
  if (chunk->next != nullptr) chunk->next->previous = chunk->previous;
}

SlabUsage SlabShard::usage() const {
  SlabUsage usage;
  if (chunks_.load(std::memory_order_relaxed) == 0) return usage;
  usage.chunks = chunks_.load(std::memory_order_relaxed) * chunk_bytes;
  usage.purged = purged_slabs_.load(std::memory_order_relaxed) * slab_bytes;
  size_t used = 0;
  for (unsigned i = 0; i < SizeClass::count; ++i) {
    SizeClass size_class(i);
    size_t unusable = slab_bytes - capacity_of(size_class) * size_class.bytes();
    used += bins_[i].slabs.load(std::memory_order_relaxed) * unusable +
            bins_[i].live.load(std::memory_order_relaxed) * size_class.bytes();
  }
  usage.free = usage.chunks - std::min(usage.chunks, used);
  return usage;
}

}  // namespace pgsilo
