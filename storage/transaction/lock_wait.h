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
        began_us_(monotonic_us()),
        deadline_us_(settings.lock_timeout_us > 0 ? began_us_ + settings.lock_timeout_us
                                                  : Parker::no_deadline),
        next_check_us_(began_us_ + settings.deadlock_timeout_us) {}

  // Parks until it is time to look at something.
  void park() { settings_.parker->park(std::min(deadline_us_, next_check_us_)); }
  // At most so long. Nobody looks for a deadlock.
  void park_for(int64_t longest_us) {
    settings_.parker->park(std::min(deadline_us_, monotonic_us() + longest_us));
  }
  // Why the wait must end, or ok.
  TransactionStatus verdict() const {
    if (settings_.cancelled != nullptr && settings_.cancelled->load(std::memory_order_acquire)) {
      return TransactionStatus::cancelled;
    }
    return monotonic_us() >= deadline_us_ ? TransactionStatus::lock_timeout : TransactionStatus::ok;
  }
  // Once it has waited for deadlock_timeout.
  bool check_due() const { return monotonic_us() >= next_check_us_; }
  void checked(Look look) {
    if (look == Look::clear) {
      next_check_us_ = Parker::no_deadline;
    } else if (look == Look::busy) {
      next_check_us_ = monotonic_us() + pause_us_;
      pause_us_ = std::min(2 * pause_us_, longest_pause_us);
    } else {
      next_check_us_ = monotonic_us() + settings_.deadlock_timeout_us;
    }
  }

  // Of a wait that nobody was told of, only that it lasts is told.
  void tell(LockTag tag, LockMode mode, LongWaitObserver::Stage stage) {
    if (settings_.observer == nullptr) return;
    bool begins = stage == LongWaitObserver::Stage::still_waits;
    if (begins == told_ && stage != LongWaitObserver::Stage::deadlocked) return;
    told_ = true;
    settings_.observer->observe(tag, mode, stage, monotonic_us() - began_us_);
  }

 private:
  static constexpr int64_t longest_pause_us = 128000;
  const WaitSettings& settings_;
  const int64_t began_us_;
  int64_t pause_us_ = 1000;  // before it asks again whether somebody else looks
  bool told_ = false;
  const int64_t deadline_us_;
  int64_t next_check_us_;
};

}  // namespace pgsilo
