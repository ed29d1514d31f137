// Whether a worker that has run out of work looks for more of it for a while before it sleeps. To
// sleep and to be woken costs more than a short request, so where a client's answer is all that its
// next request waits for, looking pays. But it takes a CPU from whoever else wants one. So nobody
// looks while the machine has more runnable threads than the server has CPUs: that tells of others
// without giving the CPU away to find out, which may cost a time slice
// (docs/decisions/worker-scheduling.md). And who finds nothing looks less and less often.
//
// Times in microseconds. Thread safety: none; one per worker.
#pragma once

#include <algorithm>
#include <cstdint>

namespace pgsilo {

class PollRule {
 public:
  // The threads are counted when a poll begins, and so often while it lasts.
  static constexpr int64_t count_every_us = 10;
  // They were too many, or nothing came in time: the next poll is so much later, twice as long each
  // time in a row. To count them costs as much as a short request.
  static constexpr int64_t first_pause_us = 100;
  static constexpr int64_t longest_pause_us = 6'400;

  // How long a poll lasts at most; 0: there are none. `cpus`: the server's.
  PollRule(int64_t poll_us, int cpus) : poll_us_(poll_us), cpus_(cpus) {}

  bool may_begin(int64_t now_us) const { return poll_us_ != 0 && now_us >= polls_from_us_; }
  int64_t begin(int64_t now_us) {  // until when
    counted_us_ = now_us - count_every_us;
    return now_us + poll_us_;
  }
  bool counts(int64_t now_us) const { return now_us - counted_us_ >= count_every_us; }
  // This many threads of the machine run or want to, the caller included. False: the poll ends.
  bool goes_on(int64_t now_us, int runnable) {
    counted_us_ = now_us;
    if (runnable <= cpus_) return true;
    found_nothing(now_us);
    return false;
  }
  void found_work() { pause_us_ = first_pause_us; }
  void found_nothing(int64_t now_us) {
    polls_from_us_ = now_us + pause_us_;
    pause_us_ = std::min(2 * pause_us_, longest_pause_us);
  }

 private:
  int64_t poll_us_;
  int cpus_;
  int64_t counted_us_ = 0;
  int64_t polls_from_us_ = 0;
  int64_t pause_us_ = first_pause_us;
};

}  // namespace pgsilo
