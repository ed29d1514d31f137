#include "storage/record/memory_account.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

#include "storage/relation/relation.h"

namespace pgsilo {
namespace {

struct alignas(64) TestCell {
  std::atomic<int> value{0};
};

size_t count(const ThreadCells<TestCell>& cells) {
  size_t all = 0;
  cells.visit([&](const TestCell&) { ++all; });
  return all;
}

TEST(ThreadCellsTest, EachThreadHasOneOfItsOwn) {
  ThreadCells<TestCell> cells;
  EXPECT_EQ(count(cells), 0u);
  std::set<TestCell*> all;
  for (unsigned index = 0; index < 1024; ++index) {
    TestCell* cell = cells.mine(index);
    ASSERT_NE(cell, nullptr);
    EXPECT_EQ(cells.mine(index), cell);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(cell) % 64, 0u);
    EXPECT_TRUE(all.insert(cell).second) << index;
    EXPECT_EQ(count(cells), all.size());
  }
  EXPECT_EQ(cells.mine(1024), nullptr);
  EXPECT_EQ(cells.mine(UINT_MAX), nullptr);
}

TEST(ThreadCellsTest, ExistsOnlyWhereSomebodyCounts) {
  ThreadCells<TestCell> cells;
  for (unsigned index : {63u, 0u, 64u}) static_cast<void>(cells.mine(index));
  EXPECT_EQ(count(cells), 3u);
}

TEST(MemoryAccountTest, SumsWhatAllThreadsCount) {
  MemoryAccount account;
  account.begin_with(1000, MemoryKind::nodes);
  account.add(0, 100);
  account.add(63, 10, MemoryKind::nodes);
  account.subtract(5000, 40);  // has no cell
  account.subtract(7, 30);     // what another allocated
  account.add_rows(1, 5);
  account.add_rows(5000, -7);
  EXPECT_EQ(account.bytes(MemoryKind::rows), 30u);
  EXPECT_EQ(account.bytes(MemoryKind::nodes), 1010u);
  EXPECT_EQ(account.bytes(), 1040u);
  EXPECT_EQ(account.rows(), -2);
}

TEST(MemoryAccountTest, LosesNothingWhatThreadsCountAtATime) {
  constexpr unsigned threads = 8;
  constexpr int64_t rounds = 20000;
  MemoryAccount account;
  std::vector<std::thread> running;
  running.reserve(threads);
  for (unsigned i = 0; i < threads; ++i) {
    running.emplace_back([&, i] {
      unsigned index = i < 6 ? i * 9 : 2000;  // the last two share what there is no cell for
      for (int64_t round = 0; round < rounds; ++round) {
        account.add(index, 3);
        account.add_rows(index, round % 2 == 0 ? 2 : -1);
      }
    });
  }
  for (int64_t seen = 0; seen < 1000; ++seen) EXPECT_LE(account.rows(), rounds * threads);
  for (std::thread& thread : running) thread.join();
  EXPECT_EQ(account.bytes(), 3u * threads * rounds);
  EXPECT_EQ(account.rows(), rounds / 2 * threads);
}

// A database of many tables that few threads write.
TEST(MemoryAccountTest, IsSmallForATableOfFewWriters) {
  EXPECT_LE(sizeof(MemoryAccount), 96u);
  EXPECT_LE(sizeof(Relation), 448u);
}

}  // namespace
}  // namespace pgsilo
