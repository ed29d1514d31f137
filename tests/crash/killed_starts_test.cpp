// Starts that are killed one after the other: each begins a segment of its own, and yet the log
// does not grow for ever (docs/checkpoints.md, When).
#include <gtest/gtest.h>

#include "base/file_simulated.h"
#include "tests/crash/logged_engine.h"
#include "wal/checkpoint/checkpoint_history.h"
#include "wal/checkpoint/checkpointer.h"

namespace pgsilo {
namespace {

class KilledStartsTest : public ::testing::Test {
 protected:
  static WalOptions options() {
    WalOptions options = LoggedEngine::small_options();
    options.workers = 1;
    options.checkpoints.max_log_bytes = size_t{4} << 20;  // 16 segments
    return options;
  }

  // One row more, durably.
  void commit(LoggedEngine& engine) {
    std::vector<WriteOperation> row{{1, "key" + std::to_string(content_.size()), "row"}};
    std::optional<Epoch> epoch = engine.commit(0, row);
    ASSERT_TRUE(epoch.has_value());
    apply_writes(content_, row);
    engine.wal().wait_durable(0, *epoch);
  }

  void restart() {
    disk_.cut_power();
    disk_.restart();
  }

  size_t segments() {
    std::vector<std::string> names;
    EXPECT_TRUE(disk_.list("/data/wal", &names).ok());
    return static_cast<size_t>(
        std::ranges::count_if(names, [](const auto& name) { return name.ends_with(".segment"); }));
  }

  SimulatedFileSystem disk_{1};
  Content content_;
};

TEST_F(KilledStartsTest, AskForACheckpointWhenTheirLogIsLong) {
  unsigned made = 0;
  for (int life = 0; life < 100; ++life) {
    LoggedEngine engine(disk_, "/data", options());
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_EQ(engine.content(), content_);
    ASSERT_LE(segments(), 40u) << life;
    Checkpointer& checkpointer = engine.wal().checkpointer();
    CheckpointReason reason;
    if (checkpointer.would_begin(&reason)) {
      EXPECT_EQ(reason, CheckpointReason::recovery);
      while (!checkpointer.step(reason)) {
      }
      EXPECT_FALSE(checkpointer.would_begin(&reason));
      ++made;
    }
    commit(engine);
    restart();
  }
  EXPECT_GE(made, 5u);
  EXPECT_LE(made, 20u);
}

// None of them lives long enough for a checkpoint: at last one is made before anybody is served.
TEST_F(KilledStartsTest, MakeOneFirstWhereNoneWasFinished) {
  for (int life = 0; life < 32; ++life) {
    LoggedEngine engine(disk_, "/data", options());
    ASSERT_TRUE(engine.start()) << engine.why();
    EXPECT_FALSE(engine.wal().checkpointer().is_overdue()) << life;
    commit(engine);
    restart();
  }
  for (int life = 0; life < 2; ++life) {
    LoggedEngine engine(disk_, "/data", options());
    ASSERT_TRUE(engine.start()) << engine.why();
    commit(engine);
    restart();
  }
  LoggedEngine engine(disk_, "/data", options());
  ASSERT_TRUE(engine.start()) << engine.why();
  EXPECT_TRUE(engine.wal().checkpointer().is_overdue());
  engine.wal().start_threads();
  EXPECT_EQ(engine.wal().checkpoints().status().made, 1u);
  EXPECT_EQ(engine.wal().checkpoints().last().reason, CheckpointReason::recovery);
  EXPECT_EQ(engine.content(), content_);
}

// One that ended in good order has nothing to make shorter.
TEST_F(KilledStartsTest, ACleanStopLeavesNothingToDo) {
  WalOptions tiny = options();
  tiny.checkpoints.max_log_bytes = size_t{64} << 10;  // less than a segment
  for (int life = 0; life < 3; ++life) {
    LoggedEngine engine(disk_, "/data", tiny);
    ASSERT_TRUE(engine.start()) << engine.why();
    CheckpointReason reason;
    EXPECT_FALSE(engine.wal().checkpointer().would_begin(&reason)) << life;
    if (life == 0) commit(engine);
    engine.wal().stop();
    EXPECT_EQ(engine.wal().checkpoints().status().made, life == 0 ? 1u : 0u) << life;
  }
}

}  // namespace
}  // namespace pgsilo
