// Objects of one size class lie in slabs, slabs in chunks of the size of a huge page
// (docs/small_memory.md). A shard has chunks, and for each class a bin with its slabs; one thread
// usually takes from it, many may give back. Internal to base.
//
// Thread safety: all of it, any thread. A bin's latch protects its list of slabs and what their
// heads say but `shard` and `size_class`, which never change while an object is out; the chunks'
// latch protects the list of chunks and their heads. Neither is held within the other, nor across a
// system call or an allocation.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "base/chunk_source.h"
#include "base/size_class.h"
#include "base/spin_latch.h"

namespace pgsilo {

// A free object, linked through its first word.
struct FreeObject {
  FreeObject* next;
};

struct FreeList {
  FreeObject* first = nullptr;
  uint32_t count = 0;

  void push(void* object) {
    auto* freed = static_cast<FreeObject*>(object);
    freed->next = first;
    first = freed;
    ++count;
  }
  void* pop() {
    FreeObject* object = first;
    first = object->next;
    --count;
    return object;
  }
};

// All sizes in bytes, a moment's estimate.
struct SlabUsage {
  size_t chunks = 0;
  size_t free = 0;    // of them, in no object and no slab's head
  size_t purged = 0;  // of them, given back to the system already
  SlabUsage& operator+=(const SlabUsage& other);
};

class SlabShard {
 public:
  static constexpr size_t slab_bytes = size_t{64} << 10;
  static constexpr size_t chunk_bytes = ChunkSource::chunk_bytes;
  static constexpr unsigned slabs_of_chunk = chunk_bytes / slab_bytes;
  // A chunk of which so many slabs are free gives their pages back to the system, if it stays so
  // for a while: it is no huge page any more then.
  static constexpr unsigned purged_from = slabs_of_chunk / 2;

  constexpr SlabShard() = default;
  SlabShard(const SlabShard&) = delete;
  SlabShard& operator=(const SlabShard&) = delete;

  // Adds up to `count` objects to `list`: what the bin's slabs have.
  void take(SizeClass size_class, uint32_t count, FreeList& list);
  // One more slab for the bin: of a chunk that the shard has, or else, if `may_allocate`, of a new
  // one. False if there is none.
  [[nodiscard]] bool grow(SizeClass size_class, bool may_allocate);
  // Whether take() or grow() without allocating may succeed.
  bool has_objects(SizeClass size_class) const;
  bool has_slabs() const;

  // Where an object is from, and its class.
  static SlabShard& of(const void* object);
  static SizeClass size_class_of(const void* object);
  // All objects of the list, which are of this shard.
  void give(SizeClass size_class, FreeList list);

  SlabUsage usage() const;

 private:
  struct Slab;
  struct Chunk;
  struct alignas(64) Bin {
    SpinLatch latch;
    std::atomic<Slab*> partly_used{nullptr};  // whoever has not the latch only asks for null
    std::atomic<uint32_t> slabs{0};
    std::atomic<uint64_t> live{0};
  };

  static Slab* slab_of(const void* object);
  static bool give_one(Bin& bin, Slab* slab, void* object);
  Slab* take_slab();
  bool add_chunk();
  void give_back(Slab* slab);
  void add_free(Chunk* chunk, uint32_t slabs);
  void purge_slabs(Chunk* chunk, std::unique_lock<SpinLatch>& guard);
  void release(Chunk* chunk, std::unique_lock<SpinLatch>& guard);
  void count_purged(int difference);
  void link(Chunk* chunk);
  void unlink(Chunk* chunk);

  std::array<Bin, SizeClass::count> bins_;
  alignas(64) SpinLatch chunks_latch_;
  std::atomic<Chunk*> with_free_slabs_{nullptr};  // a list; whoever has not the latch asks for null
  // Those that became half empty last: they may be about to become empty.
  std::array<Chunk*, 4> to_purge_{};
  unsigned next_to_purge_ = 0;
  std::atomic<size_t> chunks_{0};
  std::atomic<size_t> purged_slabs_{0};
};

}  // namespace pgsilo
