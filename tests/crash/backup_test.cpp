// Online backups: a copy made beside writers and checkpoints, with its label, is the state at which
// the backup was stopped, or an earlier one that the label is made to name. Without what it holds
// it is refused, never half a database; its first start may be cut short anywhere.
#include "tests/crash/backup_bed.h"
#include "wal/layout/lsn_text.h"

namespace pgsilo {
namespace {

TEST_F(BackupTest, BesideWritersAndCheckpointsIsTheStateAtItsEnd) {
  for (uint64_t round = 0; round < 60; ++round) {
    begin(round);
    WalOptions used = options(1 + static_cast<unsigned>(round) % 3);
    LoggedEngine engine(*disk_, "/data", used);
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(work(engine, random_.below(60)));
    size_t stopped = 0;
    ASSERT_NO_FATAL_FAILURE(back_up(engine, &stopped));
    ASSERT_NO_FATAL_FAILURE(work(engine, random_.below(20)));
    std::optional<Content> found = start_copy(used);
    ASSERT_TRUE(found) << "round " << round << ": " << why_;
    ASSERT_EQ(*found, states_[stopped - 1].content) << "round " << round;
    EXPECT_EQ(engine.content(), states_.back().content);
  }
}

TEST_F(BackupTest, EachEpochThatTheLabelIsMadeToNameIsThePrefixUpToIt) {
  for (uint64_t round = 0; round < 10; ++round) {
    WalOptions used = options(1 + static_cast<unsigned>(round) % 3);
    size_t stopped = 0;
    BackupLabel label = make_copy(round, used, &stopped);
    disk_->restart();
    ASSERT_LT(earliest_stop(label), label.stop);
    for (Epoch target = earliest_stop(label); target <= label.stop;
         target = Epoch(target.value() + 1 + random_.below(4))) {
      BackupLabel earlier = label;
      earlier.stop = target;
      ASSERT_NO_FATAL_FAILURE(
          copy_directory(*disk_, "/copy", "/copy" + lsn_text(target), random_, [] {}));
      std::string directory = "/copy" + lsn_text(target);
      write_test_file(*disk_, join_path(directory, backup_label_name), write_backup_label(earlier));
      LoggedEngine restored(*disk_, directory, used);
      ASSERT_TRUE(restored.start()) << restored.why();
      auto after = std::ranges::upper_bound(states_, target, {}, &State::epoch);
      ASSERT_EQ(restored.content(), std::prev(after)->content) << "epoch " << target.value();
    }
  }
}

TEST_F(BackupTest, IsTakenIntoADirectoryAndRestoredFromIt) {
  for (uint64_t round = 0; round < 12; ++round) {
    begin(round);
    WalOptions used = options(1 + static_cast<unsigned>(round) % 3);
    used.log_directories[0] = "/elsewhere";
    LoggedEngine engine(*disk_, "/data", used);
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(work(engine, 20 + random_.below(80)));
    BackupSource running{.data_directory = "/data",
                         .log_directories = used.log_directories,
                         .checkpoint_directories = {}};
    BackupCopyReport report;
    BackupLabel label;
    size_t stopped = states_.size();
    {
      Backup backup(engine.wal().checkpointer(), "test");
      stop(engine, backup);
      ASSERT_NO_FATAL_FAILURE(work(engine, 40));
      ASSERT_TRUE(read_backup_label(backup.label_file(), &label, &why_)) << why_;
      ASSERT_TRUE(copy_backup(*disk_, running, label, "/some/backup", &report, &why_)) << why_;
    }
    EXPECT_FALSE(copy_backup(*disk_, running, label, "/some/backup", &report, &why_));
    EXPECT_EQ(why_, "directory \"/some/backup\" exists but is not empty");
    disk_->cut_power();
    disk_->restart();

    ASSERT_EQ(read_label_file(*disk_, "/some/backup", &label, &why_), LabelRead::ok) << why_;
    label.stop = Epoch(label.stop.value() - random_.below(2));
    BackupCopyReport restored;
    ASSERT_TRUE(copy_backup(*disk_, source_of_backup("/some/backup", label), label, "/copy",
                            &restored, &why_))
        << why_;
    EXPECT_EQ(restored.log_directories, report.log_directories);
    // The server's own would be written over.
    used.log_directories = restored.log_directories;
    used.log_directories[0] = "/elsewhere";
    EXPECT_FALSE(start_copy(used));
    EXPECT_NE(why_.find("log directory \"/elsewhere\" is not the one of this backup"),
              std::string::npos)
        << why_;
    used.log_directories = restored.log_directories;
    std::optional<Content> found = start_copy(used);
    ASSERT_TRUE(found) << why_;
    auto after =
        std::ranges::upper_bound(states_.begin(), states_.begin() + static_cast<ptrdiff_t>(stopped),
                                 label.stop, {}, &State::epoch);
    EXPECT_EQ(*found, std::prev(after)->content) << "round " << round;
  }
}

// Half a copy is no database.
TEST_F(BackupTest, ACopyThatIsCutShortIsRefused) {
  WalOptions used = options(1);
  bool cut = true;
  uint64_t refused = 0;
  for (uint64_t step = 1; cut; ++step) {
    size_t stopped = 0;
    BackupLabel label = make_copy(step, used, &stopped);
    disk_->restart();
    BackupSource source = source_of_backup("/copy", label);
    source.log_directories = used.log_directories;
    BackupCopyReport report;
    disk_->cut_power_at(disk_->steps() + step);
    try {
      ASSERT_TRUE(copy_backup(*disk_, source, label, "/restored", &report, &why_)) << why_;
      cut = false;
      disk_->cut_power();
    } catch (const SimulatedPowerCut&) {
    }
    disk_->restart();
    used.log_directories = {"wal"};
    LoggedEngine engine(*disk_, "/restored", used);
    used = options(1);
    if (engine.start()) {
      // Nothing was there yet: a new database. Or its label was the last that was written.
      Content found = engine.content();
      ASSERT_TRUE((found.empty() && step < 10) || found == states_[stopped - 1].content)
          << "step " << step;
    } else {
      ++refused;
    }
  }
  EXPECT_GT(refused, 5U);
}

TEST_F(BackupTest, AFirstStartThatIsCutShortIsRepeated) {
  WalOptions used = options(2);
  bool cut = true;
  for (uint64_t step = 1; cut; ++step) {
    size_t stopped = 0;
    ASSERT_NO_FATAL_FAILURE(make_copy(step, used, &stopped));
    disk_->restart();
    const Content expected = states_[stopped - 1].content;
    {
      LoggedEngine engine(*disk_, "/copy", used);
      disk_->cut_power_at(disk_->steps() + step);
      cut = false;
      try {
        ASSERT_TRUE(engine.start()) << engine.why();
        disk_->cut_power_at(0);
        states_.assign(1, {.epoch = {}, .content = engine.content(), .acknowledged_us = 0});
        commit(engine);
        disk_->cut_power();
      } catch (const SimulatedPowerCut&) {
        cut = true;
      }
    }
    disk_->restart();
    std::optional<Content> found = start_copy(used);
    ASSERT_TRUE(found) << "step " << step << ": " << why_;
    // A label that came back would have undone what was committed since.
    ASSERT_EQ(*found, cut ? expected : states_.back().content) << "step " << step;
  }
}

TEST_F(BackupTest, KeepsFilesAndSegmentsUntilItEnds) {
  begin(3);
  LoggedEngine engine(*disk_, "/data", options(1));
  ASSERT_TRUE(engine.start()) << engine.why();
  ASSERT_NO_FATAL_FAILURE(work(engine, 40));
  ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
  uint64_t live = 0;
  {
    Backup backup(engine.wal().checkpointer(), "test");
    for (int i = 0; i < 3; ++i) {
      ASSERT_NO_FATAL_FAILURE(work(engine, 100));
      ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
    }
    EXPECT_EQ(checkpoint_files(), 2U);
    live = engine.wal().status().logs[0].live_segments;
  }
  engine.wal().checkpointer().step();
  EXPECT_LT(engine.wal().status().logs[0].live_segments, live);
  ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
  EXPECT_EQ(checkpoint_files(), 1U);
}

// No writer waits for space because of a backup.
TEST_F(BackupTest, IsGivenUpWhenTheLogNeedsItsSpace) {
  begin(4);
  LoggedEngine engine(*disk_, "/data", options(1));
  ASSERT_TRUE(engine.start()) << engine.why();
  ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
  Backup backup(engine.wal().checkpointer(), "test");
  disk_->set_capacity(size_t{4} << 20);
  for (int turn = 0; turn < 5000 && !backup.given_up(); ++turn) {
    if (engine.commit(0, {{1, "key" + std::to_string(turn % 60), std::string(4000, 'r')}})) {
      engine.wal().wait_durable(0, engine.epochs().current());
      engine.wal().prepare_segments();
      continue;
    }
    std::string why;
    static_cast<void>(engine.wal().checkpointer().run_now(CheckpointReason::log_volume, &why));
    engine.wal().prepare_segments();
  }
  EXPECT_TRUE(backup.given_up());
  engine.wal().prepare_segments();
  EXPECT_TRUE(engine.commit(0, {{1, "key", std::string(4000, 'r')}}));
}

TEST_F(BackupTest, WithoutWhatItHoldsIsRefused) {
  WalOptions used = options(1);
  size_t stopped = 0;
  BackupLabel label = make_copy(7, used, &stopped);
  disk_->restart();
  uint64_t first = label.control.checkpoint.cuts.front().segment;
  std::string segment = join_path("/copy/wal0", segment_name(first));
  std::string content = disk_->content(segment);
  ASSERT_TRUE(disk_->remove(segment).ok());
  ASSERT_FALSE(start_copy(used));
  EXPECT_NE(why_.find("the backup is not whole, or damaged"), std::string::npos) << why_;
  write_test_file(*disk_, segment, content);

  // Beyond what was copied.
  BackupLabel later = label;
  later.stop = Epoch(label.stop.value() + 1'000'000);
  write_test_file(*disk_, label_path, write_backup_label(later));
  ASSERT_FALSE(start_copy(used));
  EXPECT_NE(why_.find("the backup is not whole, or damaged"), std::string::npos) << why_;

  ASSERT_TRUE(disk_->remove(label_path).ok());
  write_test_file(*disk_, label_path, write_backup_label(label));
  std::optional<Content> found = start_copy(used);
  ASSERT_TRUE(found) << why_;
  EXPECT_EQ(*found, states_[stopped - 1].content);
}

// The restored one has the original's database, logs, and numbers of starts, and goes on by itself.
TEST_F(BackupTest, WhatGoesOnFromItHasNoLogForTheOriginal) {
  uint64_t others_named = 0;
  for (uint64_t round = 0; round < 10; ++round) {
    WalOptions used = options(1 + static_cast<unsigned>(round) % 2);
    size_t stopped = 0;
    BackupLabel label = make_copy(round, used, &stopped);
    disk_->restart();
    label.stop = Epoch(label.stop.value() -
                       random_.below(label.stop.value() - earliest_stop(label).value() + 1));
    ASSERT_TRUE(disk_->remove(label_path).ok());
    write_test_file(*disk_, label_path, write_backup_label(label));
    ASSERT_NO_FATAL_FAILURE(live_on("/copy", used));
    ASSERT_NO_FATAL_FAILURE(live_on("/data", used));
    const Content expected = states_.back().content;
    const auto right = segments("/data", used);
    const auto others = segments("/copy", used);

    auto lay = [&](const auto& laid) {
      for (const auto& [path, content] : laid)
        write_test_file(*disk_, join_path("/data", path), content);
    };
    lay(others);
    {
      LoggedEngine engine(*disk_, "/data", used);
      ASSERT_FALSE(engine.recover()) << "round " << round;
      EXPECT_NE(engine.why().find("/data/wal"), std::string::npos) << engine.why();
    }
    lay(right);
    for (const auto& [path, content] : others) {
      auto here = right.find(path);
      if (here == right.end() || here->second == content) continue;
      write_test_file(*disk_, join_path("/data", path), content);
      {
        LoggedEngine engine(*disk_, "/data", used);
        if (engine.recover()) {
          ASSERT_EQ(engine.content(), expected) << "round " << round << ": " << path;
        } else {
          // Of a segment without any block only the log that lacks them can be named.
          bool named = engine.why().find("another copy of this database") != std::string::npos;
          std::string what = join_path("/data", path);
          if (!named) what = parent_path(what);
          EXPECT_NE(engine.why().find(what), std::string::npos) << engine.why();
          others_named += named ? 1 : 0;
        }
      }
      write_test_file(*disk_, join_path("/data", path), here->second);
    }
    LoggedEngine engine(*disk_, "/data", used);
    ASSERT_TRUE(engine.start()) << engine.why();
    EXPECT_EQ(engine.content(), expected);
  }
  EXPECT_GE(others_named, 10U);
}

TEST(BackupLabelTest, EachByteCounts) {
  BackupLabel label{.label = "a\nCONTROL FILE: 00\nSTOP WAL LOCATION: 7/7",
                    .started_us = 1'700'000'000'000'000,
                    .stop = Epoch(0x1'0000'002a),
                    .control = {}};
  label.control.database = {1, 2};
  label.control.incarnations.push_back({.number = 1,
                                        .id = {3, 4},
                                        .parent = {},
                                        .segment_bytes = 1 << 20,
                                        .first_epoch = Epoch(10),
                                        .closed = false,
                                        .clean = false,
                                        .durable = Epoch(0),
                                        .logs = {{{5, 6}, "/data/wal"}}});
  std::string text = write_backup_label(label);
  EXPECT_NE(text.find("START TIME: 2023-11-14 22:13:20 UTC\n"), std::string::npos) << text;
  BackupLabel found;
  std::string why;
  ASSERT_TRUE(read_backup_label(text, &found, &why)) << why;
  EXPECT_EQ(found.stop, label.stop);
  EXPECT_EQ(found.control.database, label.control.database);
  EXPECT_EQ(earliest_stop(found), Epoch(9));
  const Incarnation closed = control_at_stop(found).incarnations.back();
  EXPECT_TRUE(closed.closed && closed.durable == label.stop && closed.id == Uuid(3, 4));
  for (size_t i = 0; i < text.size(); ++i) {
    std::string changed = text;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_FALSE(read_backup_label(changed, &found, &why)) << i;
    EXPECT_FALSE(read_backup_label(std::string_view(text).substr(0, i), &found, &why)) << i;
  }
}

}  // namespace
}  // namespace pgsilo
