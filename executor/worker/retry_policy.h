// What becomes of a statement that has met a conflict and runs again. At first at once, for the
// other one is most likely done; then after a random time that grows with the number of failures,
// so that rivals stop meeting. If that does not help, or the failed run was a large one, a one-shot
// takes intents as it goes; and whose reads are beaten all the same keeps writers out
// (docs/commit_protocol.md, Nobody starves).
// Thread safety: none; one per session.
#pragma once

#include <cstddef>
#include <cstdint>

#include "storage/transaction/abort_reason.h"

namespace pgsilo {

// Of whose reads are beaten all the same.
enum class LastResort : uint8_t { none, keep_writers_out };

class RetryPolicy {
 public:
  explicit RetryPolicy(uint64_t seed, LastResort last_resort = LastResort::keep_writers_out)
      : random_state_(seed | 1), last_resort_(last_resort) {}

  // A new statement: no failure yet.
  void reset() {
    failures_ = conflicts_ = beaten_ = 0;
    wants_intents_ = false;
  }
  // The statement has failed once more; microseconds to wait before the next run, 0 for at once.
  int64_t next_delay_us(TransactionStatus conflict);
  // The run that has failed had written so many records, those of indexes counted.
  void note_lost(size_t records) { wants_intents_ |= records >= large_run_records; }
  // Not before it takes intents will it succeed.
  void want_intents() { wants_intents_ = true; }
  uint32_t failures() const { return failures_; }
  // Of the next run.
  bool takes_intents() const { return wants_intents_ || failures_ >= failures_before_intents; }
  bool keeps_writers_out() const {
    return last_resort_ == LastResort::keep_writers_out && beaten_ >= beaten_before_exclusion &&
           (beaten_ - beaten_before_exclusion) % (2 * exclusive_runs) < exclusive_runs;
  }

  // It has failed so often that the conflict is told (40001), whatever the last resort promises: a
  // defect, as a conflict with itself, must not run for ever. Waits for locks and deadlocks, each
  // of which ends because others get on, count for the second number only.
  bool is_exhausted() const { return conflicts_ >= most_conflicts || failures_ >= most_failures; }

  static constexpr uint32_t most_conflicts = 1000;
  static constexpr uint32_t most_failures = 20'000;
  static constexpr uint32_t immediate_retries = 3;
  static constexpr int64_t first_delay_us = 20;
  static constexpr int64_t longest_delay_us = 5000;
  static constexpr uint32_t failures_before_intents = 8;
  // Who has lost so much, some 50 ms of work, takes intents from its next run on.
  static constexpr size_t large_run_records = 50'000;
  static constexpr uint32_t beaten_before_exclusion = 12;
  // So often in a row: what beats them is then outside of what can be kept from them. Others get
  // as many runs of theirs before it is tried again.
  static constexpr uint32_t exclusive_runs = 8;

 private:
  uint64_t random_state_;
  const LastResort last_resort_;
  uint32_t failures_ = 0;
  uint32_t conflicts_ = 0;
  uint32_t beaten_ = 0;  // of those, because of what it had read
  bool wants_intents_ = false;
};

}  // namespace pgsilo
