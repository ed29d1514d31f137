// How long a one-shot that met a conflict waits before it runs again: not at all at first (the
// other one is most likely done), then a random time that grows with the number of failures, so
// that rivals stop meeting. Thread safety: none; one per session.
#pragma once

#include <cstdint>

namespace pgsilo {

class RetryPolicy {
 public:
  explicit RetryPolicy(uint64_t seed) : random_state_(seed | 1) {}

  // A new statement: no failure yet.
  void reset() { failures_ = 0; }
  // The statement has failed once more; microseconds to wait before the next run, 0 for at once.
  int64_t next_delay_us();
  uint32_t failures() const { return failures_; }

  static constexpr uint32_t immediate_retries = 3;
  static constexpr int64_t first_delay_us = 20;
  static constexpr int64_t longest_delay_us = 5000;

 private:
  uint64_t random_state_;
  uint32_t failures_ = 0;
};

}  // namespace pgsilo
