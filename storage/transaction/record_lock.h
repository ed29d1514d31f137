// Locks with queues: intent locks on records (docs/lock_table.md), advisory locks, locks on
// relations (relation_lock.cpp): fair queues, deadlines, cancellation and deadlock detection.
//
// A lock belongs to a LockOwner (one per Transaction object, so one per session). An intent lock is
// not Silo's lock bit: it is held across statements and round trips, and it does not by itself make
// anything correct; commit validates all the same. It makes writers of hot records queue up instead
// of failing. A queue is found by its tag (records are stable) in a sharded table
// (docs/lock_table.md). It exists while its lock is held or waited for, but for those of records
// that one alone holds and nobody waits for: these lie in the record. A record's intent bit is up
// exactly while its lock is held or waited for.
//
// Granting. A request is granted when it conflicts with no holder and with nobody who waits before
// it (lock_mode.h); who holds a weaker mode of the lock stands before those who hold none, for they
// wait for it anyway. Who releases grants to all who can have it now; the bit stays up.
//
// Deadlocks: docs/deadlocks.md. Who has waited for deadlock_timeout, and holds what somebody waits
// for, walks the waits-for graph from itself (deadlock_walk.cpp): once, in linear time, giving way.
//
// Thread safety: LockTable: any thread. A LockOwner is used by its transaction's fiber; other
// threads read it under its latch. Lock order: docs/lock_order.md (shard latch, then owner latch;
// nothing waits under a latch).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/hash.h"
#include "base/spin_latch.h"
#include "base/strong_id.h"
#include "storage/relation/lock_mode.h"
#include "storage/transaction/abort_reason.h"
#include "storage/transaction/relation_holds.h"
#include "storage/transaction/spare_list.h"

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
  enum class Kind : uint8_t { record, relation, advisory_bigint, advisory_pair };
  Kind kind = Kind::record;
  RelationId relation_id = {};  // of a record: whose it is, if that is known; tells no locks apart
  uint64_t value = 0;           // an address, or the number (pair: high and low half)

  static LockTag advisory(int64_t key) {
    return {Kind::advisory_bigint, {}, static_cast<uint64_t>(key)};
  }
  static LockTag advisory(int32_t first, int32_t second) {
    return {Kind::advisory_pair,
            {},
            uint64_t{static_cast<uint32_t>(first)} << 32 | static_cast<uint32_t>(second)};
  }

  static LockTag of(const Record* record, RelationId relation = {}) {
    return {Kind::record, relation, reinterpret_cast<uintptr_t>(record)};
  }
  static LockTag of(Relation& relation) {
    return {Kind::relation, {}, reinterpret_cast<uintptr_t>(&relation)};
  }
  bool is_record() const { return kind == Kind::record; }
  bool is_relation() const { return kind == Kind::relation; }
  const Record* record() const { return reinterpret_cast<const Record*>(value); }
  Relation* relation() const { return reinterpret_cast<Relation*>(value); }
  friend bool operator==(const LockTag& left, const LockTag& right) {
    return left.kind == right.kind && left.value == right.value;
  }
  struct Hash {
    size_t operator()(const LockTag& tag) const {
      return hash_integer(tag.value + static_cast<uint64_t>(tag.kind));
    }
  };
};

// Is told of waits that last for deadlock_timeout: once then, and how they end after that. The
// waiter's fiber, which stands in the queue only while it still waits; no latch is held.
class LongWaitObserver {
 public:
  enum class Stage : uint8_t { still_waits, acquired, deadlocked };
  virtual void observe(LockTag tag, LockMode mode, Stage stage, int64_t waited_us) noexcept = 0;

 protected:
  ~LongWaitObserver() = default;
};

