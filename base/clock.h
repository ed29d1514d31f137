// Time. The machine's two clocks as plain functions, and a seam for code whose tests move time by
// hand. Thread-safe.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <ctime>

namespace pgsilo {

// Never goes back; its zero means nothing. The clock of deadlines (base/parker.h) and of time
// budgets.
inline int64_t monotonic_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1000000000 + now.tv_nsec;
}
inline int64_t monotonic_us() { return monotonic_ns() / 1000; }

// Microseconds since 1970-01-01 00:00 UTC; jumps when somebody sets the clock.
inline int64_t unix_time_us() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return int64_t{now.tv_sec} * 1000000 + now.tv_nsec / 1000;
}

// The same where there is no sign; 0 while the clock is set to before 1970: nobody knows the time.
inline uint64_t known_unix_time_us() {
  return static_cast<uint64_t>(std::max<int64_t>(unix_time_us(), 0));
}

// Of a time that was written down: once such a clock was written as what it makes without a sign.
inline uint64_t known_unix_time_us(uint64_t written) { return written > INT64_MAX ? 0 : written; }

// As unix_time_us() was some milliseconds ago at most; several times cheaper.
inline int64_t coarse_unix_time_us() {
  timespec now;
  clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return int64_t{now.tv_sec} * 1000000 + now.tv_nsec / 1000;
}

class Clock {
 public:
  virtual ~Clock() = default;
  // Microseconds since an arbitrary start; never goes back.
  virtual int64_t now_us() const = 0;
};

class MonotonicClock final : public Clock {
 public:
  int64_t now_us() const override { return monotonic_us(); }
};

class ManualClock final : public Clock {
 public:
  int64_t now_us() const override { return now_us_.load(std::memory_order_relaxed); }
  void advance_us(int64_t us) { now_us_.fetch_add(us, std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> now_us_{0};
};

}  // namespace pgsilo
