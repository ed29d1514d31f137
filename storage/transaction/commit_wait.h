// Waiting for another's commit: for the lock bit of a record, which its holder has from the moment
// he locks his records until he has installed them, or for an epoch with a commit in it. Of a few
// records that takes microseconds, of millions some hundred milliseconds. So who waits spins
// first, and then parks again and again, for an eighth of what he has waited so far: nobody wakes
// him, for whoever installs a row does not know of him (docs/commit_protocol.md, "Beside a large
// commit"). Internal to storage/transaction. Thread safety: the waiter's own.
#pragma once

#include <cstdint>

#include "storage/record/record.h"
#include "storage/transaction/abort_reason.h"
#include "storage/transaction/record_lock.h"

namespace pgsilo {

class CommitWait {
 public:
  // As long as a switch to another thread and back takes, which a holder who has lost his CPU
  // needs.
  static constexpr int64_t usual_spin_us = 50;
  explicit CommitWait(const WaitSettings& settings, int64_t spin_us = usual_spin_us)
      : settings_(settings), spin_us_(spin_us) {}

  // One moment. ok: look again; cancelled.
  TransactionStatus pause();

 private:
  static constexpr int patient_rounds = 128;
  static constexpr int64_t shortest_park_us = 50;
  static constexpr int64_t longest_park_us = 10'000;

  bool may_park() const;

  const WaitSettings& settings_;
  const int64_t spin_us_;
  int rounds_ = 0;
  int64_t since_us_ = 0;
};

// The word once nobody holds its lock: ok, or cancelled.
TransactionStatus await_unlocked(const Record& record, const WaitSettings& settings, TidWord* word);
inline TransactionStatus unlocked_word(const Record& record, const WaitSettings& settings,
                                       TidWord* word) {
  *word = record.tid_word().load();
  if (!word->is_locked()) [[likely]]
    return TransactionStatus::ok;
  return await_unlocked(record, settings, word);
}

// As Record::stable_read(), of a session that can do something else meanwhile: ok, or cancelled.
TransactionStatus await_stable_read(const Record& record, RowBuffer& buffer,
                                    const WaitSettings& settings, TidWord* seen);
inline TransactionStatus stable_read(const Record& record, RowBuffer& buffer,
                                     const WaitSettings& settings, TidWord* seen) {
  if (record.try_read(buffer, *seen)) [[likely]]
    return TransactionStatus::ok;
  return await_stable_read(record, buffer, settings, seen);
}

}  // namespace pgsilo