// How long and how a transaction is willing to wait. Set by the session.
struct WaitSettings {
  Parker* parker = nullptr;  // null: never waits, every wait is a lock_not_available
  const std::atomic<bool>* cancelled = nullptr;  // who sets it also unparks the parker
  int64_t lock_timeout_us = 0;                   // 0: none
  int64_t deadlock_timeout_us = 1000000;
  bool is_brief = false;  // lock_timeout ends the wait so soon that it is part of no deadlock
  LongWaitObserver* observer = nullptr;  // null: nobody wants to know
};

enum class WaitPolicy : uint8_t {
  wait,
  no_wait,  // NOWAIT and SKIP LOCKED
};

// The identity under which one transaction holds and waits for locks. Owners come from the
// LockTable and return to it; their memory lives as long as the table, so that graph walks may
// follow stale pointers. Aligned as RecordHolder wants it.
class LockOwner {
 public:
  LockOwner() = default;
  LockOwner(const LockOwner&) = delete;
  LockOwner& operator=(const LockOwner&) = delete;

  bool holds_any() const { return !locks_.empty() || !relations_.empty(); }
  // The transaction's own fiber asks: what it holds of the relation's lock.
  LockModes modes_of(const Relation* relation) const;
  bool excludes(const Relation* relation) const;  // in mode access exclusive
  bool excludes_any() const { return excluded_ != 0; }
  bool keeps_writers_out() const { return kept_ != 0; }
  size_t lock_count() const { return locks_.size(); }
  // About how much memory they take.
  size_t lock_bytes() const;
  // f(tag, modes held before) for each time since lock_count() was `since` that a lock was gained
  // or strengthened.
  template <typename F>
  void visit_locks(size_t since, F f) const {
    for (size_t i = since; i < locks_.size(); ++i) f(locks_[i].tag(), locks_[i].before);
  }
  // But for those that only keep writers out: they come and go at any time.
  size_t relation_count() const { return relations_.size() - kept_; }
  // What it waits for just now: any thread may ask.
  enum class WaitsFor : uint8_t { nothing, record, relation, advisory };
  WaitsFor waits_for();

 private:
  friend class LockTable;
  friend class DeadlockWalk;
  friend struct LockQueue;
  // Lasts exactly while its waiter stands in the lock's queue, whose latch is held when it changes.
  struct Wait {
    bool lasts = false;
    LockTag tag = {};
    LockMode mode = LockMode::none;
    bool is_brief = false;  // WaitSettings
    uint64_t place = 0;     // in the queue: whoever stands before it has a lower one
    uint64_t number = 0;    // grows with every wait that begins or ends
    int64_t since_us = 0;   // Unix time
  };
  void begin_wait(const Wait& wait);
  void end_wait();
  LockModes modes_of(const Relation& relation, bool queued) const;  // under the latch
  bool note(Relation& relation, LockMode mode);
  void reserve_hold();

  alignas(64) SpinLatch latch_;  // guards wait_ and relations_ against other threads
  Wait wait_;
  std::atomic<uint32_t> awaited_{0};  // of the locks it holds: how many somebody has waited for
  uint64_t walk_ = 0;                 // the last walk that came here; the searcher's
  // What acquire() gained, in that order: of a lock whose holds grew, an entry for each time.
  struct Grant {
    union {
      LockQueue* queue;      // stays while the lock is held
      const Record* record;  // gained there; since then it may have come into the table
    };
    LockModes before;  // what was held of it until then
    bool in_record;
    LockTag tag() const;
  };
  std::vector<Grant> locks_;
  size_t queued_ = 0;  // of those, not in_record
  RelationHolds relations_;
  uint32_t excluded_ = 0;  // of those, in mode access exclusive
  uint32_t kept_ = 0;      // of those, only to keep writers out
  SpareList<LockQueue> spare_queues_;
  SpareList<LockHolder> spare_holders_;
  LockOwner* next_free_ = nullptr;
};

class LockTable {
 public:
  // Shards grow with what is in them (docs/lock_table.md).
  explicit LockTable(size_t shard_count = size_t{1} << 16);
  // No owner is in use.
  ~LockTable();
  LockTable(const LockTable&) = delete;
  LockTable& operator=(const LockTable&) = delete;

