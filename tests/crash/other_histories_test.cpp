// Servers that are archived into an archive that has another history of the same database: a copy
// by hand of a server that goes on, too, and one restored to a state from which another went on. Of
// two starts with a number nothing could be restored.
#include "tests/crash/archive_bed.h"

namespace pgsilo {
namespace {

class OtherHistoriesTest : public ArchiveEndsTest {
 protected:
  bool archive_of(LoggedEngine& engine, const WalOptions& used, const std::string& data,
                  LogArchive* archiver = nullptr) {
    LogArchive own(*disk_, "/archive");
    if (slots(engine).status().empty()) {
      EXPECT_EQ(slots(engine).create("archive", true, 0).outcome, SlotOutcome::ok);
    }
    const Epoch durable = engine.wal().status().recorded_epoch;
    if (archiver == nullptr && !own.open(&why_)) return false;
    LogArchive& used_one = archiver == nullptr ? own : *archiver;
    const LogSlot slot = slots(engine).status().front().slot;
    if (!used_one.copy(running(used, data), slot, &why_, durable)) return false;
    EXPECT_EQ(slots(engine).advance("archive", durable, 1).outcome, SlotOutcome::ok);
    return true;
  }

  void expect_refused(LoggedEngine& engine, const WalOptions& used, const std::string& data,
                      const std::string& words, LogArchive* archiver = nullptr) {
    const auto before = files_of("/archive");
    const LogSlot slot =
        slots(engine).status().empty() ? LogSlot{} : slots(engine).status().front().slot;
    for (int turn = 0; turn < 2; ++turn) {
      why_.clear();
      EXPECT_FALSE(archive_of(engine, used, data, archiver));
      EXPECT_NE(why_.find(words), std::string::npos) << why_;
    }
    if (!slot.name.empty()) {
      EXPECT_EQ(slots(engine).status().front().slot.restart, slot.restart);
    }
    EXPECT_TRUE(files_of("/archive") == before);
  }

  // With durable work of each worker.
  void live_archived(const WalOptions& used, const std::string& data,
                     LogArchive* archiver = nullptr) {
    LoggedEngine engine(*disk_, data, used);
    ASSERT_TRUE(engine.start()) << engine.why();
    for (unsigned worker = 0; worker < used.workers; ++worker)
      ASSERT_NO_FATAL_FAILURE(log_to_one(engine, worker));
    ASSERT_TRUE(archive_of(engine, used, data, archiver)) << why_;
    stop_with_nothing_to_replay(engine);
  }

  // That logs nothing.
  void live_idle(const WalOptions& used) {
    LoggedEngine engine(*disk_, "/data", used);
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_TRUE(archive_of(engine, used, "/data")) << why_;
    engine.wal().stop();
  }

  void live_unarchived(const WalOptions& used, const std::string& data) {
    LoggedEngine engine(*disk_, data, used);
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(work(engine, 3));
    stop_with_nothing_to_replay(engine);
  }

  void live_refused(const WalOptions& used, const std::string& data, const std::string& words) {
    LoggedEngine engine(*disk_, data, used);
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(work(engine, 3));
    ASSERT_NO_FATAL_FAILURE(expect_refused(engine, used, data, words));
    stop_with_nothing_to_replay(engine);
  }

  // All that is archived of a log, or what its first block tells.
  void lose_of_archive(const std::string& log, bool all) {
    for (const auto& [path, content] : files_of(log)) {
      if (all) {
        ASSERT_TRUE(disk_->remove(path).ok());
      } else if (path.ends_with(segment_name(1))) {
        damage(path, 8);
      }
    }
  }

  // As versions do that kept no list of the server's starts, behind a checkpoint of the last one.
  void forget_list(const std::string& data) {
    ControlFile control;
    ASSERT_EQ(read_control_file(*disk_, data, &control), ControlRead::ok);
    control.own_starts.clear();
    control.incarnations.erase(control.incarnations.begin(), control.incarnations.end() - 1);
    ASSERT_TRUE(write_control_file(*disk_, data, control).ok());
  }

