// The limits of one wait for a lock: deadline, cancellation, the next look for a deadlock. Internal
// to record_lock.cpp and relation_lock.cpp. Thread safety: the waiter's own.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/clock.h"
#include "base/parker.h"
#include "storage/transaction/record_lock.h"

namespace pgsilo {

class LockTable::Patience {
 public:
  explicit Patience(const WaitSettings& settings)
      : settings_(settings),
        deadline_us_(settings.lock_timeout_us > 0 ? monotonic_us() + settings.lock_timeout_us
                                                  : Parker::no_deadline),
        next_check_us_(monotonic_us() + settings.deadlock_timeout_us) {}

  // Parks, at most for `longest_us`.
  void park(int64_t longest_us = Parker::no_deadline) {
    int64_t until = std::min(deadline_us_, next_check_us_);
    if (longest_us != Parker::no_deadline) until = std::min(until, monotonic_us() + longest_us);
    settings_.parker->park(until);
  }
  // Why the wait must end, or ok.
  TransactionStatus verdict() const {
    if (settings_.cancelled != nullptr && settings_.cancelled->load(std::memory_order_acquire)) {
      return TransactionStatus::cancelled;
    }
    return monotonic_us() >= deadline_us_ ? TransactionStatus::lock_timeout : TransactionStatus::ok;
  }
  // True once per deadlock_timeout.
  bool check_due() {
    int64_t now = monotonic_us();
    if (now < next_check_us_) return false;
    next_check_us_ = now + settings_.deadlock_timeout_us;
    return true;
  }

 private:
  const WaitSettings& settings_;
  const int64_t deadline_us_;
  int64_t next_check_us_;
};

}  // namespace pgsilo
