// Which state of a backup was there at which time.
#include "tests/crash/backup_bed.h"
#include "wal/backup/source_logs.h"
#include "wal/backup/state_times.h"

namespace pgsilo {
namespace {

class BackupTimesTest : public BackupTest {
 protected:
  StateTimes times_of(const BackupSource& source, const BackupLabel& label) {
    SourceLogs logs;
    StateTimes times;
    EXPECT_TRUE(logs.find(*disk_, source, label.control, &why_) && logs.scan(*disk_, &why_) &&
                times.read(logs, label, earliest_stop(label), &why_))
        << why_;
    return times;
  }
};

TEST_F(BackupTimesTest, EachTimeIsTheStateThatWasAcknowledgedThen) {
  uint64_t told = 0;
  for (uint64_t round = 0; round < 12; ++round) {
    WalOptions used = options(1 + static_cast<unsigned>(round) % 3);
    size_t stopped = 0;
    BackupLabel label = make_copy(round, used, &stopped);
    disk_->restart();
    BackupSource source = source_of_backup("/copy", label);
    source.log_directories = used.log_directories;
    StateTimes times = times_of(source, label);
    ASSERT_LE(states_[stopped - 2].acknowledged_us, times.last_us());
    Epoch found;
    for (const State& state : states_) {
      bool within =
          times.first_us() <= state.acknowledged_us && state.acknowledged_us <= times.last_us();
      ASSERT_EQ(times.find(state.acknowledged_us, &found, &why_), within);
      if (!within) continue;
      ++told;
      ASSERT_LE(earliest_stop(label), found);
      auto after = std::ranges::upper_bound(states_, found, {}, &State::epoch);
      ASSERT_EQ(std::prev(after)->content, state.content) << "round " << round;
    }
    EXPECT_FALSE(times.find(times.first_us() - 1, &found, &why_));
    EXPECT_TRUE(why_.starts_with("the backup holds no state before ")) << why_;
    EXPECT_FALSE(times.find(times.last_us() + 1, &found, &why_));
    EXPECT_TRUE(why_.starts_with("the backup holds no state after ")) << why_;

    ASSERT_TRUE(times.find(times.last_us(), &label.stop, &why_)) << why_;
    write_test_file(*disk_, label_path, write_backup_label(label));
    std::optional<Content> last = start_copy(used);
    ASSERT_TRUE(last) << why_;
    auto after = std::ranges::upper_bound(states_, label.stop, {}, &State::epoch);
    EXPECT_EQ(*last, std::prev(after)->content);
  }
  EXPECT_GT(told, 100U);
}

// Then the log has no data that would prove anything of the backup's end, nor of its time.
TEST_F(BackupTimesTest, OfAServerAtRestHasItsStateAndItsTime) {
  for (unsigned logs = 1; logs <= 3; ++logs) {
    begin(logs);
    WalOptions used = options(logs);
    LoggedEngine engine(*disk_, "/data", used);
    ASSERT_TRUE(engine.start()) << engine.why();
    for (int turn = 0; turn < 3; ++turn) {
      ASSERT_NO_FATAL_FAILURE(commit(engine));
      ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
      ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
      Backup backup(engine.wal().checkpointer(), "test");
      auto before_us = static_cast<uint64_t>(unix_time_us());
      stop(engine, backup);
      BackupLabel label;
      ASSERT_TRUE(read_backup_label(backup.label_file(), &label, &why_)) << why_;
      EXPECT_LE(earliest_stop(label), label.stop);
      BackupSource source{.data_directory = "/data",
                          .log_directories = used.log_directories,
                          .checkpoint_directories = {}};
      StateTimes times = times_of(source, label);
      EXPECT_LE(before_us, times.last_us());
      Epoch found;
      ASSERT_TRUE(times.find(times.last_us(), &found, &why_)) << why_;
      EXPECT_EQ(found, label.stop);
    }
  }
}

}  // namespace
}  // namespace pgsilo
