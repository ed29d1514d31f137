// The lock words of one relation: share counts of interactive transactions and of commits, one cell
// per worker, and the exclusive owner's gate for DDL (engine.md item 16). The waiting lives in
// storage/transaction/relation_lock.h; here are only the words and why they work.
//
// Sharer (interactive transactions): own cell + 1 (seq_cst), then reads the gate (seq_cst): closed
// by another -> takes the 1 back and waits. DDL: closes the gate (seq_cst), then waits until the
// cells sum to what it holds itself (seq_cst loads). Dekker's pattern: either the sharer sees the
// closed gate or DDL sees the count. A cell is written by one worker in the usual case; more
// workers than cells share them.
//
// Commits hold no share: each looks at the gates of the relations it writes after it has read its
// epoch. DDL closes the gate, then advances E to e and waits until every epoch before e is
// complete. A commit that read an epoch before e has left by then; one that read e or later did so
// after the advance, hence after the closing, and sees the closed gate (all four are seq_cst).
//
// Nobody wakes DDL or those who wait for it: they poll, for DDL is rare and statements are not.
//
// Thread safety: any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "base/check.h"

namespace pgsilo {

class LockOwner;

class RelationGate {
 public:
  // True if shared access was gained; false if the gate is closed by another owner. `self` may be
  // null.
  bool try_share(unsigned worker, const LockOwner* self) {
    std::atomic<uint32_t>& cell = cell_of(worker);
    cell.fetch_add(1, std::memory_order_seq_cst);
    const LockOwner* owner = owner_.load(std::memory_order_seq_cst);
    if (owner == nullptr || owner == self) [[likely]]
      return true;
    cell.fetch_sub(1, std::memory_order_release);
    return false;
  }
  // Release: what was done under the share happens-before the exclusive owner's look at the cell.
  void unshare(unsigned worker) { cell_of(worker).fetch_sub(1, std::memory_order_release); }

  // The owner that closed the gate, or null.
  const LockOwner* owner() const { return owner_.load(std::memory_order_seq_cst); }
  // False if another owner has it.
  bool try_close(const LockOwner* self) {
    const LockOwner* expected = nullptr;
    return owner_.compare_exchange_strong(expected, self, std::memory_order_seq_cst) ||
           expected == self;
  }
  // Release: DDL's work happens-before the next share.
  void open() { owner_.store(nullptr, std::memory_order_release); }
  // Shares held now, by anybody. Exact for those granted before the gate was closed.
  uint64_t shares() const {
    uint64_t sum = 0;
    for (const Cell& cell : cells_) sum += cell.shares.load(std::memory_order_seq_cst);
    return sum;
  }

 private:
  static constexpr unsigned cell_count = 16;
  struct alignas(64) Cell {
    std::atomic<uint32_t> shares{0};
  };
  std::atomic<uint32_t>& cell_of(unsigned worker) { return cells_[worker % cell_count].shares; }

  std::array<Cell, cell_count> cells_;
  std::atomic<const LockOwner*> owner_{nullptr};
};

}  // namespace pgsilo
