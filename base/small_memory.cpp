#include "base/small_memory.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <new>
#include <utility>

#include "base/check.h"
#include "base/sanitizers.h"
#include "base/size_class.h"
#include "base/spin_latch.h"

namespace pgsilo {

namespace {

// Where it is watched who uses what: malloc's, unless a test wants these as they are elsewhere.
#if defined(PGSILO_ASAN) || defined(PGSILO_TSAN) || defined(PGSILO_COUNTS_ACCESSES)
bool is_own() {
  static const bool asked_for = std::getenv("PGSILO_OWN_SMALL_MEMORY") != nullptr;
  return asked_for;
}
#else
constexpr bool is_own() { return true; }
#endif

constexpr unsigned most_shards = 256;

// Made before any thread and never destroyed: threads may free until the process is gone.
constinit std::array<SlabShard, most_shards> shards;
constinit SpinLatch seats_latch;
constinit std::array<std::atomic<unsigned>, most_shards> seats;  // threads of each shard
constinit std::atomic<unsigned> used_shards{0};                  // the first so many

// What a thread moves between its list and a shard at a time: its list has twice that at most.
constexpr uint32_t batch_of(SizeClass size_class) {
  return static_cast<uint32_t>(std::clamp<size_t>(4096 / size_class.bytes(), 2, 32));
}

constexpr auto most_at_hand = [] {
  std::array<uint32_t, SizeClass::count> most{};
  for (unsigned i = 0; i < SizeClass::count; ++i) most[i] = 2 * batch_of(SizeClass(i));
  return most;
}();

// Of a thread. Null shard: the thread has not begun to use it, or has ended.
struct AtHand {
  std::array<FreeList, SizeClass::count> lists;
  SlabShard* shard = nullptr;
};
constinit thread_local AtHand at_hand;

unsigned take_seat() {
  std::lock_guard guard(seats_latch);
  auto least = std::ranges::min_element(seats, {}, [](const std::atomic<unsigned>& threads) {
    return threads.load(std::memory_order_relaxed);
  });
  auto index = static_cast<unsigned>(least - seats.begin());
  least->fetch_add(1, std::memory_order_relaxed);
  if (index >= used_shards.load(std::memory_order_relaxed))
    used_shards.store(index + 1, std::memory_order_relaxed);
  return index;
}

// Lets a thread's shard and what it has at hand go when the thread ends.
class Seat {
 public:
  Seat() : index_(take_seat()) { at_hand.shard = &shards[index_]; }
  Seat(const Seat&) = delete;
  Seat& operator=(const Seat&) = delete;
  ~Seat() { leave(); }
  void leave() {
    give_back_small_memory();
    if (std::exchange(at_hand.shard, nullptr) != nullptr)
      seats[index_].fetch_sub(1, std::memory_order_relaxed);
  }

 private:
  const unsigned index_;
};

// Where shards without threads have what is asked for, it is taken from them first: else rows that
// were recovered by threads that have ended would leave holes that nobody fills.
template <typename Takes>
bool take_from_deserted(Takes takes) {
  for (unsigned i = 0, end = used_shards.load(std::memory_order_relaxed); i < end; ++i) {
    if (seats[i].load(std::memory_order_relaxed) == 0 && takes(shards[i])) return true;
  }
  return false;
}

bool take_ready(SlabShard& shard, SizeClass size_class, uint32_t count, FreeList& list) {
  if (shard.has_objects(size_class)) shard.take(size_class, count, list);
  return list.count > 0;
}

bool take_grown(SlabShard& shard, SizeClass size_class, uint32_t count, FreeList& list,
                bool may_allocate) {
  while (may_allocate || shard.has_slabs()) {
    if (!shard.grow(size_class, may_allocate)) return false;
    // Others may have been quicker.
    if (take_ready(shard, size_class, count, list)) return true;
  }
  return false;
}

// At least one object, or std::bad_alloc.
void refill(SlabShard& own, SizeClass size_class, uint32_t count, FreeList& list) {
  auto ready = [&](SlabShard& shard) { return take_ready(shard, size_class, count, list); };
  auto grown = [&](SlabShard& shard) { return take_grown(shard, size_class, count, list, false); };
  if (ready(own) || take_from_deserted(ready) || grown(own) || take_from_deserted(grown)) return;
  if (!take_grown(own, size_class, count, list, true)) throw std::bad_alloc();
}

// Those of one shard together, which most are.
void give_all(SizeClass size_class, FreeList list) {
  while (list.count > 0) {
    SlabShard& shard = SlabShard::of(list.first);
    FreeList same, others;
    while (list.count > 0) {
      void* object = list.pop();
      (&SlabShard::of(object) == &shard ? same : others).push(object);
    }
    shard.give(size_class, same);
    list = others;
  }
}

Seat& own_seat() {
  thread_local Seat seat;
  return seat;
}

// The calling thread's, or null: it has left, and keeps nothing at hand any more.
SlabShard* own_shard() {
  own_seat();
  return at_hand.shard;
}

[[gnu::noinline]] void* allocate_from_shard(SizeClass size_class) {
  FreeList& list = at_hand.lists[size_class.index()];
  SlabShard* own = own_shard();
  uint32_t count = own != nullptr ? batch_of(size_class) : 1;
  refill(own != nullptr ? *own : shards[0], size_class, count, list);
  return list.pop();
}

[[gnu::noinline]] void free_to_shard(SizeClass size_class, void* memory) {
  FreeList& list = at_hand.lists[size_class.index()];
  uint32_t kept = own_shard() != nullptr ? batch_of(size_class) : 0;
  list.push(memory);
  FreeList given;
  while (list.count > kept) given.push(list.pop());
  give_all(size_class, given);
}

void free_at_hand(SizeClass size_class, void* memory) {
  FreeList& list = at_hand.lists[size_class.index()];
  if (at_hand.shard == nullptr || list.count == most_at_hand[size_class.index()]) [[unlikely]] {
    free_to_shard(size_class, memory);
  } else {
    list.push(memory);
  }
}

bool is_small(size_t bytes) { return is_own() && bytes <= SizeClass::largest_bytes; }

void* allocate_long(size_t bytes) {
  void* memory = bytes % 64 == 0 ? std::aligned_alloc(64, bytes) : std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* allocate_small(size_t bytes) {
  PGSILO_DCHECK(bytes > 0);
  if (!is_small(bytes)) return allocate_long(bytes);
  SizeClass size_class = SizeClass::of(bytes);
  FreeList& list = at_hand.lists[size_class.index()];
  if (list.count == 0) [[unlikely]]
    return allocate_from_shard(size_class);
  return list.pop();
}

void free_small(void* memory, size_t bytes) {
  if (is_small(bytes)) {
    free_at_hand(SizeClass::of(bytes), memory);
  } else {
    std::free(memory);
  }
}

SmallMemoryDeleter small_memory_deleter(size_t bytes) {
  if (!is_small(bytes)) return std::free;
  return [](void* memory) { free_at_hand(SlabShard::size_class_of(memory), memory); };
}

SlabUsage small_memory_usage() {
  SlabUsage usage;
  for (unsigned i = 0, end = used_shards.load(std::memory_order_relaxed); i < end; ++i)
    usage += shards[i].usage();
  return usage;
}

void begin_small_memory() { own_seat(); }

void leave_small_memory() { own_seat().leave(); }

void give_back_small_memory() {
  for (unsigned i = 0; i < SizeClass::count; ++i)
    give_all(SizeClass(i), std::exchange(at_hand.lists[i], {}));
}

}  // namespace pgsilo
