// A log directory that is taken out of the server, and comes back when the control file has
// forgotten the starts that it knows: what was archived of it stays, and what follows is archived.
#include "tests/crash/returning_bed.h"

namespace pgsilo {
namespace {

// The other log has none but begin blocks of some starts, is taken out, and comes back when the
// control file has forgotten these: what was archived of it stays what its segments are.
TEST_F(ArchiveEndsTest, ALogThatComesBackGoesOnBehindItsSegments) {
  for (size_t starts : {1, 2, 3}) {
    for (bool next_logs : {true, false}) {
      begin(94);
      const WalOptions used = options(2);
      ASSERT_NO_FATAL_FAILURE(begin_archive(used));
      std::vector<WalOptions> lives(starts, used);
      lives.push_back(options(1));
      for (const WalOptions& now : lives) ASSERT_NO_FATAL_FAILURE(live_of_one(now));
      const auto archived = files_of("/archive/wal2");
      LoggedEngine engine(*disk_, "/data", used);
      ASSERT_TRUE(engine.start()) << engine.why();
      if (next_logs) {
        ASSERT_NO_FATAL_FAILURE(work(engine, 10));
      }
      ASSERT_NO_FATAL_FAILURE(archive_now(engine, used));
      for (const auto& [path, content] : archived)
        EXPECT_TRUE(disk_->content(path) == content) << path;
      EXPECT_GT(files_of("/archive/wal2").size(), archived.size());
      std::optional<Content> found = last_archived(used, "/restored");
      ASSERT_TRUE(found) << why_;
      EXPECT_EQ(*found, states_.back().content) << starts << next_logs;
    }
  }
}

// The start with which it comes back dies before anything knows of it, and the next one, which has
// its number, logs to the other log only.
TEST_F(ArchiveEndsTest, AStartThatDiedWhenALogCameBackHidesNone) {
  for (uint64_t steps = 1; steps <= 60; ++steps) {
    begin(98);
    const WalOptions used = options(2);
    WalOptions other = options(1);
    other.log_directories = {used.log_directories.back()};
    ASSERT_NO_FATAL_FAILURE(begin_archive(used));
    for (const WalOptions& now : {used, other}) ASSERT_NO_FATAL_FAILURE(live_of_one(now));
    disk_->cut_power_at(disk_->steps() + steps);
    try {
      LoggedEngine engine(*disk_, "/data", used);
      ASSERT_TRUE(engine.start()) << engine.why();
      disk_->cut_power_at(0);
      disk_->cut_power();
    } catch (const SimulatedPowerCut&) {
    }
    disk_->restart();
    LoggedEngine engine(*disk_, "/data", used);
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(log_to_one(engine, 1));
    ASSERT_NO_FATAL_FAILURE(archive_now(engine, used));
    std::optional<Content> found = last_archived(used, "/restored");
    ASSERT_TRUE(found) << steps << ": " << why_;
    EXPECT_EQ(*found, states_.back().content) << steps;
  }
}

// Of the start with which they were last there the archive has what other logs had no more.
TEST_F(ReturningLogTest, ComesBackToAnArchiveThatWasPruned) {
  const std::vector<std::string> archived = {"/archive/wal", "/archive/wal2", "/archive/wal3"};
  for (unsigned stay = 1; stay < all_logs; ++stay) {
    begin(110 + stay);
    ASSERT_NO_FATAL_FAILURE(live(all_logs, /*backed_up=*/true));
    std::vector<std::string> pruned;
    for (unsigned log = 0; log < archived.size(); ++log) {
      if ((stay >> log & 1) != 0) pruned.push_back(archived[log]);
    }
    ASSERT_NO_FATAL_FAILURE(live_and_prune(stay, pruned));
    // One after the other.
    for (unsigned log = 1; log < all_logs; log <<= 1) {
      if ((stay & log) == 0) {
        ASSERT_NO_FATAL_FAILURE(live(stay | log)) << stay << log;
      }
    }
    ASSERT_NO_FATAL_FAILURE(expect_soundness_is_checked()) << stay;
  }
}

// Of the starts before that the archive has what these logs have, and need not have more.
TEST_F(ReturningLogTest, ComesBackToAnArchiveThatWasBegunWithoutIt) {
  for (unsigned before = 1; before <= all_logs; ++before) {
    for (unsigned stay = 1; stay < all_logs; ++stay) {
      for (bool checkpoint_first : {false, true}) {
        begin(120 + stay);
        ASSERT_NO_FATAL_FAILURE(live(before));
        ASSERT_NO_FATAL_FAILURE(live(stay, /*backed_up=*/true, checkpoint_first));
        ASSERT_NO_FATAL_FAILURE(live(all_logs)) << before << stay << checkpoint_first;
        ASSERT_NO_FATAL_FAILURE(expect_last_state()) << before << stay << checkpoint_first;
      }
    }
    ASSERT_NO_FATAL_FAILURE(expect_soundness_is_checked());
  }
}

// Whose a segment is cannot be told: it may be one of the start's that is looked at.
TEST_F(ReturningLogTest, DamageInAnArchiveThatWasPrunedIsTold) {
  begin(130);
  ASSERT_NO_FATAL_FAILURE(live(all_logs, /*backed_up=*/true));
  ASSERT_NO_FATAL_FAILURE(live_and_prune(5, {"/archive/wal"}));
  std::string damaged = "/archive/wal3/" + segment_name(1);
  damage(damaged, 20);
  LoggedEngine engine(*disk_, "/data", with(all_logs));
  ASSERT_TRUE(engine.start()) << engine.why();
  ASSERT_NO_FATAL_FAILURE(log_to_all(engine));
  LogArchive archiver(*disk_, "/archive");
  ASSERT_TRUE(archiver.open(&why_)) << why_;
  EXPECT_FALSE(archive(engine, with(all_logs), archiver));
  EXPECT_NE(why_.find("\"" + damaged + "\" at offset 0 is damaged"), std::string::npos) << why_;
}

// A log that was never archived is one that the archive lacks.
TEST_F(ReturningLogTest, ALogThatWasTakenOutTooEarlyIsTold) {
  begin(131);
  {
    LoggedEngine engine(*disk_, "/data", with(all_logs));
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(take_backup(engine, with(all_logs)));
    ASSERT_NO_FATAL_FAILURE(log_to_all(engine));
    ASSERT_NO_FATAL_FAILURE(stop_with_nothing_to_replay(engine));
  }
  LoggedEngine engine(*disk_, "/data", with(1));
  ASSERT_TRUE(engine.start()) << engine.why();
  ASSERT_NO_FATAL_FAILURE(log_to_all(engine));
  LogArchive archiver(*disk_, "/archive");
  ASSERT_TRUE(archiver.open(&why_)) << why_;
  EXPECT_FALSE(archive(engine, with(1), archiver));
  EXPECT_NE(why_.find("a log of start 1 of the server was never archived"), std::string::npos)
      << why_;
}

// So is one of which nobody has data: who restores could not tell what there was. It is archived
// when it is back.
TEST_F(ReturningLogTest, ALogThatWasInWhileNobodyArchivedIsTold) {
  begin(132);
  ASSERT_NO_FATAL_FAILURE(live(1, /*backed_up=*/true));
  {
    LoggedEngine engine(*disk_, "/data", with(3));
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(log_to_one(engine, 0));
    ASSERT_NO_FATAL_FAILURE(stop_with_nothing_to_replay(engine));
  }
  {
    LoggedEngine engine(*disk_, "/data", with(1));
    ASSERT_TRUE(engine.start()) << engine.why();
    LogArchive archiver(*disk_, "/archive");
    ASSERT_TRUE(archiver.open(&why_)) << why_;
    EXPECT_FALSE(archive(engine, with(1), archiver));
    EXPECT_FALSE(archiver.may_be_tried_again());
    EXPECT_NE(why_.find("a log of start 2 of the server was never archived"), std::string::npos)
        << why_;
    engine.wal().stop();
  }
  LoggedEngine engine(*disk_, "/data", with(3));
  ASSERT_TRUE(engine.start()) << engine.why();
  ASSERT_NO_FATAL_FAILURE(archive_now(engine, with(3)));
  ASSERT_NO_FATAL_FAILURE(expect_last_state());
}

// Of a start that made a checkpoint and logged nothing no log is needed: what went on from it went
// on from what was there before.
TEST_F(ReturningLogTest, ALogThatWasInForACheckpointOnlyIsNotNeeded) {
  for (unsigned logs : {3, 7}) {
    begin(133);
    ASSERT_NO_FATAL_FAILURE(live(1, /*backed_up=*/true));
    {
      LoggedEngine engine(*disk_, "/data", with(logs));
      ASSERT_TRUE(engine.start()) << engine.why();
      ASSERT_NO_FATAL_FAILURE(stop_with_nothing_to_replay(engine));
    }
    ASSERT_NO_FATAL_FAILURE(live(1));
    ASSERT_NO_FATAL_FAILURE(expect_last_state()) << logs;
    ASSERT_NO_FATAL_FAILURE(live(logs));
    ASSERT_NO_FATAL_FAILURE(expect_last_state()) << logs;
  }
}

// Lives of three logs that come and go as a start allows it, some of which die before they are
// named. The archive is begun in any of them, pruned in any, and goes on in each.
class LogsComeAndGoTest : public ReturningLogTest {
 protected:
  void live_somehow() {
    const unsigned logs = needed_ | static_cast<unsigned>(1 + random_.below(all_logs));
    if (random_.one_in(4)) {
      ASSERT_NO_FATAL_FAILURE(die_before_it_is_named(with(logs), begun_ && random_.one_in(2)));
      return;
    }
    LoggedEngine engine(*disk_, "/data", with(logs));
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_EQ(engine.content(), states_.back().content);
    needed_ |= logs;
    ASSERT_NO_FATAL_FAILURE(log_somehow(engine));
    if (random_.one_in(3)) {
      ASSERT_NO_FATAL_FAILURE(cover_all(engine));
      needed_ = logs;
      ASSERT_NO_FATAL_FAILURE(log_somehow(engine));
    }
    ASSERT_NO_FATAL_FAILURE(archive_somehow(engine, with(logs)));
    if (random_.one_in(2)) {
      if (begun_) {
        ASSERT_NO_FATAL_FAILURE(archive_now(engine, with(logs)));
      }
      ASSERT_NO_FATAL_FAILURE(stop_with_nothing_to_replay(engine));
      needed_ = 0;
    } else {
      random_.one_in(2) ? engine.wal().stop() : disk_->cut_power();
    }
  }

