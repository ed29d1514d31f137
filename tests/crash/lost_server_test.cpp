// A server that is lost, and restored of a backup and its archive: what the archive has of the lost
// one's starts that logged nothing.
#include "tests/crash/returning_bed.h"

namespace pgsilo {
namespace {

class LostServerTest : public ReturningLogTest {
 protected:
  // Starts that log nothing, each archived; then the server is lost and restored. It begins as the
  // first start of the restored one, with a slot.
  // `last`: the logs of one that logs something behind them, if there is one.
  void restore_behind_idle_starts(int starts, bool make_checkpoints, unsigned last = 0) {
    begin(500);
    ASSERT_NO_FATAL_FAILURE(live(3, /*backed_up=*/true));
    for (int start = 0; start < starts; ++start)
      ASSERT_NO_FATAL_FAILURE(live_idle(with(3), /*backed_up=*/false, make_checkpoints));
    if (last != 0) {
      ASSERT_NO_FATAL_FAILURE(live(last));
    }
    ASSERT_NO_FATAL_FAILURE(lose_and_restore(&used_));
    ASSERT_NO_FATAL_FAILURE(start());
    ASSERT_EQ(slots(*engine_).create("archive", true, 0).outcome, SlotOutcome::ok);
  }
  void start() {
    engine_.emplace(*disk_, "/data", used_);
    ASSERT_TRUE(engine_->start()) << engine_->why();
    ASSERT_TRUE(engine_->content() == states_.back().content);
  }
  void stop() {
    engine_->wal().stop();
    engine_.reset();
  }
  void TearDown() override { engine_.reset(); }

  bool archived() {
    LogArchive archiver(*disk_, "/archive");
    return archiver.open(&why_) && archive(*engine_, used_, archiver);
  }

  // What is archived, restored as a copy that is archived, too, by mistake.
  void archive_copy(bool backed_up) {
    WalOptions copys = options(1);
    ASSERT_NO_FATAL_FAILURE(restore_archived("/drill", &copys));
    copys.workers = static_cast<unsigned>(copys.log_directories.size());
    LoggedEngine drill(*disk_, "/drill", copys);
    ASSERT_TRUE(drill.start()) << drill.why();
    ASSERT_EQ(slots(drill).create("archive", true, 0).outcome, SlotOutcome::ok);
    if (backed_up) {
      Backup backup(drill.wal().checkpointer(), "test");
      ASSERT_NO_FATAL_FAILURE(BackupTest::stop(drill, backup));
    }
    LogArchive archiver(*disk_, "/archive");
    ASSERT_TRUE(archiver.open(&why_)) << why_;
    const LogSlot slot = slots(drill).status().front().slot;
    const Epoch told = drill.wal().status().recorded_epoch;
    ASSERT_TRUE(archiver.copy(running(copys, "/drill"), slot, &why_, told)) << why_;
  }

  WalOptions used_ = options(1);
  std::optional<LoggedEngine> engine_;

