// Starts whose logs are taken out of the server before the archive has come to them, and those that
// rest on them.
#include "tests/crash/returning_bed.h"

namespace pgsilo {
namespace {

// Of a start whose only log was taken out before the archive came to it: no log ends with it, and
// the next one may even be on a log that is new.
class UnarchivedStartTest : public ReturningLogTest {
 protected:
  void live_unarchived(unsigned logs, bool is_idle = false) {
    LoggedEngine engine(*disk_, "/data", with(logs));
    ASSERT_TRUE(engine.start()) << engine.why();
    if (!is_idle) {
      ASSERT_NO_FATAL_FAILURE(log_to_all(engine));
    }
    ASSERT_NO_FATAL_FAILURE(stop_with_nothing_to_replay(engine));
  }

  // An archiver sees its beginning.
  void live_half_archived(unsigned logs, bool is_idle_then) {
    LoggedEngine engine(*disk_, "/data", with(logs));
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(log_to_all(engine));
    ASSERT_NO_FATAL_FAILURE(archive_now(engine, with(logs)));
    archived_states_ = states_.size();
    if (is_idle_then) {
      Backup backup(engine.wal().checkpointer(), "test");
      ASSERT_NO_FATAL_FAILURE(stop(engine, backup));
    } else {
      ASSERT_NO_FATAL_FAILURE(log_to_all(engine));
    }
    ASSERT_NO_FATAL_FAILURE(stop_with_nothing_to_replay(engine));
  }

  void expect_refused_now(unsigned logs, bool covered, bool is_half_archived = false) {
    LoggedEngine engine(*disk_, "/data", with(logs));
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(log_to_all(engine));
    if (covered) {
      ASSERT_NO_FATAL_FAILURE(cover_all(engine));
    }
    const LogSlot before = slots(engine).status().front().slot;
    LogArchive archiver(*disk_, "/archive");
    ASSERT_TRUE(archiver.open(&why_)) << why_;
    for (int turn = 0; turn < 2; ++turn) {
      EXPECT_FALSE(archive(engine, with(logs), archiver));
      EXPECT_FALSE(archiver.may_be_tried_again());
      EXPECT_TRUE(why_.starts_with("start 3 of the server went on from epoch ")) << why_;
      const std::string parents = is_half_archived ? "archived only up to log segment \"/archive/"
                                                   : "never archived\nHINT:";
      EXPECT_NE(why_.find(" of a start that was " + parents), std::string::npos) << why_;
    }
    EXPECT_EQ(slots(engine).status().front().slot.restart, before.restart);
    ASSERT_NO_FATAL_FAILURE(stop_with_nothing_to_replay(engine));
  }

  void expect_state(size_t state) {
    std::optional<Content> found =
        last_archived(with(all_logs), "/restored" + std::to_string(++restored_));
    ASSERT_TRUE(found) << why_;
    EXPECT_TRUE(*found == states_[state].content);
  }

