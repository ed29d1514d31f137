// Locks with queues: intent locks on records (engine.md item 8), advisory locks, and the waiting
// for locks of every kind: fair queues, deadlines, cancellation and deadlock detection.
//
// A lock belongs to a LockOwner (one per Transaction object, so one per session). An intent lock is
// not Silo's lock bit: it is held across statements and round trips, and it does not by itself make
// anything correct; commit validates all the same. It makes writers of hot records queue up instead
// of failing. A queue exists while its lock is held or waited for; it is found by its tag (records
// are stable) in a sharded table. A record's intent bit is up exactly while its queue exists, and
// changes only under the shard's latch.
//
// Granting. A request is granted when it conflicts with no holder and with nobody who waits before
// it (lock_mode.h); who holds a weaker mode of the lock stands before those who hold none, for they
// wait for it anyway. Who releases grants to all who can have it now; the bit stays up.
//
// Waits-for graph: a waiter waits for the holders and earlier waiters it conflicts with, or for the
// owner of a relation's gate, or (as owner of a closed gate) for everybody who shares the relation.
// Each waiter walks the graph from itself when it has waited for deadlock_timeout, and again after
// each further one. Walks are serialised by a mutex; a cycle is believed only if a second pass
// finds every wait of it unbroken (wait numbers), which makes it one that existed as a whole. The
// walker that finds a cycle of holders through itself is the victim. A cycle that needs the order
// of waiting as well is no deadlock: somebody in it waits only for its turn, and is granted out of
// turn.
//
// Thread safety: LockTable: any thread. A LockOwner is used by its transaction's fiber; other
// threads read it under its latch. Lock order: docs/lock_order.md (shard latch, then owner latch;
// the detection mutex before both; nothing waits under a latch).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "storage/record/backoff.h"
#include "storage/transaction/abort_reason.h"
#include "storage/transaction/lock_mode.h"

namespace pgsilo {

class EpochManager;
class LockTable;
class Parker;
class Record;
class Relation;
struct LockEntry;
struct LockHolder;
struct LockQueue;

// What a lock is about.
struct LockTag {
  enum class Kind : uint8_t { record, advisory_bigint, advisory_pair };
  Kind kind = Kind::record;
  uint64_t value = 0;  // a record's address, or the number (pair: high and low half)

  static LockTag advisory(int64_t key) {
    return {Kind::advisory_bigint, static_cast<uint64_t>(key)};
  }
  static LockTag advisory(int32_t first, int32_t second) {
    return {Kind::advisory_pair,
            uint64_t{static_cast<uint32_t>(first)} << 32 | static_cast<uint32_t>(second)};
  }

  static LockTag of(const Record* record) {
    return {Kind::record, reinterpret_cast<uintptr_t>(record)};
  }
  bool is_record() const { return kind == Kind::record; }
  const Record* record() const { return reinterpret_cast<const Record*>(value); }
  friend bool operator==(const LockTag&, const LockTag&) = default;
};

// How long and how a transaction is willing to wait. Set by the session.
struct WaitSettings {
  Parker* parker = nullptr;  // null: never waits, every wait is a lock_not_available
  const std::atomic<bool>* cancelled = nullptr;  // who sets it also unparks the parker
  int64_t lock_timeout_us = 0;                   // 0: none
  int64_t deadlock_timeout_us = 1000000;
};

enum class WaitPolicy : uint8_t {
  wait,
  no_wait,  // NOWAIT and SKIP LOCKED
};

// Held for some tens of instructions, never across a wait, a system call or an allocation.
class SpinLatch {
 public:
  void lock() {
    for (Backoff backoff; taken_.exchange(true, std::memory_order_acquire);
         backoff.pause()) {  // pairs with unlock()
    }
  }
  void unlock() { taken_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> taken_{false};
};

// The identity under which one transaction holds and waits for locks. Owners come from the
// LockTable and return to it; their memory lives as long as the table, so that graph walks may
// follow stale pointers.
class LockOwner {
 public:
  LockOwner() = default;
  LockOwner(const LockOwner&) = delete;
  LockOwner& operator=(const LockOwner&) = delete;

  bool holds_any() const { return !locks_.empty() || !shares_.empty() || !gates_.empty(); }
  // The transaction's own fiber asks.
  bool shares(const Relation* relation) const;
  bool excludes(const Relation* relation) const;  // closed its gate
  bool excludes_any() const { return !gates_.empty(); }
  size_t lock_count() const { return locks_.size(); }
  // f(tag, modes held before) for each time since lock_count() was `since` that a lock was gained
  // or strengthened.
  template <typename F>
  void visit_locks(size_t since, F f) const {
    for (size_t i = since; i < locks_.size(); ++i) f(locks_[i].tag, locks_[i].before);
  }
  size_t share_count() const { return shares_.size(); }
  // What it waits for just now: any thread may ask.
  enum class WaitsFor : uint8_t { nothing, record, relation, advisory };
  WaitsFor waits_for();

 private:
  friend class LockTable;
  friend class DeadlockWalk;
  struct Wait {
    enum class Kind : uint8_t { none, queue, gate, shares };
    Kind kind = Kind::none;
    LockTag tag = {};  // kind queue
    Relation* relation =
        nullptr;  // kinds gate (closed by another) and shares (of a relation whose gate we closed)
    uint64_t number = 0;  // grows with every wait that begins or ends
    bool exclusive = false;
    int64_t since_us = 0;  // Unix time
  };
  void begin_wait(Wait::Kind kind, LockTag tag, Relation* relation, bool exclusive = false);
  void end_wait();

