// Whether a worker that wakes leaves its CPU to who runs there (SCHED_BATCH) or preempts it. Who
// runs there mostly is a client in the midst of its sends, soon done; then leaving it the CPU makes
// rounds longer and cheaper. Beside programs that burn CPUs it means a wait for a whole time slice
// at each wake: a worker that waits much longer than it runs, and long each time, preempts for a
// while (decisions/worker-scheduling.md).
//
// Times in microseconds. Thread safety: none; one per worker.
#pragma once

#include <cstdint>

namespace pgsilo {

// Of a thread: how long it ran, how long it was runnable and did not, and how often it began to
// run. They only grow.
struct ThreadTimes {
  int64_t ran_us = 0;
  int64_t waited_us = 0;
  int64_t turns = 0;
};

class BatchRule {
 public:
  // Looked at so often, while there is work.
  static constexpr int64_t window_us = 20'000;
  // Kept waiting in a window: for so long at each turn, and for so many times what it ran.
  static constexpr int64_t long_wait_us = 400;
  static constexpr int64_t starved_share = 4;
  static constexpr int64_t fewest_turns = 4;
  // It preempts for `first_pause_us` then, for twice as long each time that it waits as long right
  // behind that, and for the first pause again once it does not.
  static constexpr int64_t first_pause_us = 1'000'000;
  static constexpr int64_t longest_pause_us = 64'000'000;

  bool is_due(int64_t now_us) const { return now_us >= due_us_; }
  // When it is due. True: leave the CPU to others.
  bool leaves_cpu(int64_t now_us, const ThreadTimes& times);

 private:
  ThreadTimes seen_;
  int64_t due_us_ = 0;
  int64_t pause_us_ = first_pause_us;
  bool leaves_ = true;
};

}  // namespace pgsilo
