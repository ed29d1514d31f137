// Writers while there is no room, or no memory, for the log's next segment, on a simulated disk.
#include <gtest/gtest.h>

#include <cerrno>

#include "base/random.h"
#include "tests/crash/damage_bed.h"
#include "tests/unit/catalog/failing_memory.h"
#include "wal/checkpoint/checkpointer.h"

namespace pgsilo {
namespace {

class FullDevice : public Damage, public ::testing::WithParamInterface<bool> {};
INSTANTIATE_TEST_SUITE_P(Compression, FullDevice, ::testing::Bool());

TEST_P(FullDevice, WritersAreRefusedWithoutSpaceAndReadersGoOn) {
  WalOptions small = options();
  small.compress = GetParam();
  LoggedEngine engine(disk_, "/data", small);
  ASSERT_TRUE(engine.start());
  disk_.set_capacity(1);  // no segment more
  int committed = 0;
  std::optional<Epoch> epoch;
  Random random(1);
  do {
    // Some can be compressed and some cannot: no promise may rest on which.
    std::string row(8000, 'x');
    if (random.one_in(2)) {
      for (char& byte : row) byte = static_cast<char>(random.next());
    }
    epoch = engine.commit(0, {{1, "key" + std::to_string(committed), row}});
    if (!epoch) break;
    ++committed;
    engine.wal().wait_durable(0, *epoch);
    engine.wal().prepare_segments();
  } while (committed < 1000);
  EXPECT_EQ(engine.status(), TransactionStatus::no_log_space);
  EXPECT_GT(committed, 5);
  EXPECT_EQ(engine.content().size(), static_cast<size_t>(committed));  // nothing half-done
  disk_.set_capacity(UINT64_MAX);
  engine.wal().prepare_segments();
  epoch = engine.commit(0, {{1, "after", "row"}});
  ASSERT_TRUE(epoch.has_value());
  engine.wal().wait_durable(0, *epoch);
  disk_.cut_power();
  EXPECT_EQ(restart(small), committed + 1) << why_;
}

// Any call may fail with which a segment is prepared: a new one, or a retired one that is used
// again.
TEST_F(Damage, WritersAreRefusedWhileNoSegmentCanBePreparedAndReadersGoOn) {
  WalOptions small = options();
  int committed = 0;
  auto commit_row = [&](LoggedEngine& engine) {
    std::string key = "key" + std::to_string(committed);
    std::optional<Epoch> epoch = engine.commit(0, {{1, key, std::string(8000, 'x')}});
    if (!epoch) return false;
    ++committed;
    engine.wal().wait_durable(0, *epoch);
    return true;
  };
  for (bool retired : {false, true}) {
    int refused = 0;
    for (uint64_t step = 1;; ++step) {
      disk_.restart();
      LoggedEngine engine(disk_, "/data", small);
      ASSERT_TRUE(engine.start()) << engine.why();
      if (retired) {
        while (!engine.wal().checkpointer().step()) {
        }
      }
      auto space = [&] { return engine.wal().status().logs[0].space; };
      while (space() == "ample") ASSERT_TRUE(commit_row(engine));
      uint64_t failing = disk_.steps() + step;
      disk_.fail_at(failing, {FileStatus::failed, EIO});
      engine.wal().prepare_segments();
      if (disk_.steps() < failing) break;
      if (space() == "ample") continue;  // it did not matter
      ++refused;
      EXPECT_EQ(space(), "exhausted") << step;
      if (space() != "exhausted") break;  // or it waits for ever
      EXPECT_FALSE(commit_row(engine)) << step;
      EXPECT_EQ(engine.status(), TransactionStatus::no_log_space);
      EXPECT_EQ(engine.content().size(), static_cast<size_t>(committed));
      engine.wal().prepare_segments();
      ASSERT_TRUE(commit_row(engine)) << step;
      disk_.cut_power();
      ASSERT_EQ(restart(small), committed) << step << ": " << why_;
    }
    EXPECT_GE(refused, retired ? 2 : 5);
  }
}

TEST_F(Damage, WritersAreRefusedWhileThereIsNoMemoryForASegment) {
  WalOptions small = options();
  bool failed = true;
  int committed = 0;
  int refused = 0;
  auto commit_row = [&](LoggedEngine& engine) {
    std::string key = "key" + std::to_string(committed);
    std::optional<Epoch> epoch = engine.commit(0, {{1, key, std::string(8000, 'x')}});
    if (!epoch) return false;
    ++committed;
    engine.wal().wait_durable(0, *epoch);
    return true;
  };
  for (size_t successes = 0; failed; successes += 1 + successes / 8) {
    disk_.restart();
    LoggedEngine engine(disk_, "/data", small);
    ASSERT_TRUE(engine.start()) << engine.why();
    auto space = [&] { return engine.wal().status().logs[0].space; };
    // More than are kept will be retired.
    for (int i = 0; i < 150; ++i) ASSERT_TRUE(commit_row(engine));
    while (!engine.wal().checkpointer().step()) {
    }
    while (space() == "ample") ASSERT_TRUE(commit_row(engine));
    {
      testing::FailingMemory memory(successes, testing::FailingMemory::Fails::for_good);
      engine.wal().prepare_segments();
      failed = memory.has_failed();
    }
    if (space() != "ample") {
      ++refused;
      ASSERT_EQ(space(), "exhausted") << successes;
      EXPECT_FALSE(commit_row(engine)) << successes;
      EXPECT_EQ(engine.status(), TransactionStatus::no_log_space);
    }
    engine.wal().prepare_segments();
    ASSERT_TRUE(commit_row(engine)) << successes;
    disk_.cut_power();
    ASSERT_EQ(restart(small), committed) << successes << ": " << why_;
  }
  EXPECT_GT(refused, 5);
}

}  // namespace
}  // namespace pgsilo
