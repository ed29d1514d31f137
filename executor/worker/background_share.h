// When background work has its turn. While others are runnable, after they have had their share of
// the worker. And while the machine's CPUs are contended: a thread that never sleeps takes from
// clients, loggers and other workers what they need to answer at once, so background work then
// rests between its turns, as long as somebody is there who would notice.
//
// Contention is what the turns themselves see: the time in which they were runnable and did not
// run. That is looked for again from time to time at full speed, for a contended machine looks free
// to work that rests.
//
// Times in microseconds. Thread safety: none; one per worker.
#pragma once

#include <cstdint>

namespace pgsilo {

class BackgroundShare {
 public:
  // The first turn is owed for as if one of `turn_us` had been before it.
  BackgroundShare(int percent, int64_t turn_us) : percent_(percent), owed_us_(owed(turn_us)) {}

  void add_foreground(int64_t us) { foreground_us_ += us; }
  // `others`: somebody else was runnable just now. `assists`: the work is a part of a foreground
  // statement and does not rest.
  bool is_due(int64_t now_us, bool others, bool assists) const {
    return (!others || foreground_us_ >= owed_us_) && (assists || now_us >= rest_until_us_);
  }
  int64_t rest_until_us() const { return rest_until_us_; }

  struct Turn {
    int64_t began_us;
    int64_t ended_us;
    int64_t cpu_us;      // that the thread had of it
    bool others_active;  // somebody had work for a worker of the server lately
    bool assists;
  };
  void turn_ended(const Turn& turn);

  // The CPUs are contended if turns of `window_us` together were kept from running for more than
  // `tolerated_us`. They are taken for contended for `first_pause_us` then, for twice as long each
  // time that they still are, and for half as long after each window in which they were not: the
  // kernel may leave a thread alone on its CPU for long while others crowd on the next.
  static constexpr int64_t window_us = 100'000;
  static constexpr int64_t tolerated_us = 3'000;
  static constexpr int64_t first_pause_us = 1'000'000;
  static constexpr int64_t longest_pause_us = 16'000'000;

  // More than that of a turn is not made up for: work that cannot give way for seconds would rest
  // for minutes, and nobody but its turn tells it that it was cancelled.
  static constexpr int64_t longest_counted_us = 20'000;

 private:
  int64_t owed(int64_t turn_us) const { return turn_us * (100 - percent_) / percent_; }
  void look_for_contention(const Turn& turn);

  const int percent_;
  int64_t foreground_us_ = 0;  // since the last turn
  int64_t owed_us_;
  int64_t rest_until_us_ = 0;
  int64_t contended_until_us_ = 0;
  int64_t pause_us_ = first_pause_us;
  int64_t looked_us_ = 0;  // of turns at full speed
  int64_t kept_us_ = 0;    // from the CPU, in that time
};

}  // namespace pgsilo
