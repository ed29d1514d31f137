#include "executor/worker/batch_rule.h"

#include <algorithm>

namespace pgsilo {

bool BatchRule::leaves_cpu(int64_t now_us, const ThreadTimes& times) {
  const int64_t ran = times.ran_us - seen_.ran_us;
  const int64_t waited = times.waited_us - seen_.waited_us;
  const int64_t turns = times.turns - seen_.turns;
  seen_ = times;
  due_us_ = now_us + window_us;
  if (!leaves_) {
    leaves_ = true;  // a trial
    return true;
  }
  if (turns < fewest_turns) return true;
  const bool is_starved = waited > turns * long_wait_us && waited > ran * starved_share;
  if (!is_starved) {
    pause_us_ = first_pause_us;
    return true;
  }
  leaves_ = false;
  due_us_ = now_us + pause_us_;
  pause_us_ = std::min(2 * pause_us_, longest_pause_us);
  return false;
}

}  // namespace pgsilo