  LockOwner& take_owner();
  void return_owner(LockOwner& owner);  // holds nothing

  // Gains the lock in `mode` or a stronger one; at once if `owner` has it already. ok,
  // lock_not_available, lock_timeout, cancelled, deadlock, out_of_memory; conflict_record if the
  // record is obsolete. The caller holds a pin that protects the record. `use`: ordinary locks of
  // records may lie in these, so whoever has them installs larger rows behind move_to_table().
  enum class Use : uint8_t { ordinary, cautious, of_one_shot };
  TransactionStatus acquire(LockOwner& owner, LockTag tag, LockMode mode, WaitPolicy policy,
                            const WaitSettings& settings, Use use = Use::ordinary);
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
  // The record's lock, if the owner holds it, is in the table afterwards: the record needs the
  // room. Throws std::bad_alloc.
  void move_to_table(LockOwner& owner, const Record* record);
  // Of records that came into their tree with the owner's lock in them (LoadedRows), which is not
  // among its acquired ones: whether it is such a lock; from now on it is an acquired one, behind
  // make_room_for_one(); it is given up.
  bool is_loading(const LockOwner& owner, const Record* record) const;
  void note_loaded(LockOwner& owner, const Record* record);
  void release_loaded(LockOwner& owner, const Record* record);
  static void make_room_for_one(LockOwner& owner);  // throws std::bad_alloc
  // The owner, who holds the record's lock in mode update, has written that there is no row any
  // more. It counts until the lock is released, also if the write is taken back.
  void note_removal(LockOwner& owner, const Record* record);
  // Whether another has: only its end tells whether there is a row.
  bool removal_pending(const LockOwner& owner, const Record* record) const;
  // Undoes what was acquired, but for the `keep` oldest. The caller holds the pin under
  // which they were acquired.
  void release_locks(LockOwner& owner, size_t keep = 0);
  // Releases those of which all that was acquired was cautious: it was to help what is read to stay
  // true, and others need not wait for it any longer. Counts of locks from before (`keep`) keep
  // more then. The caller holds the pin under which they were acquired.
  void let_go_of_cautious(LockOwner& owner);
  // How many released locks the owner keeps for its next ones, at most; for tests.
  static size_t spares(const LockOwner& owner) {
    return std::max(owner.spare_queues_.count(), owner.spare_holders_.count());
  }
  // How many wait for the lock; for tests and monitoring.
  size_t waiters(LockTag tag) const;
  // Of the lists in which queues are looked for; for tests. Not all from one moment.
  struct Chains {
    size_t count;
    size_t longest;
  };
  Chains chains() const;

  // All waits, and all locks but those that lie in records, for monitoring (lock_list.cpp): each
  // entry was true at some moment of the call. Long work (base/long_work.h).
  std::vector<LockEntry> list();
  // Those of one lock for which somebody waits, at one moment.
  std::vector<LockEntry> list(LockTag tag);

  // --- relations (relation_lock.cpp) ---
  // Until release_relations(). Idempotent. Same statuses as acquire(). From mode share on, every
  // commit that changes the relation without a lock has ended; later ones see its gate. The caller
  // holds a pin that protects the relation.
  TransactionStatus lock_relation(LockOwner& owner, Relation& relation, LockMode mode,
                                  WaitPolicy policy, EpochManager& epochs,
                                  const WaitSettings& settings);
  void release_relations(LockOwner& owner);
  // But the `keep` oldest (LockOwner::relation_count()), and, if these stay, those of relations
  // that the owner excludes others from. Lets writers in.
  enum class Exclusions : uint8_t { stay, go };
  void release_relations_since(LockOwner& owner, size_t keep, Exclusions exclusions);
  // The last resort against being beaten (docs/commit_protocol.md): nobody else changes the
  // relation until let_writers_in() or release_relations(). Waits for those who are at it for a
  // short while: lock_timeout if that was not enough. Else as lock_relation().
  TransactionStatus keep_writers_out(LockOwner& owner, Relation& relation, EpochManager& epochs,
                                     const WaitSettings& settings);
  void let_writers_in(LockOwner& owner);
  // All but what keep_writers_out() has gained.
  void release_relations_but_kept(LockOwner& owner);