  // Of which the log is kept, and none from before.
  void live_keeping_log(const WalOptions& used, const std::string& data) {
    LoggedEngine engine(*disk_, data, used);
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(cover_all(engine));
    ASSERT_EQ(slots(engine).create("archive", true, 0).outcome, SlotOutcome::ok);
    ASSERT_NO_FATAL_FAILURE(work(engine, 3));
    stop_with_nothing_to_replay(engine);
  }

  // What the archive has at the end of the backup's start, in /copy; the options get its logs.
  void restore_first_start(Epoch end, WalOptions* copys) {
    BackupLabel label;
    BackupSource source;
    SourceLogs logs;
    ASSERT_TRUE(extend(&label, &source, &logs)) << why_;
    end_label_at(end, label.control.incarnations.front().number, &label);
    BackupCopyReport report;
    ASSERT_TRUE(copy_backup(*disk_, source, label, "/copy", &report, &why_)) << why_;
    copys->log_directories = report.log_directories;
  }

  void forget_label(const WalOptions& copys) {
    ASSERT_NO_FATAL_FAILURE(live_unarchived(copys, "/copy"));
    ASSERT_TRUE(disk_->remove(join_path("/copy", used_label_name)).ok());
  }

  void copy_server() {
    for (const auto& [path, content] : files_of("/data"))
      ASSERT_NO_FATAL_FAILURE(
          write_test_file(*disk_, "/copy" + path.substr(std::string("/data").size()), content));
  }

