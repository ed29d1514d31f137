#include "base/memory_budget.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "base/append.h"
#include "base/arena.h"
#include "base/byte_buffer.h"

namespace pgsilo {
namespace {

constexpr size_t megabyte = size_t{1} << 20;

// What the ceiling measures.
std::atomic<size_t> used_bytes{0};
std::atomic<size_t> mapped_bytes{0};
std::atomic<int> measurements{0};
MemoryUsage measure() {
  ++measurements;
  return {used_bytes, mapped_bytes};
}

class MemoryBudgetTest : public ::testing::Test {
 protected:
  MemoryBudgetTest() {
    used_bytes = mapped_bytes = 0;
    measurements = 0;
  }
  static void wait_for_next_measurement() {
    std::this_thread::sleep_for(std::chrono::microseconds(MemoryCeiling::rest_us + 1000));
  }
};

TEST_F(MemoryBudgetTest, WorkersShareWhatIsFree) {
  used_bytes = 60 * megabyte;
  MemoryCeiling ceiling(100 * megabyte, 4, measure);
  MemoryBudget budget(ceiling, 0);
  EXPECT_TRUE(budget.admits(1));
  EXPECT_EQ(measurements, 1);
  // A quarter of the 40 MB is this worker's: until then it asks nobody.
  for (int i = 0; i < 9; ++i) EXPECT_TRUE(budget.admits(megabyte));
  EXPECT_EQ(measurements, 1);
  EXPECT_TRUE(budget.admits(megabyte));
  EXPECT_EQ(measurements, 2);
}

TEST_F(MemoryBudgetTest, AMeasurementEndsOlderShares) {
  used_bytes = 60 * megabyte;
  MemoryCeiling ceiling(100 * megabyte, 2, measure);
  MemoryBudget first(ceiling, 0), second(ceiling, 1);
  EXPECT_TRUE(first.admits(1));
  EXPECT_TRUE(second.admits(1));
  used_bytes = 99 * megabyte;
  EXPECT_FALSE(second.admits(30 * megabyte));
  // Of the 20 MB that it was given before, half a megabyte is left to the first.
  EXPECT_FALSE(first.admits(2 * megabyte));
  EXPECT_TRUE(first.admits(megabyte / 4));
}

TEST_F(MemoryBudgetTest, OneMayHaveMoreThanAShareButNobodyTheSame) {
  MemoryCeiling ceiling(100 * megabyte, 4, measure);
  MemoryBudget first(ceiling, 0), second(ceiling, 1);
  EXPECT_TRUE(first.admits(90 * megabyte));
  EXPECT_TRUE(second.admits(2 * megabyte));  // of what is left it has a quarter
  EXPECT_EQ(measurements, 1);
}

TEST_F(MemoryBudgetTest, GrowthEndsAtTheLimitUpkeepAboveIt) {
  MemoryCeiling ceiling(80 * megabyte, 1, measure);
  MemoryBudget budget(ceiling, 0);
  used_bytes = 81 * megabyte;
  EXPECT_FALSE(budget.admits(1));
  EXPECT_TRUE(budget.admits(megabyte, MemoryPurpose::upkeep));
  EXPECT_TRUE(budget.admits(17 * megabyte, MemoryPurpose::upkeep));
  used_bytes = 99 * megabyte;
  EXPECT_FALSE(budget.admits(3 * megabyte, MemoryPurpose::upkeep));
  EXPECT_GE(ceiling.refusals(), 2u);
}

TEST_F(MemoryBudgetTest, WhoWasRefusedAsksAgainLater) {
  MemoryCeiling ceiling(80 * megabyte, 1, measure);
  MemoryBudget budget(ceiling, 0);
  used_bytes = 81 * megabyte;
  EXPECT_FALSE(budget.admits(1));
  used_bytes = 10 * megabyte;
  int before = measurements;
  EXPECT_FALSE(budget.admits(1));  // too early to look again
  EXPECT_EQ(measurements, before);
  wait_for_next_measurement();
  EXPECT_TRUE(budget.admits(1));
  EXPECT_EQ(measurements, before + 1);
}

// Between measurements a worker takes at most its share, however often it is refused meanwhile.
TEST_F(MemoryBudgetTest, ARefusalGivesNoShareBack) {
  MemoryCeiling ceiling(80 * megabyte, 2, measure);
  MemoryBudget budget(ceiling, 0);
  used_bytes = 60 * megabyte;
  EXPECT_FALSE(budget.admits(30 * megabyte));
  EXPECT_TRUE(budget.admits(6 * megabyte));  // of the ten that are its share
  EXPECT_FALSE(budget.admits(30 * megabyte));
  EXPECT_EQ(measurements, 1);
  used_bytes += 6 * megabyte;
  EXPECT_TRUE(budget.admits(5 * megabyte));
  EXPECT_EQ(measurements, 2);
}

TEST_F(MemoryBudgetTest, HolesInPagesCountFromAQuarterMore) {
  MemoryCeiling ceiling(80 * megabyte, 1, measure);
  MemoryBudget budget(ceiling, 0);
  used_bytes = 40 * megabyte;
  mapped_bytes = 99 * megabyte;
  EXPECT_TRUE(budget.admits(1));
  mapped_bytes = 101 * megabyte;
  EXPECT_FALSE(budget.admits(2 * megabyte));
  EXPECT_TRUE(budget.admits(2 * megabyte, MemoryPurpose::upkeep));
}

TEST_F(MemoryBudgetTest, PromisesAreUsedMemory) {
  MemoryCeiling ceiling(80 * megabyte, 1, measure);
  MemoryBudget budget(ceiling, 0);
  {
    MemoryPromise promise(&budget);
    promise.cover(60 * megabyte);
    EXPECT_EQ(ceiling.promised_bytes(), 60 * megabyte);
    EXPECT_FALSE(budget.admits(30 * megabyte));
    promise.cover(40 * megabyte);
    wait_for_next_measurement();
    EXPECT_TRUE(budget.admits(30 * megabyte));
    promise.cover(40 * megabyte + 1);  // a little is not worth a write
    EXPECT_EQ(ceiling.promised_bytes(), 40 * megabyte);
  }
  EXPECT_EQ(ceiling.promised_bytes(), 0u);
}

class CountingRelief final : public MemoryRelief {
 public:
  void relieve() override { ++count; }
  int count = 0;
};

TEST_F(MemoryBudgetTest, ReliefIsAskedForOncePerMeasurement) {
  CountingRelief relief;
  MemoryCeiling ceiling(80 * megabyte, 1, measure);
  ceiling.set_relief(&relief);
  MemoryBudget budget(ceiling, 0);
  used_bytes = 110 * megabyte;
  EXPECT_FALSE(budget.admits(megabyte));
  EXPECT_FALSE(budget.admits(megabyte));
  EXPECT_EQ(relief.count, 1);
  EXPECT_FALSE(budget.admits(megabyte, MemoryPurpose::upkeep));
  EXPECT_EQ(relief.count, 1);
  wait_for_next_measurement();
  EXPECT_FALSE(budget.admits(megabyte));
  EXPECT_EQ(relief.count, 2);
}

// A cache that is full at first.
class FullCache final : public MemoryCache {
 public:
  bool give_back() override {
    ++asked;
    if (bytes == 0) return false;
    used_bytes -= bytes;
    bytes = 0;
    return true;
  }
  size_t bytes = 20 * megabyte;
  int asked = 0;
};

TEST_F(MemoryBudgetTest, CachesGoBeforeGrowthIsRefused) {
  CountingRelief relief;
  MemoryCeiling ceiling(80 * megabyte, 1, measure);
  ceiling.set_relief(&relief);
  MemoryBudget budget(ceiling, 0);
  FullCache cache;
  budget.set_cache(&cache);
  used_bytes = 75 * megabyte;
  EXPECT_TRUE(budget.admits(megabyte));
  EXPECT_EQ(cache.asked, 0);
  used_bytes = 85 * megabyte;
  EXPECT_TRUE(budget.admits(10 * megabyte, MemoryPurpose::upkeep));
  EXPECT_EQ(cache.asked, 0);
  EXPECT_TRUE(budget.admits(10 * megabyte));
  EXPECT_EQ(cache.asked, 1);
  EXPECT_EQ(ceiling.refusals(), 0u);
  EXPECT_FALSE(budget.admits(10 * megabyte));
  EXPECT_EQ(cache.asked, 2);
  EXPECT_EQ(ceiling.refusals(), 1u);
}

// The overshoot that docs/memory.md states: what workers take together between measurements.
TEST_F(MemoryBudgetTest, ManyWorkersStayBelowTheLimit) {
  constexpr int workers = 4;
  constexpr size_t limit = 64 * megabyte;
  MemoryCeiling ceiling(limit, workers, measure);
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < workers; ++i) {
    threads.emplace_back([&ceiling, i] {
      MemoryBudget budget(ceiling, i);
      while (budget.admits(1000)) used_bytes += 1000;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(used_bytes, limit - workers * MemoryCeiling::smallest_share);
  EXPECT_LE(used_bytes, limit + workers * (MemoryCeiling::smallest_share + 1000));
}

TEST_F(MemoryBudgetTest, LimitedArenasAskForLongBlocks) {
  MemoryCeiling ceiling(80 * megabyte, 1, measure);
  MemoryBudget budget(ceiling, 0);
  MemoryBudget::Use use(budget);
  used_bytes = 90 * megabyte;
  Arena limited(ArenaLimit::memory_limit);
  EXPECT_NE(limited.allocate(100), nullptr);  // a little is always there
  EXPECT_THROW(limited.allocate(megabyte), MemoryLimitReached);
  EXPECT_NE(limited.allocate(100), nullptr);
  Arena free;
  EXPECT_NE(free.allocate(megabyte), nullptr);
}

TEST_F(MemoryBudgetTest, BuffersThatAskKeepWhatTheyHave) {
  MemoryCeiling ceiling(80 * megabyte, 1, measure);
  MemoryBudget budget(ceiling, 0);
  MemoryBudget::Use use(budget);
  used_bytes = 90 * megabyte;
  ByteBuffer asks;
  asks.set_asks(true);
  asks.append_repeated('x', ByteBuffer::free_bytes);  // a little is always there
  EXPECT_THROW(asks.append('x'), MemoryLimitReached);
  EXPECT_EQ(asks.size(), ByteBuffer::free_bytes);
  asks.set_asks(false);
  asks.append('x');
  EXPECT_EQ(asks.size(), ByteBuffer::free_bytes + 1);
}

TEST_F(MemoryBudgetTest, NothingIsLimitedInOtherThreads) {
  EXPECT_EQ(MemoryBudget::current(), nullptr);
  EXPECT_TRUE(memory_admits(SIZE_MAX / 4));
}

// Lists that remember ask before they grow by much, and have positions of 32 bits.
TEST_F(MemoryBudgetTest, LongListsGrowByHalfAsFarAsTheReserveAdmits) {
  EXPECT_EQ(grown_capacity(0, 8), 16u);
  EXPECT_EQ(grown_capacity(1000, 8), 2000u);
  EXPECT_EQ(grown_capacity(megabyte, 8), megabyte * 3 / 2);
  EXPECT_EQ(grown_capacity(max_listed - 1, 8), max_listed);
  EXPECT_THROW(grown_capacity(max_listed, 8), std::bad_alloc);
  used_bytes = 110 * megabyte;  // above the limit: what is left is 15 MB of the reserve
  MemoryCeiling ceiling(100 * megabyte, 1, measure);
  MemoryBudget budget(ceiling, 0);
  MemoryBudget::Use use(budget);
  EXPECT_EQ(grown_capacity(megabyte, 8), megabyte * 3 / 2);
  EXPECT_THROW(grown_capacity(megabyte, 8), MemoryLimitReached);
  EXPECT_EQ(grown_capacity(1000, 8), 2000u);
}

}  // namespace
}  // namespace pgsilo
