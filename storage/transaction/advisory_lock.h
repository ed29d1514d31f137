// The advisory locks of one session: numbers that applications give a meaning. Here is the book of
// what it holds, how often, for itself and for its transaction; granting and waiting are the
// LockTable's, under the owner whose record locks the session's transactions have, so that no two
// locks of one session conflict and all of them are in one waits-for graph.
//
// Attempts. Locks are taken outside of the transaction: neither a rollback nor a conflict gives
// back what was taken for the session. But what the server runs again by itself must count once. So
// the book remembers how things stood when the attempt began, and undo() turns the counts back to
// that. What the owner really holds follows only when the attempt is settled: until then it is all
// that is counted, was counted before, or was gained by an attempt that is being repeated. So
// whoever waited for a lock has it still in the next run, and an unlock that is undone has let
// nobody in. (Unlocking becomes true for others when its statement has ended.) One case is left: a
// lock must be waited for while an unlock of the same attempt is pending. It is let go of for good
// before the wait, lest there be deadlocks that PostgreSQL has not, and the attempt cannot be
// undone any more: a conflict is then the client's.
//
// Thread safety: none; the session's fiber.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "storage/transaction/record_lock.h"

namespace pgsilo {

class AdvisoryLocks {
 public:
  enum class Scope : uint8_t {
    session,      // counted: as many unlock() as lock(), or the session's end
    transaction,  // until the transaction ends or is rolled back to before it
  };

  // Both outlive it.
  AdvisoryLocks(LockTable& table, LockOwner& owner) : table_(table), owner_(owner) {}
  ~AdvisoryLocks() { release_all(); }
  AdvisoryLocks(const AdvisoryLocks&) = delete;
  AdvisoryLocks& operator=(const AdvisoryLocks&) = delete;

  // `mode`: share or exclusive, here and below. Statuses as LockTable::acquire().
  TransactionStatus lock(LockTag tag, LockMode mode, Scope scope, WaitPolicy policy,
                         const WaitSettings& settings);
  // False: the session does not hold it (what its transaction holds does not count).
  bool unlock(LockTag tag, LockMode mode);
  // All of scope session.
  void unlock_all();
  // Everything, at once.
  void release_all();

  // Of scope transaction: what was taken since a mark. Others get it when the attempt is settled.
  using Mark = size_t;
  Mark mark() const { return taken_.size(); }
  void rollback_to(Mark mark);
  void end_transaction() { rollback_to(0); }

  // What was done so far stands; another attempt begins here.
  void settle() {
    if (!touched_.empty()) settle_touched();
    attempt_ = taken_.size();
    lets_go_ = is_final_ = false;
  }
  // Nothing was done since settle(); what was gained is kept for the next run.
  void undo();
  bool can_undo() const { return !is_final_; }
  // What may run again as a whole begins here.
  void set_replay_point() { stands_ = false; }
  // Since then something was settled that changed what the session holds.
  bool stands() const { return stands_; }
  // The session held something when the attempt began: a deadlock does not end by undo().
  bool held_before() const;

 private:
  // Counts of scope session, by mode: shared, exclusive.
  using Counts = std::array<uint64_t, 2>;
  struct Held {
    LockTag tag;
    Counts counts = {};
    Counts before = {};          // when the attempt began; only if touched
    LockModes transaction = {};  // of scope transaction
    LockModes granted = {};      // by the lock table
    bool touched = false;        // by this attempt: is in touched_
  };
  static size_t index_of(LockMode mode) { return mode == LockMode::exclusive ? 1 : 0; }
  static LockModes wanted(const Held& held);

  Held* find(LockTag tag);
  TransactionStatus gain(LockTag tag, LockMode mode, WaitPolicy policy,
                         const WaitSettings& settings);
  Held* book(LockTag tag, LockMode mode);
  void touch(Held& held);
  void settle_touched();
  void give_memory_back();

  LockTable& table_;
  LockOwner& owner_;
  std::unordered_map<LockTag, Held, LockTag::Hash> locks_;
  std::vector<Held*> touched_;  // has room for all of locks_
  // What transaction scope gained, oldest first: each lock and mode once.
  struct Taken {
    Held* held;
    LockMode mode;
  };
  std::vector<Taken> taken_;
  size_t attempt_ = 0;     // size of taken_ when the attempt began
  bool lets_go_ = false;   // this attempt has unlocked something for the last time
  bool is_final_ = false;  // ... and then waited
  bool stands_ = false;
};

}  // namespace pgsilo