  void expect_last_state() {
    std::optional<Content> found = last_archived(options(3), "/read_back");
    ASSERT_TRUE(found) << why_;
    EXPECT_TRUE(*found == states_.back().content);
  }
};

const char went_on[] = "another history went on from there, with start 2 in ";
const char others_start[] = "written by another copy of this database";

// A copy's archiver was killed when it had copied one log. The original, which runs on, has no
// start before its own.
TEST_F(OtherHistoriesTest, AreKnownInTheFirstStart) {
  begin(110);
  LoggedEngine engine(*disk_, "/data", options(1));
  ASSERT_TRUE(engine.start()) << engine.why();
  ASSERT_NO_FATAL_FAILURE(take_backup(engine, options(1)));
  ASSERT_TRUE(archive_of(engine, options(1), "/data")) << why_;
  const std::string notes = join_path("/archive", archive_progress_name);
  const std::string before = disk_->content(notes);
  const auto log_before = files_of("/archive/wal");
  WalOptions copys = options(2);
  ASSERT_NO_FATAL_FAILURE(restore_archived("/copy", &copys));
  copys.log_directories.emplace_back("another");
  {
    LoggedEngine copy(*disk_, "/copy", copys);
    ASSERT_TRUE(copy.start()) << copy.why();
    ASSERT_NO_FATAL_FAILURE(log_to_one(copy, 1));
    ASSERT_TRUE(archive_of(copy, copys, "/copy")) << why_;
    copy.wal().stop();
  }
  ASSERT_TRUE(disk_->remove(notes).ok());
  ASSERT_NO_FATAL_FAILURE(write_test_file(*disk_, notes, before));
  ASSERT_NO_FATAL_FAILURE(put_back("/archive/wal", log_before));
  ASSERT_NO_FATAL_FAILURE(log_to_one(engine));
  EXPECT_FALSE(archive_of(engine, options(1), "/data"));
  EXPECT_NE(why_.find(others_start), std::string::npos) << why_;
}

// The archive has lost some of the other history, so that nothing of that could be restored; and
// the control file forgets with each checkpoint what the server had before.
TEST_F(OtherHistoriesTest, AreKnownInLaterStarts) {
  for (bool all : {true, false}) {
    for (int first : {1, 2, 3}) {
      for (unsigned logs : {2, 6}) {
        if (all && logs == 2) continue;
        SCOPED_TRACE(std::to_string(all) + std::to_string(first) + std::to_string(logs));
        begin(300);
        ASSERT_NO_FATAL_FAILURE(archive_first_start());
        ASSERT_NO_FATAL_FAILURE(live_archived(with(logs), "/data"));
        ASSERT_NO_FATAL_FAILURE(
            lose_of_archive(logs == 2 ? "/archive/wal2" : "/archive/wal3", all));
        WalOptions copys = options(1);
        ASSERT_NO_FATAL_FAILURE(restore_copy(&copys));
        for (int start = 1; start < first; ++start)
          ASSERT_NO_FATAL_FAILURE(live_unarchived(copys, "/copy"));
        for (int start = 0; start < 3; ++start)
          ASSERT_NO_FATAL_FAILURE(live_refused(copys, "/copy", went_on));
      }
    }
  }
}

// By the number of a start of which the server's log is there yet.
TEST_F(OtherHistoriesTest, AreKnownByTheirNumbersWithoutAList) {
  begin(302);
  ASSERT_NO_FATAL_FAILURE(archive_first_start());
  ASSERT_NO_FATAL_FAILURE(live_archived(with(6), "/data"));
  ASSERT_NO_FATAL_FAILURE(lose_of_archive("/archive/wal3", /*all=*/true));
  WalOptions copys = options(1);
  ASSERT_NO_FATAL_FAILURE(restore_copy(&copys));
  ASSERT_NO_FATAL_FAILURE(live_keeping_log(copys, "/copy"));
  for (int start = 0; start < 3; ++start) {
    ASSERT_NO_FATAL_FAILURE(forget_list("/copy"));
    ASSERT_NO_FATAL_FAILURE(live_refused(copys, "/copy", went_on));
  }
}

// Its label is not needed any more, and may be removed.
TEST_F(OtherHistoriesTest, AreKnownWithoutTheLabel) {
  for (int first : {1, 2, 3}) {
    begin(301);
    ASSERT_NO_FATAL_FAILURE(archive_first_start());
    ASSERT_NO_FATAL_FAILURE(live_archived(with(6), "/data"));
    WalOptions copys = options(1);
    ASSERT_NO_FATAL_FAILURE(restore_copy(&copys));
    for (int start = 1; start <= first; ++start)
      ASSERT_NO_FATAL_FAILURE(live_unarchived(copys, "/copy"));
    ASSERT_TRUE(disk_->remove(join_path("/copy", used_label_name)).ok());
    for (int start = 0; start < 3; ++start)
      ASSERT_NO_FATAL_FAILURE(live_refused(copys, "/copy", others_start)) << first;
  }
}

// A server and a copy of it by hand go on in other logs. Who is archived first can be restored.
TEST_F(OtherHistoriesTest, OfACopyByHandAreRefused) {
  for (int archived : {1, 2, 3}) {
    for (int before : {0, 1, 2, 3}) {
      for (bool has_slot : {true, false}) {
        SCOPED_TRACE(std::to_string(archived) + std::to_string(before) + std::to_string(has_slot));
        begin(310);
        ASSERT_NO_FATAL_FAILURE(archive_first_start());
        ASSERT_NO_FATAL_FAILURE(copy_server());
        for (int start = 0; start < archived; ++start)
          ASSERT_NO_FATAL_FAILURE(live_archived(with(1), "/data"));
        const std::vector<State> states = states_;
        for (int start = 0; start < before; ++start)
          ASSERT_NO_FATAL_FAILURE(live_unarchived(with(2), "/copy"));
        if (!has_slot) {
          LoggedEngine engine(*disk_, "/copy", with(2));
          ASSERT_TRUE(engine.start()) << engine.why();
          ASSERT_EQ(slots(engine).drop("archive", 1).outcome, SlotOutcome::ok);
          stop_with_nothing_to_replay(engine);
        }
        for (int start = 0; start < 2; ++start)
          ASSERT_NO_FATAL_FAILURE(live_refused(with(2), "/copy", others_start));
        states_ = states;
        ASSERT_NO_FATAL_FAILURE(expect_last_state());
      }
    }
  }
}

// A start that logged nothing tells nothing of those before it.
TEST_F(OtherHistoriesTest, AreKnownBehindIdleStarts) {
  for (unsigned logs : {2, 6}) {
    for (int idle : {1, 2}) {
      for (bool by_hand : {true, false}) {
        for (bool labelled : {true, false}) {
          if (by_hand && labelled) continue;
          SCOPED_TRACE(std::to_string(logs) + std::to_string(idle) + std::to_string(by_hand) +
                       std::to_string(labelled));
          begin(340);
          ASSERT_NO_FATAL_FAILURE(archive_first_start());
          WalOptions copys = with(1);
          if (by_hand) {
            ASSERT_NO_FATAL_FAILURE(copy_server());
          } else {
            copys = options(1);
            ASSERT_NO_FATAL_FAILURE(restore_copy(&copys));
          }
          ASSERT_NO_FATAL_FAILURE(live_archived(with(logs), "/data"));
          const std::vector<State> states = states_;
          for (int start = 0; start < idle; ++start) ASSERT_NO_FATAL_FAILURE(live_idle(with(logs)));
          if (!by_hand && !labelled) {
            ASSERT_NO_FATAL_FAILURE(forget_label(copys));
          }
          for (int start = 0; start < 3; ++start)
            ASSERT_NO_FATAL_FAILURE(
                live_refused(copys, "/copy", "the server is not the one that was archived"));
          states_ = states;
          ASSERT_NO_FATAL_FAILURE(expect_last_state());
        }
      }
    }
  }
}

// A server that was restored to the end of a start has none of the numbers of those behind it.
TEST_F(OtherHistoriesTest, AreKnownBehindAGapInTheNumbers) {
  for (bool labelled : {true, false}) {
    for (bool lost : {true, false}) {
      SCOPED_TRACE(std::to_string(labelled) + std::to_string(lost));
      begin(341);
      ASSERT_NO_FATAL_FAILURE(archive_first_start());
      const Epoch end = states_.back().epoch;
      ASSERT_NO_FATAL_FAILURE(live_archived(with(6), "/data"));
      WalOptions copys = options(1);
      ASSERT_NO_FATAL_FAILURE(restore_first_start(end, &copys));
      if (lost) {
        ASSERT_NO_FATAL_FAILURE(lose_of_archive("/archive/wal3", /*all=*/false));
      }
      if (!labelled) {
        ASSERT_NO_FATAL_FAILURE(forget_label(copys));
      }
      for (int start = 0; start < 3; ++start)
        ASSERT_NO_FATAL_FAILURE(
            live_refused(copys, "/copy", "the server is not the one that was archived"));
    }
  }
}

// An archiver that was killed has noted nothing of what it copied.
TEST_F(OtherHistoriesTest, AreKnownWithoutNotes) {
  for (bool removed : {true, false}) {
    begin(344);
    ASSERT_NO_FATAL_FAILURE(archive_first_start());
    ASSERT_NO_FATAL_FAILURE(copy_server());
    const std::string path = join_path("/archive", archive_progress_name);
    const std::string notes = disk_->content(path);
    ASSERT_NO_FATAL_FAILURE(live_archived(with(2), "/data"));
    ASSERT_NO_FATAL_FAILURE(live_idle(with(2)));
    ASSERT_TRUE(disk_->remove(path).ok());
    if (!removed) {
      ASSERT_NO_FATAL_FAILURE(write_test_file(*disk_, path, notes));
    }
    for (int start = 0; start < 3; ++start)
      ASSERT_NO_FATAL_FAILURE(live_refused(with(1), "/copy", others_start));
    ASSERT_NO_FATAL_FAILURE(live_archived(with(2), "/data"));
    ASSERT_NO_FATAL_FAILURE(live_archived(with(1), "/data"));
  }
}

// Of the last segment nothing can be read.
TEST_F(OtherHistoriesTest, AreKnownBehindDamage) {
  begin(342);
  ASSERT_NO_FATAL_FAILURE(archive_first_start());
  ASSERT_NO_FATAL_FAILURE(copy_server());
  ASSERT_NO_FATAL_FAILURE(live_archived(with(2), "/data"));
  ASSERT_NO_FATAL_FAILURE(live_idle(with(2)));
  std::string last;
  for (const auto& [path, content] : files_of("/archive/wal2")) {
    if (path.ends_with(".segment")) last = std::max(last, path);
  }
  ASSERT_NO_FATAL_FAILURE(damage(last, 8));
  for (int start = 0; start < 3; ++start)
    ASSERT_NO_FATAL_FAILURE(live_refused(with(1), "/copy", others_start));
}

// Though another log comes first, which is new to the archive, nothing of it is copied: also where
// what the archive has was not told to be durable.
TEST_F(OtherHistoriesTest, AreRefusedBeforeAnythingIsCopied) {
  for (bool idle : {true, false}) {
    begin(343);
    ASSERT_NO_FATAL_FAILURE(archive_first_start());
    ASSERT_NO_FATAL_FAILURE(copy_server());
    {
      LoggedEngine engine(*disk_, "/data", with(1));
      ASSERT_TRUE(engine.start()) << engine.why();
      const std::optional<Epoch> epoch = engine.commit(0, {{1, "one", "row"}});
      ASSERT_TRUE(epoch);
      engine.wal().wait_durable(0, *epoch);
      LogArchive archiver(*disk_, "/archive");
      ASSERT_TRUE(archiver.open(&why_)) << why_;
      const LogSlot slot = slots(engine).status().front().slot;
      ASSERT_TRUE(archiver.copy(running(with(1)), slot, &why_)) << why_;
      engine.wal().stop();
    }
    if (idle) {
      ASSERT_NO_FATAL_FAILURE(live_idle(with(1)));
    }
    WalOptions copys = with(3);
    std::ranges::reverse(copys.log_directories);
    for (int start = 0; start < 3; ++start)
      ASSERT_NO_FATAL_FAILURE(live_refused(copys, "/copy", "is not the one that was archived"));
  }
}

// By an archiver that runs on while one server is stopped and the other one started.
TEST_F(OtherHistoriesTest, AreLookedForInEachStart) {
  begin(320);
  ASSERT_NO_FATAL_FAILURE(archive_first_start());
  ASSERT_NO_FATAL_FAILURE(copy_server());
  LogArchive archiver(*disk_, "/archive");
  ASSERT_TRUE(archiver.open(&why_)) << why_;
  ASSERT_NO_FATAL_FAILURE(live_archived(with(1), "/data", &archiver));
  LoggedEngine engine(*disk_, "/copy", with(2));
  ASSERT_TRUE(engine.start()) << engine.why();
  ASSERT_NO_FATAL_FAILURE(work(engine, 3));
  expect_refused(engine, with(2), "/copy", others_start, &archiver);
}

// Starts are its own whatever its control file has forgotten: in a log that has been taken out of
// it, and of which the archive has lost the beginning.
TEST_F(OtherHistoriesTest, AreNotTheServersOwn) {
  for (bool restored : {false, true}) {
    for (bool damaged : {false, true}) {
      SCOPED_TRACE(std::to_string(restored) + std::to_string(damaged));
      begin(330);
      ASSERT_NO_FATAL_FAILURE(archive_first_start());
      WalOptions used = with(1);
      std::string data = "/data";
      if (restored) {
        ASSERT_NO_FATAL_FAILURE(restore_copy(&used));
        data = "/copy";
      }
      WalOptions both = used;
      both.log_directories.push_back("another");
      both.workers = 2;
      for (int start = 0; start < 2; ++start) ASSERT_NO_FATAL_FAILURE(live_archived(both, data));
      if (damaged) {
        ASSERT_NO_FATAL_FAILURE(lose_of_archive("/archive/wal2", /*all=*/false));
      }
      for (int start = 0; start < 4; ++start)
        ASSERT_NO_FATAL_FAILURE(live_archived(used, data)) << start;
    }
  }
}

}  // namespace
}  // namespace pgsilo
