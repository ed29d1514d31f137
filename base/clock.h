// Time as a seam: the machine's monotonic clock in the server, a hand-moved one in tests.
// Thread safety: now_us() from any thread.
#pragma once

#include <atomic>
#include <cstdint>

namespace pgsilo {

class Clock {
 public:
  virtual ~Clock() = default;
  // Microseconds since an arbitrary start; never goes back.
  virtual int64_t now_us() const = 0;
};

class MonotonicClock final : public Clock {
 public:
  int64_t now_us() const override;
};

class ManualClock final : public Clock {
 public:
  int64_t now_us() const override { return now_us_.load(std::memory_order_relaxed); }
  void advance_us(int64_t us) { now_us_.fetch_add(us, std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> now_us_{0};
};

}  // namespace pgsilo
