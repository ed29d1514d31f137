// The clock that orders commits and durability: the global epoch E, and who is inside commit
// (docs/commit_protocol.md). It says nothing about memory; that is the Reclaimer's clock.
//
// A worker's commit:
//   slot.enter()                   announces a lower bound of the epoch it will read
//   ... lock the write set ...     by seq_cst read-modify-writes (TidWord)
//   e = slot.serialization_epoch() reads E: the serialization point
//   ... validate ...               by seq_cst loads (TidWord, NodeVersion)
//   ... install, hand the log record over ...
//   slot.leave()
//
// Thread safety: everything may be called from any thread, except that a CommitSlot belongs to one
// thread at a time. Nothing here waits or spins; advancing E never waits for a worker.
//
// Invariants
// - E never decreases. completed() never decreases, and completed() < E.
// - If completed() returned e, then every commit whose serialization_epoch() is <= e has left (its
// log record was handed
//   over happens-before the return), and no later serialization_epoch() returns <= e.
// - If a commit T2 has a later epoch than T1, T2's validation sees T1's locks and T1's node
// versions. For that, locks,
//   version changes, E and validation loads are all seq_cst operations: T1's lock precedes its read
//   of E in the single total order, that read precedes the advance it did not see, which precedes
//   T2's read of E and T2's validation loads.
// - enter() against completed() is Dekker's pattern: the slot writes its announcement and then
// reads E; completed() reads
//   E and then the announcements; all four are seq_cst. Either completed() sees the announcement,
//   or the slot's later read of E sees at least the value completed() saw.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "base/check.h"
#include "storage/epoch/epoch.h"

namespace pgsilo {

class EpochManager;

// One per thread that commits, on a cache line of its own. Registers itself for as long as it
// lives.
class CommitSlot {
 public:
  explicit CommitSlot(EpochManager& manager);
  ~CommitSlot();  // outside commit
  CommitSlot(const CommitSlot&) = delete;
  CommitSlot& operator=(const CommitSlot&) = delete;

  // Announces that a commit begins. Called before the first lock is taken; not nested.
  inline void enter();
  // The serialization point; between enter() and leave(), after the last lock was taken.
  inline Epoch serialization_epoch() const;
  // The commit's log record has been handed over, or it aborted.
  inline void leave();
  bool inside() const { return cell_->announced.load(std::memory_order_relaxed) != idle; }

 private:
  friend class EpochManager;
  static constexpr uint64_t idle = UINT64_MAX;
  struct alignas(64) Cell {
    std::atomic<uint64_t> announced{idle};
    std::atomic<bool> taken{false};
    Cell* next = nullptr;  // constant once the cell is in the list
  };
  EpochManager& manager_;
  Cell* cell_;
};

class EpochManager {
 public:
  // `first` is the first epoch in which commits happen: above every epoch found in any log.
  explicit EpochManager(Epoch first);
  ~EpochManager();  // every slot is gone
  EpochManager(const EpochManager&) = delete;
  EpochManager& operator=(const EpochManager&) = delete;

  Epoch current() const { return Epoch(epoch_.load(std::memory_order_seq_cst)); }
  // Begins the next epoch and returns it. May be called at any rate by anybody.
  Epoch advance() { return Epoch(epoch_.fetch_add(1, std::memory_order_seq_cst) + 1); }
  // The newest epoch that is complete: E is past it and nobody inside commit is at it or below.
  Epoch completed();

 private:
  friend class CommitSlot;
  CommitSlot::Cell* take_cell();

  alignas(64) std::atomic<uint64_t> epoch_;
  alignas(64) std::atomic<uint64_t> completed_;
  // Cells are pushed and never removed while the manager lives; a cell whose slot has gone is taken
  // again.
  std::atomic<CommitSlot::Cell*> cells_{nullptr};
};

inline void CommitSlot::enter() {
  PGSILO_DCHECK(!inside());
  // A stale E is a lower bound of the one read later, so the first load needs no order. The store
  // is one side of Dekker's pattern; serialization_epoch()'s load is the other.
  cell_->announced.store(manager_.epoch_.load(std::memory_order_relaxed),
                         std::memory_order_seq_cst);
}

inline Epoch CommitSlot::serialization_epoch() const {
  PGSILO_DCHECK(inside());
  return Epoch(manager_.epoch_.load(std::memory_order_seq_cst));
}

inline void CommitSlot::leave() {
  PGSILO_DCHECK(inside());
  // Pairs with the load in completed(): who sees us gone sees our log record.
  cell_->announced.store(idle, std::memory_order_release);
}

}  // namespace pgsilo