  void log_somehow(LoggedEngine& engine) {
    if (random_.one_in(3)) return;
    if (random_.one_in(3)) {
      ASSERT_NO_FATAL_FAILURE(work(engine, random_.below(60)));
      return;
    }
    auto worker = static_cast<unsigned>(random_.below(engine.wal().workers()));
    ASSERT_NO_FATAL_FAILURE(log_to_one(engine, worker));
  }

  void archive_somehow(LoggedEngine& engine, const WalOptions& used) {
    if (!begun_ && random_.one_in(2)) return;
    if (!begun_) {
      ASSERT_NO_FATAL_FAILURE(take_backup(engine, used));
      begun_ = true;
    }
    if (random_.one_in(3)) return;
    ASSERT_NO_FATAL_FAILURE(archive_now(engine, used));
    if (!random_.one_in(3)) return;
    ASSERT_NO_FATAL_FAILURE(take_newer_backup(engine, used));
    for (const char* log : {"/archive/wal", "/archive/wal2", "/archive/wal3"}) {
      bool there = !disk_->content(join_path(log, log_identity_name)).empty();
      if (there && random_.one_in(2)) {
        ASSERT_NO_FATAL_FAILURE(prune(log));
      }
    }
  }

  unsigned needed_ = 0;  // by the next start
  bool begun_ = false;   // the archive is
};

TEST_F(LogsComeAndGoTest, AndWhatWasArchivedIsThere) {
  for (uint64_t round = 0; round < 60; ++round) {
    begin(500 + round);
    needed_ = 0;
    begun_ = false;
    for (int life = 0; life < 9; ++life) {
      ASSERT_NO_FATAL_FAILURE(live_somehow()) << round << ", life " << life;
      disk_->restart();
    }
    LoggedEngine engine(*disk_, "/data", with(all_logs));
    ASSERT_TRUE(engine.start()) << engine.why();
    if (!begun_) continue;
    ASSERT_NO_FATAL_FAILURE(archive_now(engine, with(all_logs))) << round;
    ASSERT_NO_FATAL_FAILURE(expect_last_state()) << round;
    ASSERT_NO_FATAL_FAILURE(log_somehow(engine));
    ASSERT_NO_FATAL_FAILURE(archive_now(engine, with(all_logs))) << round;
    ASSERT_NO_FATAL_FAILURE(expect_last_state()) << round;
  }
}

// Its records are older than the archive, which was begun behind starts that nobody has any more.
TEST_F(ReturningLogTest, ALogWithRecordsFromBeforeTheArchiveIsNoTip) {
  begin(181);
  ASSERT_NO_FATAL_FAILURE(live(3));
  ASSERT_NO_FATAL_FAILURE(live(1));
  for (int start = 0; start < 3; ++start) {
    LoggedEngine engine(*disk_, "/data", with(1));
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(stop_with_nothing_to_replay(engine));
  }
  {
    LoggedEngine engine(*disk_, "/data", with(1));
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_EQ(slots(engine).create("archive", true, 0).outcome, SlotOutcome::ok);
    ASSERT_NO_FATAL_FAILURE(copy_to(engine, with(1), "/backup"));
    ASSERT_NO_FATAL_FAILURE(archive_now(engine, with(1)));
    ASSERT_NO_FATAL_FAILURE(stop_with_nothing_to_replay(engine));
  }
  LoggedEngine engine(*disk_, "/data", with(3));
  ASSERT_TRUE(engine.start()) << engine.why();
  for (int turn = 0; turn < 2; ++turn) {
    ASSERT_NO_FATAL_FAILURE(archive_now(engine, with(3)));
    ASSERT_NO_FATAL_FAILURE(log_to_all(engine));
  }
  ASSERT_NO_FATAL_FAILURE(archive_now(engine, with(3)));
  ASSERT_NO_FATAL_FAILURE(expect_last_state());
}

// All that the slot has gone past is had in an archive that is begun with it behind a log's leave.
TEST_F(ReturningLogTest, ANewArchiveIsBegunBehindALogThatWasTakenOut) {
  begin(182);
  ASSERT_NO_FATAL_FAILURE(live(3, /*backed_up=*/true));
  ASSERT_NO_FATAL_FAILURE(live(3));
  LoggedEngine engine(*disk_, "/data", with(1));
  ASSERT_TRUE(engine.start()) << engine.why();
  ASSERT_NO_FATAL_FAILURE(take_newer_backup(engine, with(1)));
  for (int turn = 0; turn < 2; ++turn) {
    LogArchive archiver(*disk_, "/another");
    ASSERT_TRUE(archiver.open(&why_)) << why_;
    ASSERT_TRUE(archive(engine, with(1), archiver)) << why_;
    ASSERT_NO_FATAL_FAILURE(log_to_one(engine));
  }
}

// A start that dies before it is named may write over the begin block of one that logged nothing,
// in some of its logs.
TEST_F(ReturningLogTest, AStartThatDiesOverAnIdleOneHidesNone) {
  bool started = false;
  for (uint64_t step = 1; !started; ++step) {
    SCOPED_TRACE(step);
    begin(184);
    ASSERT_NO_FATAL_FAILURE(live(3, /*backed_up=*/true));
    {
      LoggedEngine engine(*disk_, "/data", with(3));
      ASSERT_TRUE(engine.start()) << engine.why();
      engine.wal().stop();
    }
    disk_->cut_power_at(disk_->steps() + step);
    try {
      LoggedEngine engine(*disk_, "/data", with(3));
      started = engine.start();
      disk_->cut_power_at(0);
      disk_->cut_power();
    } catch (const SimulatedPowerCut&) {
    }
    disk_->restart();
    for (int start = 0; start < 2; ++start) {
      LoggedEngine engine(*disk_, "/data", with(3));
      ASSERT_TRUE(engine.start()) << engine.why();
      ASSERT_NO_FATAL_FAILURE(log_to_all(engine));
      if (start == 1) {
        ASSERT_NO_FATAL_FAILURE(archive_now(engine, with(3)));
      }
      engine.wal().stop();
    }
    ASSERT_NO_FATAL_FAILURE(expect_last_state());
  }
}

}  // namespace
}  // namespace pgsilo
