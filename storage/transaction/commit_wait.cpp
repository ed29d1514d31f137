#include "storage/transaction/commit_wait.h"

#include <sched.h>

#include <algorithm>
#include <exception>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/parker.h"

namespace pgsilo {

TransactionStatus CommitWait::pause() {
  if (++rounds_ <= patient_rounds) {
    pause_briefly();
    return TransactionStatus::ok;
  }
  if (settings_.cancelled != nullptr && settings_.cancelled->load(std::memory_order_acquire))
    return TransactionStatus::cancelled;
  int64_t now_us = monotonic_us();
  if (since_us_ == 0) since_us_ = now_us;
  int64_t waited_us = now_us - since_us_;
  if (waited_us < spin_us_ || !may_park()) {
    sched_yield();
  } else {
    int64_t park_us = std::clamp(waited_us / 8, shortest_park_us, longest_park_us);
    settings_.parker->park_for_commit(now_us + park_us);
  }
  return TransactionStatus::ok;
}

// A fiber cannot be suspended while an exception is handled (base/fiber.h).
bool CommitWait::may_park() const {
  return settings_.parker != nullptr && std::uncaught_exceptions() == 0 &&
         std::current_exception() == nullptr;
}

[[gnu::noinline]] TransactionStatus await_unlocked(const Record& record,
                                                   const WaitSettings& settings, TidWord* word) {
  for (CommitWait wait(settings); word->is_locked(); *word = record.tid_word().load()) {
    TransactionStatus status = wait.pause();
    if (status != TransactionStatus::ok) return status;
  }
  return TransactionStatus::ok;
}

[[gnu::noinline]] TransactionStatus await_stable_read(const Record& record, RowBuffer& buffer,
                                                      const WaitSettings& settings, TidWord* seen) {
  CommitWait wait(settings);
  do {
    TransactionStatus status = wait.pause();
    if (status != TransactionStatus::ok) return status;
  } while (!record.try_read(buffer, *seen));
  return TransactionStatus::ok;
}

}  // namespace pgsilo