 private:
  static constexpr size_t most_spares = 256;  // of an owner; enough for most blocks
  friend class DeadlockWalk;
  friend struct LockQueue;
  struct Shard;
  struct Waiter;
  class Patience;
  // What a look for a deadlock has come to.
  enum class Look : uint8_t {
    clear,     // it is part of none, and whoever makes it one looks for itself
    busy,      // somebody else looks just now
    unclear,   // what was found has changed, or must be looked at again
    deadlock,  // and it has left the queue
  };
  static bool reserve(LockOwner& owner);
  // But so many.
  static void free_spares(LockOwner& owner, size_t but = most_spares);
  Shard& shard_of(LockTag tag) const;
  TransactionStatus gain(LockOwner& owner, LockTag tag, Waiter& waiter, WaitPolicy policy,
                         const WaitSettings& settings);
  TransactionStatus enter_queue(LockOwner& owner, LockTag tag, Waiter& waiter, WaitPolicy policy);
  static TransactionStatus make_queue(LockOwner& owner, Shard& shard, LockTag tag,
                                      LockQueue** made);
  TransactionStatus wait_in_queue(LockTag tag, Waiter& waiter, const WaitSettings& settings);
  bool leave_queue(LockTag tag, Waiter& waiter);
  void note_begin() { begun_.fetch_add(1, std::memory_order_acq_rel); }
  Look look_for_deadlock(LockTag tag, Waiter& waiter);
  TransactionStatus make_ready(LockTag tag, Waiter& waiter, WaitPolicy policy);
  static void reduce(LockOwner& owner, Shard& shard, LockQueue& queue, LockModes modes);
  void release(LockOwner& owner, const LockOwner::Grant& grant);
  bool is_cautious(const LockOwner& owner, const LockQueue& queue) const;
  bool grant_out_of_turn(LockOwner& owner, LockTag tag);
  TransactionStatus gain_strong(LockOwner& owner, Relation& relation, LockMode mode,
                                WaitPolicy policy, const WaitSettings& settings);
  static TransactionStatus wait_for_commits(EpochManager& epochs, const WaitSettings& settings);
  void move_notes(LockOwner& owner, Relation& relation);
  void move_all_notes(Relation& relation);
  void reduce_relation(LockOwner& owner, Relation& relation);
  void drop_relations(LockOwner& owner, size_t keep);
  static size_t gather(LockOwner& owner, bool kept);
  // Whom `owner` waits for: holders, and, if told so, those who wait before it.
  void find_blockers(const LockOwner& owner, const LockOwner::Wait& wait, bool waiters_too,
                     std::vector<LockOwner*>& blockers) const;
  std::vector<LockOwner*> all_owners();
  static void list_owner(LockOwner& owner, std::vector<LockEntry>& entries);
  static void list_queues(Shard& shard, std::vector<LockEntry>& entries);
  Look search(LockTag tag, Waiter& waiter);  // the searcher's; throws std::bad_alloc

  std::unique_ptr<Shard[]> shards_;
  size_t shard_mask_;
  std::mutex owners_mutex_;
  std::vector<std::unique_ptr<LockOwner>> owners_;
  LockOwner* free_owners_ = nullptr;
  std::atomic<uint64_t> begun_{0};      // waits: who counts later sees the waits of those before
  std::atomic<bool> searching_{false};  // somebody is the searcher
  uint64_t walks_ = 0;                  // the searcher's
};

}  // namespace pgsilo
