// How the kernel schedules a worker's thread, and what it tells of that.
// Thread safety: the thread that it is about, all calls.
#pragma once

#include "executor/worker/batch_rule.h"

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
  // Between rounds of work: some nanoseconds, and every BatchRule::window_us some microseconds.
  void look(int64_t now_us) {
    if (times_ >= 0 && rule_.is_due(now_us)) apply(now_us);
  }

 private:
  void apply(int64_t now_us);
  static void leave_cpu(bool leave);
  bool read_times(ThreadTimes* times) const;

  int times_ = -1;  // the file
  bool leaves_ = true;
  BatchRule rule_;
};

}  // namespace pgsilo
