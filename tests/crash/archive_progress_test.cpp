// What an archive once had and lost is told, at its end too, where nothing in the log tells an end
// that was lost from an end; and what an archiver leaves that ends anywhere is no such loss.
#include <cerrno>

#include "tests/crash/archive_bed.h"

namespace pgsilo {
namespace {

class ArchiveProgressTest : public ArchiveEndsTest {
 protected:
  // Two starts in an archive of two logs, the second of which is its last.
  void archive_two_starts(uint64_t seed, const WalOptions& used) {
    begin(seed);
    ASSERT_NO_FATAL_FAILURE(begin_archive(used));
    {
      LoggedEngine engine(*disk_, "/data", used);
      ASSERT_TRUE(engine.start()) << engine.why();
      ASSERT_NO_FATAL_FAILURE(work(engine, 20 + random_.below(60)));
      ASSERT_NO_FATAL_FAILURE(archive_now(engine, used));
      disk_->cut_power();
    }
    disk_->restart();
  }

  void expect_told(const WalOptions& used, const std::string& words) {
    EXPECT_FALSE(last_archived(used, "/restored" + std::to_string(++restored_)));
    EXPECT_NE(why_.find(words), std::string::npos) << why_;
  }
  void expect_whole(const WalOptions& used) {
    std::optional<Content> found = last_archived(used, "/restored" + std::to_string(++restored_));
    ASSERT_TRUE(found) << why_;
    EXPECT_EQ(*found, states_.back().content);
  }

