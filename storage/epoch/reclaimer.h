// The clock that protects memory (I5, docs/memory_reclamation.md): what was unlinked from a shared
// structure is freed once nobody who could still hold a pointer to it remains. It is apart from the
// epochs of commit, so that a transaction that stays open for hours holds back memory but never a
// commit or a sync.
//
// Use
// - Each thread that touches shared structures owns a ReclaimerHandle.
// - Whoever follows shared pointers holds a Pin: one for every open transaction, one for a slice of
//   a worker's loop that touches shared structures outside any transaction.
// - Who unlinks an object calls handle.retire(object, deleter, bytes) after the unlink (and after
//   unlocking).
// - Workers call handle.reclaim() between requests, and again at once while handle.hurries(),
// before
//   they sleep. Nothing else frees anything; no thread is started.
//
// What must wait for durability too (absent records are unhooked only when D reached their epoch)
// is queued by the transaction layer, which knows the conditions (D, live snapshots, the record's
// TID) and the key; it calls retire() after the unhook. There is no deferred-work queue here.
//
// How it works, why it is safe and who is asked to free what others wait for:
// docs/memory_reclamation.md. In short: a generation G advances now and then, by whoever waits for
// it; pins announce the G that they began in, batches of retired objects are stamped with the G at
// which they were closed. Who advances G looks at all announcements and publishes a safe bound:
// what has a lower stamp may be freed by anybody. A transaction only reads G and the bound.
//
// Thread safety: Reclaimer: any thread. ReclaimerHandle and its Pins: the thread that owns the
// handle (fibers of one worker share their worker's handle).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <vector>

#include "base/append.h"
#include "base/check.h"
#include "base/ordered_load.h"
#include "base/strong_id.h"
#include "storage/epoch/retired_batches.h"

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

  Generation current() const {
    return Generation(shared_.generation.load(std::memory_order_relaxed));
  }
  // The generation of the oldest pin of all threads, or current() when there is none. Compare with
  // Pin::generation() to find who holds memory back.
  Generation oldest_pin() const;
  // Bytes retired and not yet freed, over all handles; a moment's estimate.
  size_t pending_bytes() const;
  // How often somebody has looked at all announcements.
  uint64_t advances() const { return advances_.load(std::memory_order_relaxed); }

 private:
  friend class Pin;
  friend class ReclaimerHandle;
  static constexpr uint64_t idle = UINT64_MAX;
  struct Cell {
    // The generation of the thread's oldest pin; read by who advances.
    alignas(64) std::atomic<uint64_t> announced{idle};
    // Written by who advances: somebody waits for the end of a pin that announces this; idle:
    // nobody does.
    std::atomic<uint64_t> awaited{idle};
    alignas(64) RetiredBatches batches;
    std::atomic<size_t> pending_bytes{0};  // retired by the thread less freed by it: wraps
    std::atomic<bool> taken{false};
    unsigned index = 0;
    Cell* next = nullptr;  // constant once the cell is in the list
  };
  // Read by all at each transaction, written by who advances.
  struct alignas(64) Shared {
    std::atomic<uint64_t> generation{1};
    std::atomic<uint64_t> safe{1};              // what has a lower stamp may be freed
    std::atomic<bool> somebody_awaited{false};  // some cell's `awaited` is set
    std::atomic<bool> abandoned{false};         // a handle has left batches behind
    std::atomic<Cell*> cells{nullptr};
  };
  struct Advance {
    bool done = false;   // else somebody else was at it
    bool again = false;  // what is unattended is held up, and nobody could be told
    bool helps = false;  // something unattended has become free
  };

  Cell* take_cell();
  uint64_t oldest_announced(Cell** oldest) const;  // idle if there is no pin
  Advance judge_unattended(uint64_t safe) const;
  Advance try_advance();
  void await_nobody();
  bool await_end_of(Cell* holder, uint64_t announced);
  void adopt_abandoned(Cell& adopter);
  size_t cell_count() const;

  Shared shared_;
  alignas(64) SpinLatch advancing_;  // only ever tried; guards awaited_
  Cell* awaited_ = nullptr;          // whose `awaited` is set
  std::atomic<uint64_t> advances_{0};
};