  size_t archived_states_ = 0;  // of states_
};

// It is archived when its log is back; until then what was archived before can be had.
TEST_F(UnarchivedStartTest, IsToldUntilItsLogIsBack) {
  for (unsigned next : {2, 4, 6}) {
    for (bool covered : {false, true}) {
      begin(134);
      SCOPED_TRACE(std::to_string(next) + ", " + std::to_string(covered));
      ASSERT_NO_FATAL_FAILURE(live(3, /*backed_up=*/true));
      const size_t last = states_.size() - 1;
      ASSERT_NO_FATAL_FAILURE(live_unarchived(1));
      ASSERT_NO_FATAL_FAILURE(expect_refused_now(next, covered));
      ASSERT_NO_FATAL_FAILURE(expect_state(last));
      ASSERT_NO_FATAL_FAILURE(live(all_logs));
      ASSERT_NO_FATAL_FAILURE(expect_last_state());
    }
  }
}

// Nobody goes on from a start that logged nothing, though it made the checkpoint.
TEST_F(UnarchivedStartTest, IsNoneThatLoggedNothing) {
  for (unsigned next : {2, 4, 6}) {
    begin(141);
    SCOPED_TRACE(next);
    ASSERT_NO_FATAL_FAILURE(live(3, /*backed_up=*/true));
    for (int start = 0; start < 2; ++start)
      ASSERT_NO_FATAL_FAILURE(live_unarchived(1, /*is_idle=*/true));
    ASSERT_NO_FATAL_FAILURE(live(next));
    ASSERT_NO_FATAL_FAILURE(expect_last_state());
  }
}

// Nor is it content with a part of it.
TEST_F(UnarchivedStartTest, IsToldUntilTheLogOfItsEndIsBack) {
  for (unsigned next : {2, 4, 6}) {
    for (unsigned flags = 0; flags < 4; ++flags) {
      begin(133);
      SCOPED_TRACE(std::to_string(next) + ", " + std::to_string(flags));
      ASSERT_NO_FATAL_FAILURE(live(3, /*backed_up=*/true));
      ASSERT_NO_FATAL_FAILURE(live_half_archived(1, /*is_idle_then=*/(flags & 1) != 0));
      ASSERT_NO_FATAL_FAILURE(expect_refused_now(next, /*covered=*/(flags & 2) != 0, true));
      ASSERT_NO_FATAL_FAILURE(expect_state(archived_states_ - 1));
      ASSERT_NO_FATAL_FAILURE(live(all_logs));
      ASSERT_NO_FATAL_FAILURE(expect_last_state());
    }
  }
}

TEST_F(UnarchivedStartTest, IsToldByAnArchiveThatIsBegunTooLate) {
  for (bool covered : {false, true}) {
    begin(139);
    {
      LoggedEngine engine(*disk_, "/data", with(3));
      ASSERT_TRUE(engine.start()) << engine.why();
      ASSERT_NO_FATAL_FAILURE(take_backup(engine, with(3)));
      ASSERT_NO_FATAL_FAILURE(stop_with_nothing_to_replay(engine));
    }
    ASSERT_NO_FATAL_FAILURE(live_unarchived(1));
    ASSERT_NO_FATAL_FAILURE(expect_refused_now(2, covered));
    ASSERT_NO_FATAL_FAILURE(live(3));
    ASSERT_NO_FATAL_FAILURE(expect_last_state());
  }
}

// In the archive the next one stands in the place of one that died before it was named.
TEST_F(UnarchivedStartTest, IsToldWhereABeginBlockIsReplaced) {
  begin(135);
  ASSERT_NO_FATAL_FAILURE(live(3, /*backed_up=*/true));
  ASSERT_NO_FATAL_FAILURE(die_before_it_is_named(with(3), /*archived=*/true));
  const size_t last = states_.size() - 1;
  ASSERT_NO_FATAL_FAILURE(live_unarchived(1));
  ASSERT_NO_FATAL_FAILURE(expect_refused_now(2, /*covered=*/false));
  ASSERT_NO_FATAL_FAILURE(expect_state(last));
  ASSERT_NO_FATAL_FAILURE(live(3));
  ASSERT_NO_FATAL_FAILURE(expect_last_state());
}

// What ended before the slot was made is in the backup, though the archive gets older segments, of
// a log that had been out.
TEST_F(UnarchivedStartTest, IsNotAskedForWhenABackupHasIt) {
  for (unsigned flags = 0; flags < 4; ++flags) {
    begin(136);
    SCOPED_TRACE(flags);
    ASSERT_NO_FATAL_FAILURE(live(7));
    ASSERT_NO_FATAL_FAILURE(live_unarchived(1, /*is_idle=*/(flags & 1) != 0));
    {
      LoggedEngine engine(*disk_, "/data", with(2));
      ASSERT_TRUE(engine.start()) << engine.why();
      ASSERT_NO_FATAL_FAILURE(take_backup(engine, with(2)));
      ASSERT_NO_FATAL_FAILURE(log_to_all(engine));
      if ((flags & 2) != 0) {
        ASSERT_NO_FATAL_FAILURE(cover_all(engine));
      }
      ASSERT_NO_FATAL_FAILURE(archive_now(engine, with(2)));
      ASSERT_NO_FATAL_FAILURE(expect_last_state());
      ASSERT_NO_FATAL_FAILURE(stop_with_nothing_to_replay(engine));
    }
    ASSERT_NO_FATAL_FAILURE(live(6));
    ASSERT_NO_FATAL_FAILURE(expect_last_state());
  }
}

// Nor one in which the archive was begun, though its begin block is nowhere.
TEST_F(UnarchivedStartTest, IsNoneOfWhichTheArchiveHasBlocks) {
  for (bool covered : {false, true}) {
    begin(137);
    ASSERT_NO_FATAL_FAILURE(live(7));
    ASSERT_NO_FATAL_FAILURE(begin_archive_in_the_midst(with(1)));
    LoggedEngine engine(*disk_, "/data", with(7));
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(log_to_all(engine));
    if (covered) {
      ASSERT_NO_FATAL_FAILURE(cover_all(engine));
    }
    ASSERT_NO_FATAL_FAILURE(archive_now(engine, with(7))) << covered;
    ASSERT_NO_FATAL_FAILURE(expect_last_state());
  }
}

// What lies behind it is told as a loss, and what came before it can be had.
TEST_F(UnarchivedStartTest, LeavesEarlierStatesToWhoRestores) {
  begin(138);
  ASSERT_NO_FATAL_FAILURE(live(3, /*backed_up=*/true));
  const State last = states_.back();
  const auto before = files_of("/archive/wal");
  for (unsigned logs : {1, 2, 2}) ASSERT_NO_FATAL_FAILURE(live(logs));
  ASSERT_NO_FATAL_FAILURE(expect_last_state());
  ASSERT_NO_FATAL_FAILURE(put_back("/archive/wal", before));
  ASSERT_TRUE(disk_->remove(join_path("/archive", archive_progress_name)).ok());

  BackupLabel label;
  BackupSource source;
  SourceLogs logs;
  EXPECT_FALSE(extend(&label, &source, &logs));
  EXPECT_EQ(why_, "start 3 of the server went on from a state that is not there");
  EXPECT_EQ(label.control.incarnations.back().number, 1U);
  ASSERT_GE(label.stop, last.epoch);
  for (Epoch epoch : {last.epoch, label.stop}) {
    BackupLabel chosen = label;
    end_label_at(epoch, 1, &chosen);
    std::optional<Content> found =
        restored(source, chosen, with(3), "/restored" + std::to_string(++restored_));
    ASSERT_TRUE(found) << why_;
    EXPECT_TRUE(*found == last.content);
  }
}

}  // namespace
}  // namespace pgsilo
