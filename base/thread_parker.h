// The parker of a plain thread (tests, tools), which sleeps. Thread safety: as Parker's.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "base/clock.h"
#include "base/parker.h"

namespace pgsilo {

class ThreadParker : public Parker {
 public:
  void park(int64_t deadline_us = no_deadline) override {
    std::unique_lock lock(mutex_);
    while (!token_) {
      int64_t now_us = monotonic_us();
      if (deadline_us == no_deadline) {
        changed_.wait(lock);
      } else if (now_us >= deadline_us) {
        return;
      } else {
        changed_.wait_for(lock, std::chrono::microseconds(deadline_us - now_us));
      }
    }
    token_ = false;
  }
  void unpark() override {
    std::lock_guard lock(mutex_);
    token_ = true;
    changed_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool token_ = false;
};

}  // namespace pgsilo