  int restored_ = 0;
};

TEST_F(ArchiveProgressTest, DamageAtTheEndOfOneLogIsTold) {
  WalOptions used = options(2);
  for (uint64_t round = 0; round < 6; ++round) {
    ASSERT_NO_FATAL_FAILURE(archive_two_starts(200 + round, used));
    for (const char* log : {"/archive/wal", "/archive/wal2"}) {
      End end = end_of(log);
      damage(end.path, end.last + 20);
      expect_told(used,
                  "log file \"" + end.path + "\" is damaged at offset " + std::to_string(end.last));
      damage(end.path, end.last + 20);
    }
    ASSERT_NO_FATAL_FAILURE(expect_whole(used));
  }
}

TEST_F(ArchiveProgressTest, ALogThatIsMissingFromTheLastStartIsTold) {
  WalOptions used = options(2);
  ASSERT_NO_FATAL_FAILURE(archive_two_starts(210, used));
  for (const char* log : {"/archive/wal", "/archive/wal2"}) {
    std::map<std::string, std::string> before = files_of(log);
    std::string last = before.rbegin()->first == join_path(log, log_identity_name)
                           ? std::next(before.rbegin())->first
                           : before.rbegin()->first;
    ASSERT_TRUE(disk_->remove(last).ok());
    expect_told(used, "log segment \"" + last + "\" is missing");
    ASSERT_NO_FATAL_FAILURE(write_test_file(*disk_, last, std::string(before[last].size(), '\0')));
    expect_told(used, "log file \"" + last + "\" is damaged at offset 0");
    ASSERT_NO_FATAL_FAILURE(put_back(log, before));
  }
  std::map<std::string, std::string> before = files_of("/archive/wal2");
  for (const auto& [path, content] : before) ASSERT_TRUE(disk_->remove(path).ok());
  // The backup's copy of its beginning is there.
  expect_told(used, "is missing");
  ASSERT_NO_FATAL_FAILURE(put_back("/archive/wal2", before));
  ASSERT_NO_FATAL_FAILURE(expect_whole(used));
}

// What an archive once had stays known while its logs lie where nothing is mounted, unless all of
// it can be copied anew.
TEST_F(ArchiveProgressTest, LogsThatAreNotThereForATurnTakeNoNotesAway) {
  WalOptions used = options(2);
  int refused = 0;
  for (uint64_t call = 1; call < 12; ++call) {
    ASSERT_NO_FATAL_FAILURE(archive_two_starts(215, used));
    const std::string notes = disk_->content("/archive/archive.progress");
    for (const char* log : {"/archive/wal", "/archive/wal2"}) {
      for (const auto& [path, content] : files_of(log)) ASSERT_TRUE(disk_->remove(path).ok());
    }
    LoggedEngine engine(*disk_, "/data", used);
    ASSERT_TRUE(engine.start()) << engine.why();
    LogArchive archiver(*disk_, "/archive");
    ASSERT_TRUE(archiver.open(&why_)) << why_;
    disk_->fail_at(disk_->steps() + call, {FileStatus::failed, EIO});
    if (archiver.copy(running(used), slots(engine).status().front().slot, &why_)) continue;
    disk_->fail_at(0, {});
    ++refused;
    EXPECT_EQ(disk_->content("/archive/archive.progress"), notes) << call;
  }
  EXPECT_GT(refused, 5);
}

// Segments are taken out that the backup needs, of the last start: an earlier state is not the
// last.
TEST_F(ArchiveProgressTest, AStartWithoutItsBeginningIsTold) {
  WalOptions used = options(1);
  ASSERT_NO_FATAL_FAILURE(archive_two_starts(216, used));
  std::map<std::string, std::string> before = files_of("/archive/wal");
  End end = end_of("/archive/wal");
  size_t taken = 0;
  for (const auto& [path, content] : before) {
    if (!path.ends_with(".segment") || path >= end.path) continue;
    ASSERT_TRUE(disk_->remove(path).ok());
    ++taken;
  }
  ASSERT_GT(taken, 1U);
  expect_told(used, "start 2 of the server is not there from its beginning");
  ASSERT_NO_FATAL_FAILURE(put_back("/archive/wal", before));
  ASSERT_NO_FATAL_FAILURE(expect_whole(used));
}

// One of its logs has nothing but its begin block; the next start, which logged nothing yet, went
// on from it.
TEST_F(ArchiveProgressTest, AStartWithoutALogIsTold) {
  WalOptions used = options(2);
  begin(217);
  ASSERT_NO_FATAL_FAILURE(begin_archive(used));
  ASSERT_NO_FATAL_FAILURE(live_of_one(used));
  LoggedEngine engine(*disk_, "/data", used);
  ASSERT_TRUE(engine.start()) << engine.why();
  ASSERT_NO_FATAL_FAILURE(archive_now(engine, used));
  ASSERT_NO_FATAL_FAILURE(expect_whole(used));
  std::map<std::string, std::string> before = files_of("/archive/wal2");
  std::erase_if(before, [](const auto& file) { return !file.first.ends_with(".segment"); });
  ASSERT_TRUE(disk_->remove(std::prev(before.end(), 2)->first).ok());
  expect_told(used, "start 2 of the server is not there from its beginning");
}

// Who names a state that can be had gets it.
TEST_F(ArchiveProgressTest, StatesBeforeTheLossCanBeHad) {
  WalOptions used = options(2);
  ASSERT_NO_FATAL_FAILURE(archive_two_starts(220, used));
  End end = end_of("/archive/wal2");
  damage(end.path, end.last + 20);
  BackupLabel label;
  BackupSource source;
  SourceLogs logs;
  ASSERT_FALSE(extend(&label, &source, &logs));
  ASSERT_GT(label.control.incarnations.size(), 1U);
  std::optional<Content> found = restored(source, label, used, "/restored");
  ASSERT_TRUE(found) << why_;
  EXPECT_NE(*found, states_.back().content);
  EXPECT_TRUE(was_at(label.stop, *found));
}

TEST_F(ArchiveProgressTest, ItsFileMayBeMissingButNotDamaged) {
  WalOptions used = options(2);
  ASSERT_NO_FATAL_FAILURE(archive_two_starts(230, used));
  const std::string path = "/archive/archive.progress";
  std::string sound = disk_->content(path);
  for (size_t at = 0; at < sound.size(); at += 3) {
    damage(path, at);
    EXPECT_FALSE(last_archived(used, "/never"));
    EXPECT_NE(why_.find("file \"" + path + "\""), std::string::npos) << at << why_;
    damage(path, at);
  }
  // As archives of earlier versions are.
  ASSERT_TRUE(disk_->remove(path).ok());
  ASSERT_NO_FATAL_FAILURE(expect_whole(used));
}

// An archiver writes many batches at once. What a power failure leaves of such a write has gaps,
// behind which blocks tell of more that was durable: in the server, not here.
TEST_F(ArchiveProgressTest, ATornWriteOfTheArchiverIsNoLoss) {
  for (uint64_t round = 0; round < 40; ++round) {
    WalOptions used = options(1 + static_cast<unsigned>(round) % 2);
    begin(400 + round);
    ASSERT_NO_FATAL_FAILURE(begin_archive(used));
    Epoch archived;
    {
      LoggedEngine engine(*disk_, "/data", used);
      ASSERT_TRUE(engine.start()) << engine.why();
      ASSERT_NO_FATAL_FAILURE(work(engine, 5));
      ASSERT_NO_FATAL_FAILURE(archive_now(engine, used));
      archived = states_.back().epoch;
      for (int i = 0; i < 30; ++i) ASSERT_NO_FATAL_FAILURE(commit(engine));
      LogArchive killed(*disk_, "/archive");
      ASSERT_TRUE(killed.open(&why_)) << why_;
      disk_->cut_power_at(disk_->steps() + 1 + random_.below(4));
      LogSlot slot = slots(engine).status().front().slot;
      EXPECT_THROW(static_cast<void>(killed.copy(running(used), slot, &why_)), SimulatedPowerCut);
    }
    disk_->restart();
    BackupLabel label;
    BackupSource source;
    SourceLogs logs;
    ASSERT_TRUE(extend(&label, &source, &logs)) << "round " << round << ": " << why_;
    std::optional<Content> found = restored(source, label, used, "/restored");
    ASSERT_TRUE(found) << "round " << round << ": " << why_;
    EXPECT_TRUE(was_at(label.stop, *found)) << "round " << round;
    EXPECT_GE(label.stop, archived) << "round " << round;
  }
}

// At each call of its device, its power lost or not, also where it follows what the server lost:
// what had been archived before is there.
TEST_F(ArchiveProgressTest, AnArchiverThatEndsAnywhereLeavesNoLoss) {
  WalOptions used = options(2);
  for (bool loses : {false, true}) {
    bool ended = true;
    uint64_t call = 1;
    for (; ended; ++call) {
      ASSERT_NO_FATAL_FAILURE(archive_two_starts(240, used));
      if (loses) {
        ASSERT_NO_FATAL_FAILURE(lose_what_was_archived(used, /*first_of_start=*/call % 2 == 0));
      }
      std::optional<Content> before = last_archived(used, "/before");
      ASSERT_TRUE(before) << why_;
      LoggedEngine engine(*disk_, "/data", used);
      ASSERT_TRUE(engine.start()) << engine.why();
      const size_t archived = states_.size();
      ASSERT_NO_FATAL_FAILURE(work(engine, 20));
      {
        LogArchive killed(*disk_, "/archive");
        ASSERT_TRUE(killed.open(&why_)) << why_;
        disk_->fail_at(disk_->steps() + call, {FileStatus::failed, EIO});
        ended = !killed.copy(running(used), slots(engine).status().front().slot, &why_);
        disk_->fail_at(0, {});
      }
      if (call % 3 == 0) {
        disk_->cut_power();
        disk_->restart();
      }
      std::optional<Content> found = last_archived(used, "/restored");
      ASSERT_TRUE(found) << "call " << call << ": " << why_;
      bool known =
          *found == *before ||
          std::any_of(states_.begin() + static_cast<ptrdiff_t>(archived) - 1, states_.end(),
                      [&](const State& state) { return state.content == *found; });
      EXPECT_TRUE(known) << "call " << call << (loses ? ", behind a loss" : "");
    }
    EXPECT_GT(call, 12U);
  }
}

// What the archive ends with then logged nothing.
TEST_F(ArchiveProgressTest, AStartThatIsGoneIsToldBehindAnIdleOne) {
  const WalOptions used = options(1);
  begin(236);
  ASSERT_NO_FATAL_FAILURE(begin_archive(used));
  ASSERT_NO_FATAL_FAILURE(live_of_one(used));
  const std::string second = end_of("/archive/wal").path;
  ASSERT_NO_FATAL_FAILURE(live_of_one(used));
  {
    LoggedEngine engine(*disk_, "/data", used);
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(archive_now(engine, used));
    engine.wal().stop();
  }
  ASSERT_NO_FATAL_FAILURE(expect_whole(used));
  ASSERT_TRUE(disk_->remove(second).ok());
  expect_told(used, "start 3 of the server went on from a state that is not there");
}

// A block that cannot be read is no end of the log: nothing behind it is there.
TEST_F(ArchiveProgressTest, ADamagedBlockOfTheServersIsNoEnd) {
  for (unsigned logs : {1U, 2U}) {
    WalOptions used = options(logs);
    begin(230 + logs);
    LoggedEngine engine(*disk_, "/data", used);
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(take_backup(engine, used));
    ASSERT_NO_FATAL_FAILURE(archive_now(engine, used));
    ASSERT_NO_FATAL_FAILURE(log_to_one(engine));
    const End end = end_of(join_path("/data", used.log_directories[0]));
    damage(end.path, end.last + 20);
    const auto before = disk_->content("/archive/archive.progress");
    const Epoch kept = slots(engine).status().front().slot.restart;
    for (int turn = 0; turn < 2; ++turn) {
      LogArchive archiver(*disk_, "/archive");
      ASSERT_TRUE(archiver.open(&why_)) << why_;
      EXPECT_FALSE(archive(engine, used, archiver));
      EXPECT_NE(why_.find(end.path.substr(end.path.rfind('/'))), std::string::npos) << why_;
      EXPECT_NE(why_.find("at offset " + std::to_string(end.last)), std::string::npos) << why_;
      ASSERT_NO_FATAL_FAILURE(log_to_one(engine, logs - 1));
    }
    EXPECT_EQ(disk_->content("/archive/archive.progress"), before);
    EXPECT_EQ(slots(engine).status().front().slot.restart, kept);
    damage(end.path, end.last + 20);
    ASSERT_NO_FATAL_FAILURE(archive_now(engine, used));
    ASSERT_NO_FATAL_FAILURE(expect_whole(used));
  }
}

// The server runs elsewhere, where its directory was copied to, and tells epochs from there.
TEST_F(ArchiveProgressTest, ADirectoryThatWasLeftHasNotWhatIsTold) {
  for (bool is_same_start : {false, true}) {
    WalOptions used = options(1);
    ASSERT_NO_FATAL_FAILURE(archive_two_starts(235, used));
    for (const auto& [path, content] : files_of("/data"))
      ASSERT_NO_FATAL_FAILURE(write_test_file(*disk_, "/moved" + path.substr(5), content));
    LoggedEngine engine(*disk_, "/moved", used);
    ASSERT_TRUE(engine.start()) << engine.why();
    if (is_same_start) {
      for (const auto& [path, content] : files_of("/moved"))
        ASSERT_NO_FATAL_FAILURE(write_test_file(*disk_, "/data" + path.substr(6), content));
    }
    LogArchive archiver(*disk_, "/archive");
    ASSERT_TRUE(archiver.open(&why_)) << why_;
    // It has logged nothing yet.
    ASSERT_TRUE(archive(engine, used, archiver)) << why_;
    const Content archived = states_.back().content;
    ASSERT_NO_FATAL_FAILURE(log_to_one(engine));
    EXPECT_FALSE(archive(engine, used, archiver));
    EXPECT_NE(why_.find("\"/data\" is not the directory of that server"), std::string::npos)
        << why_;
    std::optional<Content> found = last_archived(used, "/restored" + std::to_string(++restored_));
    ASSERT_TRUE(found) << why_;
    EXPECT_EQ(*found, archived);
  }
}

// The server has been started anew with another log than its archiver knows of.
TEST_F(ArchiveProgressTest, ALogThatIsNotLookedAtHasNotWhatIsTold) {
  const WalOptions before = options(1);
  ASSERT_NO_FATAL_FAILURE(archive_two_starts(237, before));
  const WalOptions used = options(2);
  LoggedEngine engine(*disk_, "/data", used);
  ASSERT_TRUE(engine.start()) << engine.why();
  ASSERT_NO_FATAL_FAILURE(log_to_one(engine, 1));
  LogArchive archiver(*disk_, "/archive");
  ASSERT_TRUE(archiver.open(&why_)) << why_;
  EXPECT_FALSE(archive(engine, before, archiver));
  EXPECT_NE(why_.find("to be durable, and its log does not"), std::string::npos) << why_;
  ASSERT_TRUE(archive(engine, used, archiver)) << why_;
  ASSERT_NO_FATAL_FAILURE(expect_whole(used));
}

// Else a server that is restored whole would give them again.
TEST_F(ArchiveProgressTest, IdleStartsTellNoEpochsOfTheirOwn) {
  for (bool cut : {false, true}) {
    WalOptions used = options(2);
    ASSERT_NO_FATAL_FAILURE(archive_two_starts(240, used));
    std::optional<Epoch> told;
    for (int start = 0; start < 5; ++start) {
      {
        LoggedEngine engine(*disk_, "/data", used);
        ASSERT_TRUE(engine.start()) << engine.why();
        const Epoch now = engine.wal().status().recorded_epoch;
        EXPECT_EQ(now, told.value_or(now)) << start;
        told = now;
        ASSERT_NO_FATAL_FAILURE(cover_all(engine));
        EXPECT_EQ(engine.wal().status().recorded_epoch, now);
        ASSERT_NO_FATAL_FAILURE(archive_now(engine, used));
        cut ? disk_->cut_power() : engine.wal().stop();
      }
      disk_->restart();
    }
    ASSERT_NO_FATAL_FAILURE(restore_archived("/again", &used));
    LoggedEngine engine(*disk_, "/again", used);
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(log_to_one(engine));
    EXPECT_GT(engine.wal().status().recorded_epoch, *told);
  }
}

}  // namespace
}  // namespace pgsilo
