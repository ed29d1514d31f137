// When a worker that does not sleep gives way to others that wait for its CPU: often, for if that
// is another worker its clients would wait for the end of a time slice; it gives the CPU back as
// soon. A program that keeps it for its own time slice is left to the kernel: who gives way to it
// each time gets a twentieth of the CPU (decisions/worker-scheduling.md).
//
// Times in microseconds. Thread safety: none; one per worker.
#pragma once

#include <algorithm>
#include <cstdint>

namespace pgsilo {

class YieldRule {
 public:
  static constexpr int64_t longest_run_us = 200;
  // One who keeps the CPU for so long is no worker. Then for `first_pause_us` nobody is given way
  // to, for twice as long each time that it is so again.
  static constexpr int64_t long_yield_us = 1'000;
  static constexpr int64_t first_pause_us = 100'000;
  static constexpr int64_t longest_pause_us = 1'600'000;

  // The thread was asleep until now.
  void woke(int64_t now_us) { began_us_ = now_us; }
  bool is_due(int64_t now_us) const {
    return now_us - began_us_ >= longest_run_us && now_us >= yields_from_us_;
  }
  void gave_way(int64_t from_us, int64_t to_us) {
    began_us_ = to_us;
    if (to_us - from_us < long_yield_us) {
      pause_us_ = first_pause_us;
      return;
    }
    yields_from_us_ = to_us + pause_us_;
    pause_us_ = std::min(2 * pause_us_, longest_pause_us);
  }

 private:
  int64_t began_us_ = 0;  // to run
  int64_t yields_from_us_ = 0;
  int64_t pause_us_ = first_pause_us;
};

}  // namespace pgsilo