class ReclaimerHandle {
 public:
  explicit ReclaimerHandle(Reclaimer& reclaimer);
  // No pin is open. What cannot be freed yet is left to the others.
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
    if (open_.empty() && !unfinished_ && !is_awaited() && !others_left_some()) return 0;
    return reclaim_slow(budget);
  }
  // The thread calls reclaim() again before it sleeps: only then is it settled who frees what is
  // left. Never for long.
  bool hurries() const {
    return unfinished_ &&
           (helping_ || !freeable_.empty() || !open_.empty() || failures_ < patience_at_rest);
  }
  // Small and dense over the live handles of one Reclaimer: to index per-thread cells.
  unsigned index() const { return cell_->index; }
  // Bytes retired through this handle and not yet freed, less what it has freed of others'.
  size_t pending_bytes() const { return cell_->pending_bytes.load(std::memory_order_relaxed); }
  // The owner's oldest pin, or null.
  const Pin* oldest_pin() const { return oldest_; }

 private:
  friend class Pin;
  // Advances in vain after which the thread may sleep.
  static constexpr unsigned patience_at_rest = 2;

  // The pin that somebody waits for has ended.
  bool is_awaited() const {
    return cell_->awaited.load(std::memory_order_relaxed) <
           cell_->announced.load(std::memory_order_relaxed);
  }
  bool others_left_some() const {
    return reclaimer_.shared_.abandoned.load(std::memory_order_relaxed);
  }
  void add_pending(size_t bytes) {
    // Written by this thread alone; atomic for pending_bytes() of others.
    cell_->pending_bytes.store(pending_bytes() + bytes, std::memory_order_relaxed);
  }
  size_t reclaim_slow(size_t budget);
  bool has_spare();
  void close_open_batch();
  bool should_close() const;
  bool advance_is_due();
  void begin_anew();
  void advance();
  size_t free_from(RetiredBatches& batches, size_t budget);
  size_t help_unattended(size_t budget);
  unsigned pause_after_failures() const;
  inline void announce_first(Pin* pin);
  inline uint64_t generation_of_younger();

  Reclaimer& reclaimer_;
  Reclaimer::Cell* cell_ = nullptr;
  std::vector<Retired> open_;
  size_t open_bytes_ = 0;
  size_t open_at_last_call_ = 0;
  std::list<RetiredBatch> spare_;     // a batch to close with; empty without memory
  std::list<RetiredBatch> freeable_;  // taken from a list: nobody can reach these any more
  bool unfinished_ = false;
  bool helping_ = false;         // frees what is unattended
  bool advances_again_ = false;  // the last advance has told nobody who holds up the unattended
  unsigned failures_ = 0;        // advances in a row that made nothing of ours free
  unsigned refusals_left_ = 0;   // calls until the next advance
  uint64_t safe_seen_ = 0;
  uint64_t fenced_generation_ = 0;  // read before the last full fence
  Pin* oldest_ = nullptr;           // the pins of this thread, in the order of their generations
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
  pin->generation_ = reclaimer_.shared_.generation.load(std::memory_order_relaxed);
  // Release, though it says nothing of its own: who reads it must not miss the end of the pin
  // before.
  cell_->announced.store(pin->generation_, std::memory_order_release);
  full_fence();
  fenced_generation_ = pin->generation_;
}

// The older announcement protects the younger pin; when it goes, the younger's takes its place, and
// that no fence follows then. So what was unlinked before this generation must be out of reach now.
inline uint64_t ReclaimerHandle::generation_of_younger() {
  uint64_t generation = reclaimer_.shared_.generation.load(std::memory_order_relaxed);
  if (generation != fenced_generation_) {
    full_fence();
    fenced_generation_ = generation;
  }
  return generation;
}

inline Pin::Pin(ReclaimerHandle& handle) : handle_(handle), previous_(handle.newest_) {
  if (previous_ == nullptr) {
    handle.announce_first(this);
    handle.oldest_ = this;
  } else {
    // Never older than our predecessor's, since G is read by one thread in order.
    generation_ = handle.generation_of_younger();
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
