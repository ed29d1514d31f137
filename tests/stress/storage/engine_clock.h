// Advances an engine's epochs and declares them durable, as a logger does, until it goes out of
// scope, so that deletes are unhooked.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

#include "tests/unit/storage/transaction/test_engine.h"

namespace pgsilo::testing {

class EngineClock {
 public:
  explicit EngineClock(TestEngine& engine)
      : thread_([this, &engine] {
          while (!stop_.load(std::memory_order_relaxed)) {
            engine.make_durable();
            std::this_thread::sleep_for(std::chrono::microseconds(200));
          }
        }) {}
  ~EngineClock() {
    stop_.store(true, std::memory_order_relaxed);
    thread_.join();
  }

 private:
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace pgsilo::testing
