#include "base/spin_latch.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace pgsilo {
namespace {

TEST(SpinLatchTest, IsTakenOnce) {
  SpinLatch latch;
  EXPECT_TRUE(latch.try_lock());
  EXPECT_FALSE(latch.try_lock());
  latch.unlock();
  std::lock_guard guard(latch);
  EXPECT_FALSE(latch.try_lock());
}

// Also when its holder loses the CPU while others wait.
TEST(SpinLatchTest, GuardsWhatIsWrittenUnderIt) {
  constexpr int threads = 4;
  constexpr int rounds = 5000;
  SpinLatch latch;
  uint64_t count = 0;  // plain memory: TSan objects unless the latch orders it
  std::vector<std::thread> running;
  running.reserve(threads);
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([&] {
      for (int round = 0; round < rounds; ++round) {
        std::lock_guard guard(latch);
        uint64_t before = count;
        if (round % 1000 == 0) std::this_thread::yield();
        count = before + 1;
      }
    });
  }
  for (std::thread& thread : running) thread.join();
  EXPECT_EQ(count, uint64_t{threads} * rounds);
}

}  // namespace
}  // namespace pgsilo
