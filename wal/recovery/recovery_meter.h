// Counts the bytes recovery has read and reports about twice a second: bytes, percent, rate, time
// left. Thread safety: add(): any thread. The rest: the thread that called recover(), which reports
// from within report().
#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.h"
#include "wal/recovery/recovery_result.h"

namespace pgsilo {

class RecoveryMeter {
 public:
  // `listener` may be null.
  RecoveryMeter(const Clock& clock, RecoveryListener* listener)
      : clock_(clock),
        listener_(listener),
        started_us_(clock.now_us()),
        reported_us_(started_us_) {}

  // What is to be read, as far as it is known: while logs are analyzed, that they may have to be
  // read a second time.
  void expect(uint64_t bytes) { total_ += bytes; }
  // The analysis is done, and so much is left.
  void expect_only(uint64_t bytes) { total_ = done() + bytes; }
  void add(uint64_t bytes) { done_.fetch_add(bytes, std::memory_order_relaxed); }
  uint64_t done() const { return done_.load(std::memory_order_relaxed); }
  // Tells the listener if it is time or `now`.
  void report(bool now = false);

 private:
  static constexpr int64_t interval_us = 500'000;
  const Clock& clock_;
  RecoveryListener* const listener_;
  const int64_t started_us_;
  int64_t reported_us_;
  uint64_t total_ = 0;
  std::atomic<uint64_t> done_{0};
};

}  // namespace pgsilo