  // The backup with the archive.
  void expect_not_refused(const std::string& backup, BackupLabel label) {
    BackupSource source = source_of_backup(backup, label);
    SourceLogs logs;
    std::string loss;
    ASSERT_TRUE(add_archive(*disk_, "/archive", &source, &why_)) << why_;
    EXPECT_TRUE(logs.find(*disk_, source, label.control, &why_) && logs.scan(*disk_, &why_) &&
                extend_label(*disk_, logs, &label, &loss, &why_))
        << why_;
    EXPECT_EQ(loss, "");
  }
  void expect_not_refused(const std::string& backup) {
    BackupLabel label;
    ASSERT_EQ(read_label_file(*disk_, backup, &label, &why_), LabelRead::ok) << why_;
    expect_not_refused(backup, label);
  }
};

// Whose begin blocks lie one behind the other where it goes on.
TEST_F(LostServerTest, IsArchivedBehindIdleStarts) {
  for (bool make_checkpoints : {false, true}) {
    for (int starts : {1, 2, 3}) {
      SCOPED_TRACE(std::to_string(make_checkpoints) + std::to_string(starts));
      ASSERT_NO_FATAL_FAILURE(restore_behind_idle_starts(starts, make_checkpoints));
      // To one log of two.
      ASSERT_NO_FATAL_FAILURE(log_to_one(*engine_, 1));
      ASSERT_TRUE(archived()) << why_;
      ASSERT_NO_FATAL_FAILURE(expect_last_state());
      ASSERT_NO_FATAL_FAILURE(log_to_all(*engine_));
      ASSERT_TRUE(archived()) << why_;
      ASSERT_NO_FATAL_FAILURE(expect_last_state());
      engine_.reset();
    }
  }
}

// Which lie within its history, for it went on in one log of two.
TEST_F(LostServerTest, IsArchivedWhereIdleStartsWere) {
  for (unsigned last : {1, 2}) {
    for (int starts : {1, 2, 3}) {
      for (unsigned worker : {0, 1}) {
        SCOPED_TRACE(std::to_string(last) + std::to_string(starts) + std::to_string(worker));
        ASSERT_NO_FATAL_FAILURE(
            restore_behind_idle_starts(starts, /*make_checkpoints=*/true, last));
        ASSERT_NO_FATAL_FAILURE(log_to_one(*engine_, worker));
        ASSERT_TRUE(archived()) << why_;
        ASSERT_NO_FATAL_FAILURE(expect_last_state());
        engine_.reset();
      }
    }
  }
}

// The archive has begin blocks of later numbers in the place of what the backup has.
TEST_F(LostServerTest, IsRestoredAsFarAsItsBackup) {
  for (bool make_checkpoints : {false, true}) {
    for (int starts : {1, 2, 3}) {
      SCOPED_TRACE(std::to_string(make_checkpoints) + std::to_string(starts));
      ASSERT_NO_FATAL_FAILURE(restore_behind_idle_starts(starts, make_checkpoints));
      ASSERT_NO_FATAL_FAILURE(log_to_all(*engine_));
      ASSERT_NO_FATAL_FAILURE(take_newer_backup(*engine_, used_));
      ASSERT_NO_FATAL_FAILURE(expect_last_state());
      ASSERT_TRUE(archived()) << why_;
      ASSERT_NO_FATAL_FAILURE(log_to_all(*engine_));
      ASSERT_TRUE(archived()) << why_;
      ASSERT_NO_FATAL_FAILURE(expect_last_state());
      engine_.reset();
    }
  }
}

// A backup that has more than the archive had, of which the server was restored.
TEST_F(LostServerTest, LeavesBackupsOfWhatWasLost) {
  struct Lost {
    bool logged;
    int starts = 1;
  };
  for (const Lost& lost : {Lost{false}, Lost{true}, Lost{true, 70}}) {
    SCOPED_TRACE(lost.starts);
    begin(503);
    ASSERT_NO_FATAL_FAILURE(live(3, /*backed_up=*/true));
    {
      LoggedEngine engine(*disk_, "/data", with(3));
      ASSERT_TRUE(engine.start()) << engine.why();
      ASSERT_NO_FATAL_FAILURE(log_to_all(engine));
      ASSERT_NO_FATAL_FAILURE(archive_now(engine, with(3)));
    }
    const size_t had = states_.size();
    for (int left = lost.starts; left > 0; --left) {
      LoggedEngine engine(*disk_, "/data", with(3));
      ASSERT_TRUE(engine.start()) << engine.why();
      if (lost.logged) {
        ASSERT_NO_FATAL_FAILURE(log_to_all(engine));
      }
      if (lost.starts > 1) {
        ASSERT_NO_FATAL_FAILURE(cover_all(engine));
      }
      if (left == 1) {
        ASSERT_NO_FATAL_FAILURE(copy_to(engine, with(3), "/ahead"));
      }
    }
    ASSERT_NO_FATAL_FAILURE(lose_and_restore(&used_));
    states_.resize(had);
    ASSERT_NO_FATAL_FAILURE(start());
    ASSERT_EQ(slots(*engine_).create("archive", true, 0).outcome, SlotOutcome::ok);
    ASSERT_NO_FATAL_FAILURE(log_to_all(*engine_));
    ASSERT_TRUE(archived()) << why_;
    ASSERT_NO_FATAL_FAILURE(expect_last_state());
    for (const auto& [path, content] : files_of("/backup")) ASSERT_TRUE(disk_->remove(path).ok());
    for (const auto& [path, content] : files_of("/ahead"))
      ASSERT_NO_FATAL_FAILURE(write_test_file(*disk_, "/backup" + path.substr(6), content));
    BackupLabel label;
    BackupSource source;
    SourceLogs logs;
    EXPECT_FALSE(extend(&label, &source, &logs)) << lost.logged;
    engine_.reset();
  }
}

// A copy of it took a backup, and was archived by mistake, before the server itself was.
TEST_F(LostServerTest, IsNoOtherHistoryThanItsCopy) {
  for (bool logs : {false, true}) {
    ASSERT_NO_FATAL_FAILURE(restore_behind_idle_starts(1, /*make_checkpoints=*/false));
    ASSERT_NO_FATAL_FAILURE(archive_copy(/*backed_up=*/true));
    if (logs) {
      ASSERT_NO_FATAL_FAILURE(log_to_all(*engine_));
    }
    ASSERT_TRUE(archived()) << why_;
    ASSERT_NO_FATAL_FAILURE(log_to_all(*engine_));
    ASSERT_TRUE(archived()) << why_;
    ASSERT_NO_FATAL_FAILURE(expect_last_state());
    engine_.reset();
  }
}

// The server went on, was killed and started before it was archived again.
TEST_F(LostServerTest, SetsAsideWhatACopyLeftBehindMoreStarts) {
  for (int starts : {1, 2, 3}) {
    begin(505);
    ASSERT_NO_FATAL_FAILURE(live(3, /*backed_up=*/true));
    ASSERT_NO_FATAL_FAILURE(archive_copy(/*backed_up=*/false));
    used_ = with(3);
    ASSERT_NO_FATAL_FAILURE(start());
    ASSERT_NO_FATAL_FAILURE(log_to_all(*engine_));
    for (int start_again = 0; start_again < starts; ++start_again) {
      disk_->cut_power();
      engine_.reset();
      disk_->restart();
      ASSERT_NO_FATAL_FAILURE(start());
    }
    ASSERT_TRUE(archived()) << starts << ": " << why_;
    ASSERT_NO_FATAL_FAILURE(log_to_all(*engine_));
    ASSERT_TRUE(archived()) << starts << ": " << why_;
    ASSERT_NO_FATAL_FAILURE(expect_last_state());
    engine_.reset();
  }
}

// Of which the restored one has let go what the archive has of a start that logged nothing.
TEST_F(LostServerTest, IsArchivedBehindACheckpointThatRetiresItsLog) {
  begin(501);
  ASSERT_NO_FATAL_FAILURE(live(3, /*backed_up=*/true));
  ASSERT_NO_FATAL_FAILURE(live_idle(with(3)));
  {
    LoggedEngine engine(*disk_, "/data", with(2));
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(copy_to(engine, with(2), "/later"));
    ASSERT_NO_FATAL_FAILURE(archive_now(engine, with(2)));
    disk_->cut_power();
  }
  disk_->restart();
  ASSERT_NO_FATAL_FAILURE(lose_and_restore(&used_));
  for (int starts = 0; starts < 3; ++starts) {
    if (engine_) stop();
    ASSERT_NO_FATAL_FAILURE(start());
    ASSERT_NO_FATAL_FAILURE(cover_all(*engine_));
  }
  ASSERT_EQ(slots(*engine_).create("archive", true, 0).outcome, SlotOutcome::ok);
  {
    LogArchive archiver(*disk_, "/archive");
    ASSERT_TRUE(archiver.open(&why_)) << why_;
    // It is ahead of all that is logged.
    const LogSlot slot = slots(*engine_).status().front().slot;
    const Epoch told = engine_->wal().status().recorded_epoch;
    ASSERT_TRUE(archiver.copy(running(used_), slot, &why_, told)) << why_;
  }
  ASSERT_NO_FATAL_FAILURE(log_to_all(*engine_));
  ASSERT_TRUE(archived()) << why_;
  ASSERT_NO_FATAL_FAILURE(expect_last_state());
}

// A backup that was ahead of the archive then, of a server that had gone on in later segments.
TEST_F(LostServerTest, LeavesBackupsOfWhatWasLostInLaterSegments) {
  for (bool logged : {false, true}) {
    begin(502);
    ASSERT_NO_FATAL_FAILURE(live(1, /*backed_up=*/true));
    BackupLabel label;
    for (int start = 0; start < 3; ++start) {
      LoggedEngine engine(*disk_, "/data", with(1));
      ASSERT_TRUE(engine.start()) << engine.why();
      const std::vector<State> states = states_;
      if (logged) {
        ASSERT_NO_FATAL_FAILURE(log_to_all(engine));
      }
      ASSERT_NO_FATAL_FAILURE(cover_all(engine));
      if (start == 2) {
        ASSERT_NO_FATAL_FAILURE(copy_to(engine, with(1), "/other"));
      }
      engine.wal().stop();
      states_ = states;
    }
    ASSERT_EQ(read_label_file(*disk_, "/other", &label, &why_), LabelRead::ok) << why_;
    ASSERT_NO_FATAL_FAILURE(lose_and_restore(&used_));
    ASSERT_NO_FATAL_FAILURE(start());
    ASSERT_EQ(slots(*engine_).create("archive", true, 0).outcome, SlotOutcome::ok);
    ASSERT_NO_FATAL_FAILURE(log_to_all(*engine_));
    ASSERT_TRUE(archived()) << why_;
    stop();
    ASSERT_NO_FATAL_FAILURE(expect_refused(label, "rests on another state"));
    ASSERT_NO_FATAL_FAILURE(expect_last_state());
    for (const auto& [path, content] : files_of("/other")) ASSERT_TRUE(disk_->remove(path).ok());
  }
}

// Restored twice, of the same backup: one that was taken of the first of the two, behind what the
// archive has of that, is of what was lost.
TEST_F(LostServerTest, ABackupOfARestoredOneThatWasLostIsRefused) {
  ASSERT_NO_FATAL_FAILURE(restore_behind_idle_starts(1, /*make_checkpoints=*/true));
  ASSERT_NO_FATAL_FAILURE(log_to_all(*engine_));
  ASSERT_TRUE(archived()) << why_;
  ASSERT_NO_FATAL_FAILURE(stop());
  for (int starts = 0; starts < 4; ++starts) {
    ASSERT_NO_FATAL_FAILURE(start());
    ASSERT_NO_FATAL_FAILURE(cover_all(*engine_));
    if (starts >= 2) {
      ASSERT_NO_FATAL_FAILURE(copy_to(*engine_, used_, "/other" + std::to_string(starts)));
    }
    ASSERT_NO_FATAL_FAILURE(stop());
  }
  ASSERT_NO_FATAL_FAILURE(lose_and_restore(&used_));
  ASSERT_NO_FATAL_FAILURE(start());
  ASSERT_EQ(slots(*engine_).create("archive", true, 0).outcome, SlotOutcome::ok);
  ASSERT_NO_FATAL_FAILURE(log_to_all(*engine_));
  ASSERT_TRUE(archived()) << why_;
  for (const auto& [path, content] : files_of("/other3"))
    ASSERT_NO_FATAL_FAILURE(write_test_file(*disk_, "/other" + path.substr(7), content));
  BackupLabel label;
  ASSERT_EQ(read_label_file(*disk_, "/other", &label, &why_), LabelRead::ok) << why_;
  expect_refused(label, "rests on another state");
}

// Nor is one that was never archived: the next one that was restored goes on from where it did.
TEST_F(LostServerTest, ABackupOfARestoredOneThatWasNeverArchivedIsRefused) {
  ASSERT_NO_FATAL_FAILURE(restore_behind_idle_starts(0, /*make_checkpoints=*/true, /*last=*/3));
  const State restored = states_.back();
  ASSERT_NO_FATAL_FAILURE(log_to_all(*engine_));
  for (int starts = 0; starts < 3; ++starts) {
    ASSERT_NO_FATAL_FAILURE(stop());
    ASSERT_NO_FATAL_FAILURE(start());
    ASSERT_NO_FATAL_FAILURE(cover_all(*engine_));
  }
  ASSERT_NO_FATAL_FAILURE(copy_to(*engine_, used_, "/other"));
  ASSERT_NO_FATAL_FAILURE(stop());
  while (states_.back().epoch > restored.epoch) states_.pop_back();
  ASSERT_NO_FATAL_FAILURE(lose_and_restore(&used_));
  ASSERT_NO_FATAL_FAILURE(start());
  ASSERT_EQ(slots(*engine_).create("archive", true, 0).outcome, SlotOutcome::ok);
  ASSERT_NO_FATAL_FAILURE(log_to_all(*engine_));
  ASSERT_TRUE(archived()) << why_;
  BackupLabel label;
  ASSERT_EQ(read_label_file(*disk_, "/other", &label, &why_), LabelRead::ok) << why_;
  expect_refused(label, "rests on another state");
}

// Nor one of a server that was restored of a newer backup than the next one.
TEST_F(LostServerTest, ABackupBesideAnOlderOneIsRefused) {
  begin(510);
  ASSERT_NO_FATAL_FAILURE(live(3, /*backed_up=*/true));
  const auto older = files_of("/backup");
  const size_t archived_states = states_.size();
  used_ = with(3);
  ASSERT_NO_FATAL_FAILURE(start());
  ASSERT_NO_FATAL_FAILURE(log_to_all(*engine_));
  ASSERT_NO_FATAL_FAILURE(take_newer_backup(*engine_, used_));
  ASSERT_NO_FATAL_FAILURE(stop());
  ASSERT_NO_FATAL_FAILURE(lose_and_restore(&used_));
  for (int starts = 0; starts < 2; ++starts) {
    ASSERT_NO_FATAL_FAILURE(start());
    ASSERT_NO_FATAL_FAILURE(log_to_all(*engine_));
    ASSERT_NO_FATAL_FAILURE(cover_all(*engine_));
    if (starts == 1) {
      ASSERT_NO_FATAL_FAILURE(copy_to(*engine_, used_, "/other"));
    }
    ASSERT_NO_FATAL_FAILURE(stop());
  }
  ASSERT_NO_FATAL_FAILURE(put_back("/backup", older));
  states_.resize(archived_states);
  ASSERT_NO_FATAL_FAILURE(lose_and_restore(&used_));
  ASSERT_NO_FATAL_FAILURE(start());
  ASSERT_EQ(slots(*engine_).create("archive", true, 0).outcome, SlotOutcome::ok);
  ASSERT_NO_FATAL_FAILURE(log_to_all(*engine_));
  ASSERT_TRUE(archived()) << why_;
  BackupLabel label;
  ASSERT_EQ(read_label_file(*disk_, "/other", &label, &why_), LabelRead::ok) << why_;
  expect_refused(label, "rests on another state");
}

// One that was restored behind the backup does not know the starts between, one of which is the
// tip.
TEST_F(LostServerTest, ABackupBeforeItIsArchivedAgainIsNotRefused) {
  ASSERT_NO_FATAL_FAILURE(restore_behind_idle_starts(0, /*make_checkpoints=*/true, /*last=*/3));
  ASSERT_NO_FATAL_FAILURE(log_to_all(*engine_));
  ASSERT_NO_FATAL_FAILURE(stop());
  ASSERT_NO_FATAL_FAILURE(start());
  ASSERT_NO_FATAL_FAILURE(cover_all(*engine_));
  ASSERT_NO_FATAL_FAILURE(copy_to(*engine_, used_, "/other"));
  expect_not_refused("/other");
}

// Nor where an earlier version has cut the list of starts behind the one that was archived last.
TEST_F(LostServerTest, ABackupWhoseStartsWereCutIsNotRefused) {
  begin(511);
  ASSERT_NO_FATAL_FAILURE(live(3, /*backed_up=*/true));
  used_ = with(3);
  for (int starts = 0; starts < 70; ++starts) {
    ASSERT_NO_FATAL_FAILURE(start());
    ASSERT_NO_FATAL_FAILURE(log_to_all(*engine_));
    ASSERT_NO_FATAL_FAILURE(cover_all(*engine_));
    if (starts == 0) {
      ASSERT_TRUE(archived()) << why_;
    }
    if (starts < 69) {
      ASSERT_NO_FATAL_FAILURE(stop());
    }
  }
  ASSERT_NO_FATAL_FAILURE(copy_to(*engine_, used_, "/other"));
  BackupLabel label;
  ASSERT_EQ(read_label_file(*disk_, "/other", &label, &why_), LabelRead::ok) << why_;
  std::vector<OwnStart>& own = label.control.own_starts;
  ASSERT_GT(own.size(), 64u);
  own.erase(own.begin(), own.end() - 64);
  expect_not_refused("/other", label);
}

}  // namespace
}  // namespace pgsilo
