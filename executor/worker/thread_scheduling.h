// How the kernel schedules a worker's thread, and what it tells of that.
// Thread safety: the thread that it is about, all calls.
#pragma once

#include "executor/worker/batch_rule.h"
#include "executor/worker/yield_rule.h"

namespace pgsilo {

class ThreadScheduling {
 public:
  ThreadScheduling() = default;
  ~ThreadScheduling();
  ThreadScheduling(const ThreadScheduling&) = delete;
  ThreadScheduling& operator=(const ThreadScheduling&) = delete;

  // From here on the calling thread leaves its CPU to others, and looks whether it should. Where
  // the kernel does not tell (schedstat), it does so for good.
  void begin();
  // Whether it is time for choose(), which takes some microseconds.
  bool is_due(int64_t now_us) const { return times_ >= 0 && rule_.is_due(now_us); }
  void choose(int64_t now_us, uint64_t done);  // BatchRule::leaves_cpu()
  // Before each round of work.
  void begin_round(int64_t now_us) {
    if (now_us - waits_since_us_ >= shortest_sleep_us) yield_rule_.woke(now_us);
    waits_since_us_ = awake;
    if (yield_rule_.is_due(now_us)) give_way(now_us);
  }
  // It is going to wait for events, which may be there already.
  void waits(int64_t now_us) { waits_since_us_ = now_us; }

 private:
  static constexpr int64_t shortest_sleep_us = 10;
  static constexpr int64_t awake = INT64_MAX;

  void give_way(int64_t now_us);
  static void leave_cpu(bool leave);
  bool read_times(ThreadTimes* times) const;

  int times_ = -1;  // the file
  int64_t waits_since_us_ = awake;
  bool leaves_ = true;
  BatchRule rule_;
  YieldRule yield_rule_;
};

}  // namespace pgsilo
