// Whether a worker that wakes leaves its CPU to who runs there (SCHED_BATCH) or preempts it. Who
// runs there mostly is a client in the midst of its sends, soon done; then leaving it the CPU makes
// rounds longer and cheaper. Beside programs that burn CPUs it means a wait for a whole time slice
// at each wake. So a worker that waits much longer than it runs, and long each time, tries whether
// the server gets more done when it preempts (decisions/worker-scheduling.md).
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
  // Then it preempts for so long, and if by that the server does more, by this factor...
  static constexpr int64_t trial_us = 50'000;
  static constexpr double worthwhile = 1.2;
  // ...goes on with it for `first_pause_us`, else leaves the CPU to others for as long; for twice
  // as long each time that it finds itself starved right behind that.
  static constexpr int64_t first_pause_us = 1'000'000;
  static constexpr int64_t longest_pause_us = 64'000'000;

  bool is_due(int64_t now_us) const { return now_us >= due_us_; }
  // When it is due. True: leave the CPU to others. `done`: what all workers have done so far, in
  // any unit.
  bool leaves_cpu(int64_t now_us, const ThreadTimes& times, uint64_t done);

 private:
  enum class State : uint8_t { looks, tries, rests };

  bool end_trial(int64_t now_us, double rate);

  ThreadTimes seen_;
  uint64_t done_ = 0;
  int64_t looked_us_ = 0;
  int64_t due_us_ = 0;
  int64_t pause_us_ = first_pause_us;
  double rate_before_ = 0;  // the trial: of what is done, each microsecond
  State state_ = State::looks;
};

}  // namespace pgsilo
