// The clock that protects memory (engine.md items 3 and I5): what was unlinked from a shared
// structure is freed once nobody who could still hold a pointer to it remains. It is apart from the
// epochs of commit, so that a transaction that stays open for hours holds back memory but never a
// commit or a sync.
//
// Use
// - Each thread that touches shared structures owns a ReclaimerHandle.
// - Whoever follows shared pointers holds a Pin: one for every open transaction, one for a slice of
// a worker's loop that
//   touches shared structures outside any transaction. A Pin costs one store to the thread's own
//   line when the thread had none, and nothing shared otherwise.
// - Who unlinks an object calls handle.retire(object, deleter, bytes) after the unlink (and after
// unlocking).
// - Workers call handle.reclaim() between requests. Nothing else frees anything; no thread is
// started.
//
// What must wait for durability too (absent records are unhooked only when D reached their epoch)
// is queued by the transaction layer, which knows the conditions (D, live snapshots, the record's
// TID) and the key; it calls retire() after the unhook. There is no deferred-work queue here.
//
// Thread safety: Reclaimer: any thread. ReclaimerHandle and its Pins: the thread that owns the
// handle (fibers of one worker share their worker's handle).
//
// How it works. A generation counter G moves on whenever a thread closes a batch of retired
// objects: the batch is stamped with the G that its closing fetch_add left behind. A pin announces
// a G read when it began. A batch stamped s is freed once every announced generation is > s.
// - A pin that announces g > s read a G written by the closing fetch_add or by a later
// read-modify-write in its release
//   sequence: the unlink happens-before the pin, so the pin cannot reach the object.
// - A pin that began earlier announces g <= s, or announces after the scan looked: then its second
// read of G, which
//   follows the announcement in the seq_cst order, sees the closing fetch_add, and again the unlink
//   happens-before it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "base/append.h"
#include "base/check.h"
#include "base/strong_id.h"

namespace pgsilo {

using Generation = StrongId<struct GenerationTag, uint64_t>;

class Pin;
class ReclaimerHandle;

class Reclaimer {
 public:
  using Deleter = void (*)(void* object);

  Reclaimer() = default;
  // Every handle is gone; frees what they left behind.
  ~Reclaimer();
  Reclaimer(const Reclaimer&) = delete;
  Reclaimer& operator=(const Reclaimer&) = delete;

  Generation current() const { return Generation(generation_.load(std::memory_order_relaxed)); }
  // The generation of the oldest pin of all threads, or current() when there is none. Compare with
  // Pin::generation() to find who holds memory back.
  Generation oldest_pin() const;
  // Bytes retired and not yet freed, over all handles; a moment's estimate.
  size_t pending_bytes() const;

 private:
  friend class Pin;
  friend class ReclaimerHandle;
  static constexpr uint64_t idle = UINT64_MAX;
  struct Retired {
    void* object;
    Deleter deleter;
    size_t bytes;
  };
  struct Batch {
    uint64_t stamp;
    std::vector<Retired> objects;
    size_t bytes() const;
  };
  struct alignas(64) Cell {
    std::atomic<uint64_t> announced{idle};
    std::atomic<size_t> pending_bytes{0};
    std::atomic<bool> taken{false};
    unsigned index = 0;
    Cell* next = nullptr;  // constant once the cell is in the list
  };
  Cell* take_cell();
  uint64_t oldest_announced() const;  // idle if there is no pin

  alignas(64) std::atomic<uint64_t> generation_{1};
  alignas(64) std::atomic<Cell*> cells_{nullptr};
  std::mutex orphans_mutex_;
  std::deque<Batch> orphans_;  // left by handles that are gone; guarded by orphans_mutex_
  std::atomic<size_t> orphans_bytes_{0};
};

class ReclaimerHandle {
 public:
  explicit ReclaimerHandle(Reclaimer& reclaimer);
  // No pin is open. What cannot be freed yet is left to the others; lost if there is no memory to
  // list it.
  ~ReclaimerHandle();
  ReclaimerHandle(const ReclaimerHandle&) = delete;
  ReclaimerHandle& operator=(const ReclaimerHandle&) = delete;

