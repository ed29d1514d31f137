// Which state of a backup was there at which time.
#include "tests/crash/backup_bed.h"
#include "wal/backup/source_logs.h"
#include "wal/backup/state_times.h"
#include "wal/log/log_begin.h"
#include "wal/log/segment_reader.h"

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

  static BackupSource running(const WalOptions& used) {
    return {.data_directory = "/data",
            .log_directories = used.log_directories,
            .checkpoint_directories = {}};
  }

  static constexpr uint64_t hour_us = 3600000000;

  // As if the clock had been an hour ahead when the last block of a log was written, or that of its
  // first segments.
  void write_later(const std::string& path, uint64_t segments = UINT64_MAX) {
    LogDirectory log(*disk_, path);
    ASSERT_TRUE(log.read_identity(&why_)) << why_;
    std::vector<uint64_t> numbers;
    ASSERT_TRUE(log.list_segments(&numbers).ok());
    std::string last;
    std::string bytes;
    BlockPlace place{.log = log.log(), .segment = 0, .offset = 0};
    for (uint64_t number : numbers) {
      if (number > segments) break;
      SegmentReader reader(*disk_, log.segment_path(number), number, log.log());
      ASSERT_TRUE(reader.open().ok());
      uint64_t at = 0;
      while (std::optional<BlockView> block = reader.next(at, at + log_format::block_unit)) {
        last = log.segment_path(number);
        place = {.log = log.log(), .segment = number, .offset = at};
        bytes = disk_->content(last).substr(at, block->bytes);
        at += block->bytes;
      }
    }
    ASSERT_FALSE(last.empty());
    ASSERT_NO_FATAL_FAILURE(seal_later(place, &bytes));
    disk_->corrupt(last, place.offset, bytes);
  }

  void seal_later(const BlockPlace& place, std::string* bytes) {
    const std::string before = *bytes;
    std::optional<BlockView> block = open_block(before, place);
    ASSERT_TRUE(block && block->header_bytes == log_format::block_header_bytes);
    std::string payload(block->stored);
    if (block->header.kind == BlockKind::begin) {
      std::optional<LogBegin> begin = decode_log_begin(payload);
      ASSERT_TRUE(begin);
      begin->unix_time_us += hour_us;
      payload = encode_log_begin(*begin);
    }
    if (block->trailer) block->trailer->unix_time_us += hour_us;
    bytes->replace(log_format::block_header_bytes, payload.size(), payload);
    seal_block(bytes->data(), place, block->header, payload.size(),
               block->trailer ? &*block->trailer : nullptr);
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

    ASSERT_TRUE(times.find(times.last_us(), &found, &why_)) << why_;
    ASSERT_LE(found, label.stop);
    label.stop = found;
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
      StateTimes times = times_of(running(used), label);
      EXPECT_LE(before_us, times.last_us());
      Epoch found;
      ASSERT_TRUE(times.find(times.last_us(), &found, &why_)) << why_;
      EXPECT_EQ(found, label.stop);
    }
  }
}

// A start that logs nothing, and makes a checkpoint: its begin block alone knows the time.
TEST_F(BackupTimesTest, StandStillBehindAStartThatLoggedNothing) {
  begin(9);
  WalOptions used = options(1);
  for (bool logs : {true, false}) {
    LoggedEngine engine(*disk_, "/data", used);
    ASSERT_TRUE(engine.start()) << engine.why();
    if (logs) {
      ASSERT_NO_FATAL_FAILURE(commit(engine));
    }
    ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
    engine.wal().stop();
  }
  ASSERT_NO_FATAL_FAILURE(write_later("/data/wal0"));
  auto before_us = static_cast<uint64_t>(unix_time_us());
  LoggedEngine engine(*disk_, "/data", used);
  ASSERT_TRUE(engine.start()) << engine.why();
  ASSERT_NO_FATAL_FAILURE(commit(engine));
  Backup backup(engine.wal().checkpointer(), "test");
  stop(engine, backup);
  BackupLabel label;
  ASSERT_TRUE(read_backup_label(backup.label_file(), &label, &why_)) << why_;
  StateTimes times = times_of(running(used), label);
  EXPECT_GE(times.first_us(), before_us + hour_us / 2);
}

// A start's last time is behind those of the next: until then nothing later can be told.
TEST_F(BackupTimesTest, GoBackInNoStart) {
  begin(10);
  WalOptions used = options(1);
  {
    LoggedEngine engine(*disk_, "/data", used);
    ASSERT_TRUE(engine.start()) << engine.why();
    for (int i = 0; i < 5; ++i) ASSERT_NO_FATAL_FAILURE(commit(engine));
    disk_->cut_power();
  }
  disk_->restart();
  LoggedEngine engine(*disk_, "/data", used);
  ASSERT_TRUE(engine.start()) << engine.why();
  for (int i = 0; i < 20; ++i) ASSERT_NO_FATAL_FAILURE(commit(engine));
  Backup backup(engine.wal().checkpointer(), "test");
  stop(engine, backup);
  BackupLabel label;
  ASSERT_TRUE(read_backup_label(backup.label_file(), &label, &why_)) << why_;
  ASSERT_NO_FATAL_FAILURE(write_later("/data/wal0", 1));
  StateTimes times = times_of(running(used), label);
  EXPECT_GE(times.first_us(), states_.back().acknowledged_us + hour_us / 2);
  EXPECT_LE(times.first_us(), times.last_us());
  Epoch found;
  EXPECT_FALSE(times.find(states_.back().acknowledged_us, &found, &why_));
  ASSERT_TRUE(times.find(times.last_us(), &found, &why_)) << why_;
  EXPECT_EQ(found, label.stop);
}

}  // namespace
}  // namespace pgsilo