  SpinLatch latch_;  // guards wait_, shares_ and gates_ against graph walks and list()
  Wait wait_;        // written by the owner's fiber and, when it grants, by a releasing one
  // What acquire() gained, in that order: of a lock whose holds grew, an entry for each time.
  struct Grant {
    LockTag tag;
    LockModes before;  // what was held of it until then
  };
  std::vector<Grant> locks_;
  std::vector<Relation*> shares_;
  std::vector<Relation*> gates_;
  LockQueue* spare_queues_ = nullptr;
  LockHolder* spare_holders_ = nullptr;
  LockOwner* next_free_ = nullptr;
};

class LockTable {
 public:
  // Queues of one shard form a list: there are enough shards for a few million locks.
  explicit LockTable(size_t shard_count = size_t{1} << 16);
  // No owner is in use.
  ~LockTable();
  LockTable(const LockTable&) = delete;
  LockTable& operator=(const LockTable&) = delete;

  LockOwner& take_owner();
  void return_owner(LockOwner& owner);  // holds nothing

  // Gains the lock in `mode` or a stronger one; at once if `owner` has it already. ok,
  // lock_not_available, lock_timeout, cancelled, deadlock, out_of_memory; conflict_record if the
  // record is obsolete. The caller holds a pin that protects the record.
  TransactionStatus acquire(LockOwner& owner, LockTag tag, LockMode mode, WaitPolicy policy,
                            const WaitSettings& settings);
  TransactionStatus acquire(LockOwner& owner, const Record* record, LockMode mode,
                            WaitPolicy policy, const WaitSettings& settings) {
    return acquire(owner, LockTag::of(record), mode, policy, settings);
  }
  // As acquire(), but whoever asks keeps the books: acquired locks that are released do not concern
  // it. If `before` is not null and the owner gained something, it is told what was held until
  // then.
  TransactionStatus gain(LockOwner& owner, LockTag tag, LockMode mode, WaitPolicy policy,
                         const WaitSettings& settings, std::optional<LockModes>* before = nullptr);
  // The owner, who holds the lock, keeps no more than `modes` of it; the rest goes to whom it is
  // due.
  void reduce(LockOwner& owner, LockTag tag, LockModes modes);
  LockModes modes_held(const LockOwner& owner, LockTag tag) const;
  // Whether a one-shot may do what takes `mode`: `owner` holds as much, or nobody holds or waits
  // for what conflicts with it.
  bool admits(const LockOwner& owner, LockTag tag, LockMode mode) const;
  bool admits(const LockOwner& owner, const Record* record, LockMode mode) const {
    return admits(owner, LockTag::of(record), mode);
  }
  // Undoes what was acquired, but for the `keep` oldest. The caller holds the pin under
  // which they were acquired.
  void release_locks(LockOwner& owner, size_t keep = 0);
  // How many wait for the lock; for tests and monitoring.
  size_t waiters(LockTag tag) const;

  // All locks and waits, for monitoring (lock_list.cpp): each entry was true at some moment of the
  // call.
  std::vector<LockEntry> list();

  // --- relations (relation_lock.cpp, storage/relation/relation_gate.h) ---
  // Interactive transactions: until release_relations(). Idempotent. Same statuses as acquire().
  TransactionStatus share(LockOwner& owner, Relation& relation, unsigned worker,
                          const WaitSettings& settings);
  // DDL: nobody else shares the relation and no commit changes it until release_relations().
  // Idempotent.
  TransactionStatus exclude(LockOwner& owner, Relation& relation, EpochManager& epochs,
                            const WaitSettings& settings);
  // Waits until nobody else has closed the relation's gate.
  TransactionStatus wait_for_gate(LockOwner& owner, Relation& relation,
                                  const WaitSettings& settings);
  void release_relations(LockOwner& owner, unsigned worker);
  // Ends the shares but the `keep` oldest.
  void release_shares(LockOwner& owner, unsigned worker, size_t keep);

 private:
  friend class DeadlockWalk;
  friend struct LockQueue;
  struct Shard;
  struct Waiter;
  class Patience;
  static bool reserve(LockOwner& owner);
  Shard& shard_of(LockTag tag) const;
  TransactionStatus enter_queue(LockOwner& owner, LockTag tag, Waiter& waiter, WaitPolicy policy);
  TransactionStatus wait_in_queue(LockOwner& owner, LockTag tag, Waiter& waiter,
                                  const WaitSettings& settings);
  bool leave_queue(LockTag tag, Waiter& waiter);
  bool grant_out_of_turn(LockOwner& owner, LockTag tag);
  static void free_spares(LockOwner& owner);
  // Waits in short parks until `done()`. DDL is rare: nobody wakes the poller.
  template <typename Done>
  TransactionStatus poll(LockOwner& owner, const WaitSettings& settings, Done done);
  // Whom a waiter waits for: holders, and, if told so, those who wait before it.
  std::vector<LockOwner*> blockers_of(const LockOwner& owner, LockTag tag, bool waiters_too) const;
  static void list_owner(LockOwner& owner, std::vector<LockEntry>& entries);
  static void list_queues(Shard& shard, std::vector<LockEntry>& entries);
  std::vector<LockOwner*> sharers_of(const Relation* relation);
  // Under detection_mutex_: whether `owner`, which waits, is part of a deadlock.
  bool is_deadlocked(LockOwner& owner);

  std::unique_ptr<Shard[]> shards_;
  size_t shard_mask_;
  std::mutex owners_mutex_;
  std::vector<std::unique_ptr<LockOwner>> owners_;
  LockOwner* free_owners_ = nullptr;
  std::mutex detection_mutex_;
};

}  // namespace pgsilo
