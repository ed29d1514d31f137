// What is remembered of checkpoints: progress step by step, log that they retire, failures, and
// only so many.
#include <gtest/gtest.h>

#include <cerrno>

#include "base/file_simulated.h"
#include "tests/crash/logged_engine.h"
#include "wal/checkpoint/checkpointer.h"

namespace pgsilo {
namespace {

class CheckpointHistoryTest : public ::testing::Test {
 protected:
  static WalOptions options() {
    WalOptions options = LoggedEngine::small_options();
    options.workers = 1;
    options.checkpoint_at_stop = false;
    return options;
  }

  void start(const WalOptions& options) {
    engine_.emplace(disk_, "/data", options);
    ASSERT_TRUE(engine_->start()) << engine_->why();
  }
  void write_rows(int count, char letter) {
    Epoch last;
    for (int i = 0; i < count; ++i) {
      std::optional<Epoch> epoch =
          engine_->commit(0, {{1, "key" + std::to_string(i), std::string(1000, letter)}});
      ASSERT_TRUE(epoch.has_value());
      last = *epoch;
    }
    engine_->wal().wait_durable(0, last);
  }
  Checkpointer& checkpointer() { return engine_->wal().checkpointer(); }
  CheckpointInfo last() { return checkpointer().history().last(); }

  SimulatedFileSystem disk_{1};
  std::optional<LoggedEngine> engine_;
};

TEST_F(CheckpointHistoryTest, ProgressOfAnUnpacedOne) {
  start(options());
  write_rows(2000, 'a');
  uint64_t walked = 0;
  int increases = 0;
  bool complete = checkpointer().step();
  for (; !complete; complete = checkpointer().step()) {
    CheckpointInfo info = last();
    EXPECT_EQ(info.state, CheckpointInfo::State::running);
    EXPECT_GE(info.walked_bytes, walked);
    if (info.walked_bytes > walked) ++increases;
    walked = info.walked_bytes;
  }
  EXPECT_GE(increases, 7);  // 2 MB in blocks of 256 kB
  CheckpointInfo info = last();
  EXPECT_EQ(info.state, CheckpointInfo::State::complete);
  EXPECT_EQ(info.records, 2000u);
  EXPECT_GT(info.planned_bytes, 2'000'000u);
  EXPECT_EQ(info.walked_bytes, info.planned_bytes);
  EXPECT_EQ(info.walked_bytes, walked);
}

TEST_F(CheckpointHistoryTest, ProgressOfAnUnpacedOneWithSeveralWalkers) {
  WalOptions several = options();
  several.checkpoint_threads = 3;
  start(several);
  write_rows(2000, 'a');
  std::string why;
  ASSERT_TRUE(checkpointer().run_now(CheckpointReason::shutdown, &why)) << why;
  EXPECT_EQ(last().reason, CheckpointReason::shutdown);
  EXPECT_EQ(last().records, 2000u);
  EXPECT_EQ(last().walked_bytes, last().planned_bytes);
}

// Rows that change while it is made are left out; they do not count as walked.
TEST_F(CheckpointHistoryTest, RowsThatChangeAreNotWalked) {
  start(options());
  write_rows(2000, 'a');
  do {
    checkpointer().step();
  } while (last().phase != CheckpointPhase::walking);
  write_rows(1000, 'b');
  while (!checkpointer().step()) continue;
  EXPECT_EQ(last().records, 1000u);
  EXPECT_EQ(last().walked_bytes, last().planned_bytes / 2);
}

TEST_F(CheckpointHistoryTest, RetiredLog) {
  start(options());
  std::string why;
  uint64_t segment = options().segment_bytes;
  write_rows(1000, 'a');  // a megabyte, in segments of 256 kB
  ASSERT_TRUE(checkpointer().run_now(CheckpointReason::time, &why)) << why;
  uint64_t first = last().retired_log_bytes;
  EXPECT_GE(first, 4 * segment);
  EXPECT_EQ(first % segment, 0u);
  EXPECT_GT(last().log_bytes, 1'000'000u);
  EXPECT_LT(last().log_bytes, first + 2 * segment);
  ASSERT_TRUE(checkpointer().run_now(CheckpointReason::time, &why)) << why;
  EXPECT_EQ(last().retired_log_bytes, 0u);
  EXPECT_EQ(last().log_bytes, 0u);
  write_rows(1000, 'b');
  ASSERT_TRUE(checkpointer().run_now(CheckpointReason::log_volume, &why)) << why;
  EXPECT_GE(last().retired_log_bytes, 4 * segment);
  EXPECT_LT(last().retired_log_bytes, 6 * segment);
  CheckpointStatus status = checkpointer().status();
  EXPECT_EQ(status.made, 3u);
  EXPECT_EQ(status.made_by_time, 2u);
}

TEST_F(CheckpointHistoryTest, Failures) {
  start(options());
  write_rows(100, 'a');
  disk_.fail_at(disk_.steps() + 1, {FileStatus::failed, EIO});
  std::string why;
  EXPECT_FALSE(checkpointer().run_now(CheckpointReason::request, &why));
  EXPECT_EQ(last().state, CheckpointInfo::State::failed);
  EXPECT_EQ(last().failure, why);
  EXPECT_NE(why, "");
  EXPECT_EQ(last().ended, Epoch());
  EXPECT_NE(last().ended_unix_us, 0);
  ASSERT_TRUE(checkpointer().run_now(CheckpointReason::request, &why));
  EXPECT_EQ(last().failure, "");
  EXPECT_EQ(checkpointer().status().failed, 1u);
  EXPECT_EQ(checkpointer().status().made, 1u);
}

TEST_F(CheckpointHistoryTest, OldOnesAreForgotten) {
  start(options());
  std::string why;
  for (size_t i = 0; i < CheckpointHistory::remembered + 5; ++i)
    ASSERT_TRUE(checkpointer().run_now(CheckpointReason::request, &why)) << why;
  std::vector<CheckpointInfo> list = checkpointer().history().list();
  ASSERT_EQ(list.size(), CheckpointHistory::remembered);
  for (size_t i = 0; i < list.size(); ++i) EXPECT_EQ(list[i].number, i + 6);
}

}  // namespace
}  // namespace pgsilo
