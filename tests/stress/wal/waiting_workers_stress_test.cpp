// Threads that sleep until an epoch is durable wake each other; some are busy when they are told.
// Nobody is left asleep, though nobody tells them a second time. Runs under ThreadSanitizer too.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/random.h"
#include "wal/log/waiting_workers.h"
#include "wal/wal.h"

namespace pgsilo {
namespace {

class Sleeper final : public DurableListener {
 public:
  bool on_durable(Epoch) override {
    std::lock_guard lock(mutex_);
    called_ = true;
    changed_.notify_one();
    return std::exchange(asleep_, false);
  }
  // False: nobody has come for a long time.
  bool sleep() {
    std::unique_lock lock(mutex_);
    if (!called_) asleep_ = true;
    bool woken = changed_.wait_for(lock, std::chrono::seconds(30), [this] { return called_; });
    called_ = asleep_ = false;
    return woken;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool called_ = false;
  bool asleep_ = false;
};

TEST(WaitingWorkersStress, NobodyIsLeftAsleep) {
  constexpr unsigned workers = 24;
  const uint64_t rounds = 1500;
  DurableEpoch durable;
  WaitingWorkers waiting(durable, workers);
  std::atomic<unsigned> asking{0};
  std::atomic<bool> failed{false};
  auto serve = [&](unsigned index) {
    Sleeper sleeper;
    Random random(index);
    waiting.set_listener(index, &sleeper);
    for (uint64_t round = 1; round <= rounds && !failed; ++round) {
      bool told = waiting.wait(index, Epoch(round));
      asking.fetch_add(1);
      if (random.one_in(3)) std::this_thread::yield();  // busy when it is told
      while (told && !durable.covers(Epoch(round)) && !failed) {
        if (!sleeper.sleep()) failed = true;
        waiting.pass_on(index);
      }
      waiting.pass_on(index);
    }
    waiting.set_listener(index, nullptr);
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < workers; ++i) threads.emplace_back(serve, i);
  for (uint64_t round = 1; round <= rounds && !failed; ++round) {
    // All have asked for this epoch, so the one before has reached everybody.
    while (asking.load() < round * workers && !failed) std::this_thread::yield();
    durable.publish(Epoch(round));
    waiting.tell_all();
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(failed);
}

}  // namespace
}  // namespace pgsilo
