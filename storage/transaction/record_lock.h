// Intent locks on records (engine.md item 8) and the waiting for locks of every kind: fair queues,
// deadlines, cancellation and deadlock detection.
//
// An intent lock belongs to a LockOwner (one per Transaction). It is not Silo's lock bit: it is
// held across statements and round trips, and it does not by itself make anything correct; commit
// validates all the same. It makes writers of hot records queue up instead of failing. A queue
// exists while the lock is held or waited for; it is found by the record's address (records are
// stable) in a sharded table. The record's intent bit is up exactly while its queue exists, and
// changes only under the shard's latch.
//
// Granting is first come, first served: who releases hands the lock to the first waiter, the bit
// stays up.
//
// Waits-for graph: a waiter waits for the present holder of the record, or for the owner of a
// relation's gate, or (as owner of a closed gate) for everybody who shares the relation. Each
// waiter walks the graph from itself when it has waited for deadlock_timeout, and again after each
// further one. Walks are serialised by a mutex; a cycle is believed only if a second pass finds
// every wait of it unbroken (wait numbers), which makes it one that existed as a whole. The walker
// that finds a cycle through itself is the victim.
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
#include <vector>

#include "storage/record/backoff.h"
#include "storage/transaction/abort_reason.h"

namespace pgsilo {

class EpochManager;
class LockTable;
class Parker;
class Record;
class Relation;
struct IntentQueue;

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

  bool holds_any() const { return !intents_.empty() || !shares_.empty() || !gates_.empty(); }
  // The transaction's own fiber asks.
  bool shares(const Relation* relation) const;
  bool excludes(const Relation* relation) const;  // closed its gate
  bool excludes_any() const { return !gates_.empty(); }
  size_t intent_count() const { return intents_.size(); }
  size_t share_count() const { return shares_.size(); }

 private:
  friend class LockTable;
  friend class DeadlockWalk;
  struct Wait {
    enum class Kind : uint8_t { none, record, gate, shares };
    Kind kind = Kind::none;
    const Record* record = nullptr;  // kind record
    Relation* relation =
        nullptr;  // kinds gate (closed by another) and shares (of a relation whose gate we closed)
    uint64_t number = 0;  // grows with every wait that begins or ends
  };
  void begin_wait(Wait::Kind kind, const Record* record, Relation* relation);
  void end_wait();

  SpinLatch latch_;  // guards wait_ and shares_ against graph walks
  Wait wait_;        // written by the owner's fiber and, when it grants, by a releasing one
  std::vector<Record*> intents_;  // held; in order of acquisition
  std::vector<Relation*> shares_;
  std::vector<Relation*> gates_;
  IntentQueue* spare_queues_ = nullptr;
  LockOwner* next_free_ = nullptr;
};

class LockTable {
 public:
  explicit LockTable(size_t shard_count = 1024);
  // No owner is in use.
  ~LockTable();
  LockTable(const LockTable&) = delete;
  LockTable& operator=(const LockTable&) = delete;

  LockOwner& take_owner();
  void return_owner(LockOwner& owner);  // holds nothing

  // Gains the intent lock on `record`; at once if `owner` has it already. ok, lock_not_available,
  // lock_timeout, cancelled, deadlock, out_of_memory; conflict_record if the record is obsolete.
  // The caller holds a pin that protects the record.
  TransactionStatus acquire(LockOwner& owner, Record* record, WaitPolicy policy,
                            const WaitSettings& settings);
  bool holds(const LockOwner& owner, const Record* record) const;
  // Releases the intent locks but the `keep` oldest, each to its next waiter. The caller holds the
  // pin under which they were acquired.
  void release_intents(LockOwner& owner, size_t keep = 0);
  // How many wait for the record; for tests and monitoring.
  size_t waiters(const Record* record) const;

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
  friend struct IntentQueue;
  struct Shard;
  struct Waiter;
  class Patience;
  Shard& shard_of(const Record* record) const;
  TransactionStatus wait_in_queue(LockOwner& owner, Record* record, Waiter& waiter,
                                  const WaitSettings& settings);
  bool leave_queue(Record* record, Waiter& waiter);
  void release(LockOwner& owner, Record* record);
  // Waits in short parks until `done()`. DDL is rare: nobody wakes the poller.
  template <typename Done>
  TransactionStatus poll(LockOwner& owner, const WaitSettings& settings, Done done);
  LockOwner* holder_of(const Record* record) const;
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
