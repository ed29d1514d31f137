// Intent locks that lie in their records (docs/lock_table.md, "In the record"): of one who writes a
// record that nobody else wants neither the lock table nor memory knows. Internal to
// storage/transaction. Thread safety: any thread under a pin that protects the record.
#pragma once

#include "storage/record/record.h"
#include "storage/relation/lock_mode.h"

namespace pgsilo {

class LockOwner;

class InRecordLock {
 public:
  explicit InRecordLock(const Record* record) : record_(*const_cast<Record*>(record)) {}

  // Those that writers take.
  static constexpr bool can_be(LockMode mode) { return mode >= LockMode::no_key_update; }
  static constexpr LockMode mode_of(RecordHolder holder) {
    return holder.excludes_all() ? LockMode::update : LockMode::no_key_update;
  }
  // What `owner` has, if the record says so.
  LockModes held_by(const LockOwner& owner) const;

  // Gains `mode`, which can_be(), beyond what the owner has. False: ask the lock table.
  bool gain(const LockOwner& owner, LockMode mode);
  // The owner keeps `before`, which it had before a gain(). False: the table has it, or it is gone.
  bool reduce(const LockOwner& owner, LockModes before);
  // Of an owner that has it in mode update. False: the table has it.
  bool note_removal(const LockOwner& owner);

  // Of an owner whose row is no LoadedRows' any more. False: the table has the lock.
  bool note_loaded(const LockOwner& owner);

  // --- by who holds the latch of the record's shard, where there is no queue ---
  enum class Look : uint8_t {
    free,      // and the intent bit is up: whoever asked must make a queue
    held,      // by `holder`, for whom he must make a queue; then he calls moved()
    busy,      // just being gained or given up: let go of the latch, and look again
    obsolete,  // the record
  };
  Look take_over(RecordHolder* holder);
  void moved(RecordHolder holder);
  // As the record says it at this moment.
  RecordHolder holder() const { return record_.holder(); }

 private:
  bool take(RecordHolder mine);
  void give_up(RecordHolder mine, bool drops_intent);

  Record& record_;
};

}  // namespace pgsilo