  // `object` was unlinked: nobody who pins from now on can reach it. Allocates list space unless
  // reserve() did.
  void retire(void* object, Reclaimer::Deleter deleter, size_t bytes) {
    open_.push_back({object, deleter, bytes});
    open_bytes_ += bytes;
    add_pending(bytes);
  }
  // The next `count` calls of retire() allocate nothing (I3).
  void reserve(size_t count) { make_room(open_, count); }
  // Frees up to `budget` objects that may be freed and returns how many. Cheap when there is
  // nothing; call it between requests. Deleters must not retire.
  size_t reclaim(size_t budget = 4096) {
    if (open_.empty() && closed_.empty() && !orphans_waiting()) return 0;
    return reclaim_slow(budget);
  }
  // Small and dense over the live handles of one Reclaimer: to index per-thread cells.
  unsigned index() const { return cell_->index; }
  // Bytes retired through this handle and not yet freed.
  size_t pending_bytes() const { return cell_->pending_bytes.load(std::memory_order_relaxed); }
  // The owner's oldest pin, or null.
  const Pin* oldest_pin() const { return oldest_; }

 private:
  friend class Pin;
  bool orphans_waiting() const {
    return reclaimer_.orphans_bytes_.load(std::memory_order_relaxed) != 0;
  }
  void add_pending(size_t bytes) {
    // Written by this thread alone; atomic for pending_bytes() of others.
    cell_->pending_bytes.store(pending_bytes() + bytes, std::memory_order_relaxed);
  }
  void close_open_batch();
  void adopt_orphans();
  void leave_orphans();
  size_t reclaim_slow(size_t budget);
  inline void announce_first(Pin* pin);

  Reclaimer& reclaimer_;
  Reclaimer::Cell* cell_ = nullptr;
  std::vector<Reclaimer::Retired> open_;
  size_t open_bytes_ = 0;
  std::deque<Reclaimer::Batch> closed_;  // stamps ascend
  Pin* oldest_ = nullptr;  // the pins of this thread, in the order of their generations
  Pin* newest_ = nullptr;
};

// While it lives, nothing that was reachable when it began or since is freed. Ends on the thread
// that began it.
class Pin {
 public:
  explicit inline Pin(ReclaimerHandle& handle);
  inline ~Pin();
  Pin(const Pin&) = delete;
  Pin& operator=(const Pin&) = delete;

  Generation generation() const { return Generation(generation_); }
  // The pin of the same thread that began next after this one, or null.
  const Pin* next() const { return next_; }

 private:
  friend class ReclaimerHandle;
  ReclaimerHandle& handle_;
  uint64_t generation_;
  Pin* previous_;
  Pin* next_ = nullptr;
};

inline void ReclaimerHandle::announce_first(Pin* pin) {
  std::atomic<uint64_t>& generation = reclaimer_.generation_;
  pin->generation_ = generation.load(std::memory_order_relaxed);
  cell_->announced.store(pin->generation_, std::memory_order_seq_cst);
  // Synchronizes with the fetch_add of every batch that was judged before our announcement could be
  // seen.
  static_cast<void>(generation.load(std::memory_order_seq_cst));
}

inline Pin::Pin(ReclaimerHandle& handle) : handle_(handle), previous_(handle.newest_) {
  if (previous_ == nullptr) {
    handle.announce_first(this);
    handle.oldest_ = this;
  } else {
    // The older announcement protects us; when it goes, ours takes its place. Never older than our
    // predecessor's, since G is read by one thread in order.
    generation_ = handle.reclaimer_.generation_.load(std::memory_order_acquire);
    previous_->next_ = this;
  }
  handle.newest_ = this;
}

inline Pin::~Pin() {
  if (next_ != nullptr) {
    next_->previous_ = previous_;
  } else {
    handle_.newest_ = previous_;
  }
  if (previous_ != nullptr) {
    previous_->next_ = next_;
    return;
  }
  handle_.oldest_ = next_;
  // Release: what we read happens-before the free that this permits.
  handle_.cell_->announced.store(next_ == nullptr ? Reclaimer::idle : next_->generation_,
                                 std::memory_order_release);
}

}  // namespace pgsilo
