#include "executor/worker/batch_rule.h"

#include <algorithm>

namespace pgsilo {

bool BatchRule::leaves_cpu(int64_t now_us, const ThreadTimes& times, uint64_t done) {
  const int64_t ran = times.ran_us - seen_.ran_us;
  const int64_t waited = times.waited_us - seen_.waited_us;
  const int64_t turns = times.turns - seen_.turns;
  const double rate = static_cast<double>(done - done_) /
                      static_cast<double>(std::max<int64_t>(1, now_us - looked_us_));
  seen_ = times;
  done_ = done;
  looked_us_ = now_us;
  if (state_ == State::tries) return end_trial(now_us, rate);
  due_us_ = now_us + window_us;
  if (state_ == State::rests) {
    state_ = State::looks;
    return true;
  }
  if (turns < fewest_turns) return true;
  if (waited <= turns * long_wait_us || waited <= ran * starved_share) {
    pause_us_ = first_pause_us;
    return true;
  }
  state_ = State::tries;
  rate_before_ = rate;
  due_us_ = now_us + trial_us;
  return false;
}

bool BatchRule::end_trial(int64_t now_us, double rate) {
  state_ = State::rests;
  due_us_ = now_us + pause_us_;
  pause_us_ = std::min(2 * pause_us_, longest_pause_us);
  return rate < rate_before_ * worthwhile;
}

}  // namespace pgsilo
