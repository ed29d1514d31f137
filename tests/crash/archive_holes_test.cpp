// What a server logged while nobody archived it, and lost or took out before the archive went on:
// a slot that is made anew afterwards tells nothing of that. No restore gets past it, so it is
// told.
#include "tests/crash/returning_bed.h"

namespace pgsilo {
namespace {

class ArchiveHolesTest : public ReturningLogTest {
 protected:
  // A start that nobody archives. Then nothing of it is needed any more.
  void live_unarchived(const WalOptions& used, const std::string& data = "/data") {
    LoggedEngine engine(*disk_, data, used);
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(log_to_all(engine));
    ASSERT_NO_FATAL_FAILURE(stop_with_nothing_to_replay(engine));
  }

  void drop_slot(const WalOptions& used) {
    LoggedEngine engine(*disk_, "/data", used);
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_EQ(slots(engine).drop("archive", 1).outcome, SlotOutcome::ok);
    engine.wal().stop();
  }

  // What a base has, as a data directory; the options get its logs.
  void restore_base(const std::string& base, const std::string& data, WalOptions* used) {
    BackupLabel label;
    ASSERT_EQ(read_label_file(*disk_, base, &label, &why_), LabelRead::ok);
    BackupCopyReport report;
    BackupSource source = source_of_backup(base, label);
    ASSERT_TRUE(copy_backup(*disk_, source, label, data, &report, &why_)) << why_;
    used->log_directories = report.log_directories;
  }

  bool archive_of(LoggedEngine& engine, const WalOptions& used, const std::string& data) {
    if (slots(engine).status().empty()) {
      EXPECT_EQ(slots(engine).create("archive", true, 0).outcome, SlotOutcome::ok);
    }
    const Epoch told = engine.wal().status().recorded_epoch;
    const LogSlot slot = slots(engine).status().front().slot;
    LogArchive archiver(*disk_, "/archive");
    if (!archiver.open(&why_) || !archiver.copy(running(used, data), slot, &why_, told))
      return false;
    EXPECT_EQ(slots(engine).advance("archive", told, 1).outcome, SlotOutcome::ok);
    return true;
  }

  // It goes on with a slot that is new.
  void expect_told(const WalOptions& used, const std::string& data, const std::string& words,
                   bool is_idle = false) {
    LoggedEngine engine(*disk_, data, used);
    ASSERT_TRUE(engine.start()) << engine.why();
    if (!is_idle) {
      ASSERT_NO_FATAL_FAILURE(log_to_all(engine));
    }
    for (int turn = 0; turn < 2; ++turn) {
      EXPECT_FALSE(archive_of(engine, used, data));
      EXPECT_NE(why_.find(words), std::string::npos) << why_;
    }
    engine.wal().stop();
  }
};

const char unarchived[] = " was never archived\nHINT:";

TEST_F(ArchiveHolesTest, AreToldOfARestoredServer) {
  for (bool is_idle : {false, true}) {
    begin(160);
    ASSERT_NO_FATAL_FAILURE(live(1, /*backed_up=*/true));
    const Content archived = states_.back().content;
    WalOptions used = options(1);
    ASSERT_NO_FATAL_FAILURE(restore_archived("/server", &used));
    ASSERT_NO_FATAL_FAILURE(live_unarchived(used, "/server"));
    used.log_directories = {"another"};
    ASSERT_NO_FATAL_FAILURE(expect_told(used, "/server", unarchived, is_idle));
    std::optional<Content> found = last_archived(used, "/read_back");
    ASSERT_TRUE(found) << why_;
    EXPECT_TRUE(*found == archived);
  }
}

// What it was restored of had more than the archive: of the start that was archived last, or one
// more.
TEST_F(ArchiveHolesTest, AreToldBelowARestoredState) {
  for (bool one_more : {false, true}) {
    begin(165);
    for (int start = 0; start <= (one_more ? 1 : 0); ++start) {
      LoggedEngine engine(*disk_, "/data", with(1));
      ASSERT_TRUE(engine.start()) << engine.why();
      ASSERT_NO_FATAL_FAILURE(log_to_all(engine));
      if (start == 0) {
        ASSERT_NO_FATAL_FAILURE(take_backup(engine, with(1)));
        ASSERT_NO_FATAL_FAILURE(archive_now(engine, with(1)));
        ASSERT_NO_FATAL_FAILURE(log_to_all(engine));
      }
      ASSERT_NO_FATAL_FAILURE(copy_to(engine, with(1), "/ahead" + std::to_string(start)));
      engine.wal().stop();
    }
    const std::string base = one_more ? "/ahead1" : "/ahead0";
    WalOptions used = options(1);
    ASSERT_NO_FATAL_FAILURE(restore_base(base, "/server", &used));
    ASSERT_NO_FATAL_FAILURE(live_unarchived(used, "/server"));
    if (one_more) used.log_directories = {"another"};
    ASSERT_NO_FATAL_FAILURE(expect_told(
        used, "/server", one_more ? unarchived : " of a start that was archived only up to log "));
  }
}

// And one log of two is out before the archive has come to it.
TEST_F(ArchiveHolesTest, AreToldBelowARestoredStateOfTwoLogs) {
  begin(168);
  {
    LoggedEngine engine(*disk_, "/data", with(3));
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(log_to_all(engine));
    ASSERT_NO_FATAL_FAILURE(take_backup(engine, with(3)));
    ASSERT_NO_FATAL_FAILURE(archive_now(engine, with(3)));
    ASSERT_NO_FATAL_FAILURE(log_to_all(engine));
    ASSERT_NO_FATAL_FAILURE(copy_to(engine, with(3), "/ahead"));
    engine.wal().stop();
  }
  WalOptions used = options(2);
  ASSERT_NO_FATAL_FAILURE(restore_base("/ahead", "/server", &used));
  {
    LoggedEngine engine(*disk_, "/server", used);
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_EQ(slots(engine).create("archive", true, 0).outcome, SlotOutcome::ok);
    ASSERT_NO_FATAL_FAILURE(stop_with_nothing_to_replay(engine));
  }
  used.log_directories.pop_back();
  used.workers = 1;
  ASSERT_NO_FATAL_FAILURE(expect_told(used, "/server", " of the server ", /*is_idle=*/true));
}

// A slot that is made anew in the midst of a start begins in the midst of its log.
TEST_F(ArchiveHolesTest, AreToldBeforeALogsFirstSegment) {
  begin(166);
  ASSERT_NO_FATAL_FAILURE(live(1, /*backed_up=*/true));
  const WalOptions used = with(2);
  LoggedEngine engine(*disk_, "/data", used);
  ASSERT_TRUE(engine.start()) << engine.why();
  ASSERT_EQ(slots(engine).drop("archive", 1).outcome, SlotOutcome::ok);
  for (uint64_t live = live_segments(engine); live_segments(engine) < live + 2;)
    ASSERT_NO_FATAL_FAILURE(log_to_all(engine));
  ASSERT_NO_FATAL_FAILURE(cover_all(engine));
  EXPECT_FALSE(archive_of(engine, used, "/data"));
  EXPECT_NE(why_.find("has logged before log segment"), std::string::npos) << why_;
}

// What is noted behind the state that the server was restored to the server gives again.
TEST_F(ArchiveHolesTest, AreToldBelowEpochsThatAreGivenAgain) {
  begin(171);
  ASSERT_NO_FATAL_FAILURE(live(1, /*backed_up=*/true));
  std::optional<ArchiveProgress> noted;
  ASSERT_EQ(read_archive_progress(*disk_, "/archive", &noted, &why_), ArchiveProgressRead::ok);
  noted->had->epoch = Epoch(noted->had->epoch.value() + 1000);
  ASSERT_TRUE(write_archive_progress(*disk_, "/archive", *noted).ok());
  WalOptions used = options(1);
  ASSERT_NO_FATAL_FAILURE(restore_archived("/server", &used));
  used.log_directories.emplace_back("another");
  used.workers = 2;
  LoggedEngine engine(*disk_, "/server", used);
  ASSERT_TRUE(engine.start()) << engine.why();
  for (uint64_t live = live_segments(engine); live_segments(engine) < live + 4;)
    ASSERT_NO_FATAL_FAILURE(log_to_all(engine));
  ASSERT_NO_FATAL_FAILURE(cover_all(engine));
  ASSERT_LT(engine.epochs().current(), noted->had->epoch);
  EXPECT_FALSE(archive_of(engine, used, "/server"));
  EXPECT_NE(why_.find("has logged before log segment"), std::string::npos) << why_;
}

// Where nothing was logged but what backups write, the starts before the newest backup may be
// taken out.
TEST_F(ArchiveHolesTest, AreNoneBehindAPrunedArchiveOfAQuietServer) {
  for (bool logs_then : {false, true}) {
    begin(167);
    ASSERT_NO_FATAL_FAILURE(live(1, /*backed_up=*/true));
    for (int start = 0; start < 3; ++start) {
      LoggedEngine engine(*disk_, "/data", with(1));
      ASSERT_TRUE(engine.start()) << engine.why();
      ASSERT_NO_FATAL_FAILURE(cover_all(engine));
      ASSERT_NO_FATAL_FAILURE(take_newer_backup(engine, with(1)));
      ASSERT_NO_FATAL_FAILURE(archive_now(engine, with(1))) << start;
      ASSERT_NO_FATAL_FAILURE(prune("/archive/wal"));
      if (logs_then && start == 2) {
        ASSERT_NO_FATAL_FAILURE(log_to_all(engine));
      }
      ASSERT_NO_FATAL_FAILURE(stop_with_nothing_to_replay(engine));
    }
    {
      LoggedEngine engine(*disk_, "/data", with(1));
      ASSERT_TRUE(engine.start()) << engine.why();
      ASSERT_NO_FATAL_FAILURE(archive_now(engine, with(1)));
      engine.wal().stop();
    }
    ASSERT_NO_FATAL_FAILURE(live(1));
    ASSERT_NO_FATAL_FAILURE(expect_last_state());
  }
}

// Nor where a log comes back in which another idle start has begun in the archived one's place.
TEST_F(ArchiveHolesTest, AreNoneWhereAnIdleStartGaveWay) {
  begin(174);
  ASSERT_NO_FATAL_FAILURE(live(1, /*backed_up=*/true));
  ASSERT_NO_FATAL_FAILURE(live_idle(with(1), /*backed_up=*/true));
  ASSERT_NO_FATAL_FAILURE(live_idle(with(1), /*backed_up=*/false, /*makes_checkpoint=*/false));
  {
    LoggedEngine engine(*disk_, "/data", with(1));
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(stop_with_nothing_to_replay(engine));
  }
  for (int start = 0; start < 2; ++start)
    ASSERT_NO_FATAL_FAILURE(live_idle(with(2), /*backed_up=*/true));
  // The backup needs none of the log any more; its last segment stays.
  LogDirectory log(*disk_, "/archive/wal");
  std::vector<uint64_t> numbers;
  ASSERT_TRUE(log.list_segments(&numbers).ok());
  numbers.pop_back();
  for (uint64_t number : numbers) {
    ASSERT_TRUE(disk_->remove(log.segment_path(number)).ok());
  }
  ASSERT_NO_FATAL_FAILURE(live(3));
  ASSERT_NO_FATAL_FAILURE(expect_last_state());
}

// Nor when the server is lost and restored, with one log more, too, or backed up and lost again.
TEST_F(ArchiveHolesTest, AreNoneBehindAQuietServerThatIsRestored) {
  for (bool pruned : {false, true}) {
    for (bool one_more : {false, true}) {
      begin(172);
      SCOPED_TRACE(std::to_string(pruned) + std::to_string(one_more));
      ASSERT_NO_FATAL_FAILURE(live(1, /*backed_up=*/true));
      ASSERT_NO_FATAL_FAILURE(live_idle(with(1)));
      if (pruned) {
        ASSERT_NO_FATAL_FAILURE(live_idle(with(1), /*backed_up=*/true));
        ASSERT_NO_FATAL_FAILURE(prune("/archive/wal"));
        ASSERT_NO_FATAL_FAILURE(live_idle(with(1)));
      }
      ASSERT_NO_FATAL_FAILURE(live_idle(with(1)));
      WalOptions used = options(2);
      ASSERT_NO_FATAL_FAILURE(lose_and_restore(&used));
      if (one_more) used.log_directories.emplace_back("another");
      used.workers = static_cast<unsigned>(used.log_directories.size());
      {
        LoggedEngine engine(*disk_, "/data", used);
        ASSERT_TRUE(engine.start()) << engine.why();
        ASSERT_EQ(slots(engine).create("archive", true, 0).outcome, SlotOutcome::ok);
        ASSERT_NO_FATAL_FAILURE(take_newer_backup(engine, used));
        if (one_more) {
          ASSERT_NO_FATAL_FAILURE(archive_now(engine, used));
        }
        engine.wal().stop();
      }
      ASSERT_NO_FATAL_FAILURE(lose_and_restore(&used));
      LoggedEngine engine(*disk_, "/data", used);
      ASSERT_TRUE(engine.start()) << engine.why();
      EXPECT_TRUE(engine.content() == states_.back().content);
      ASSERT_NO_FATAL_FAILURE(log_to_all(engine));
      ASSERT_TRUE(archive_of(engine, used, "/data")) << why_;
      ASSERT_NO_FATAL_FAILURE(expect_last_state());
    }
  }
}

// The archive is begun starts after its slot.
TEST_F(ArchiveHolesTest, AreToldOfAnArchiveThatIsBegunLate) {
  begin(170);
  {
    LoggedEngine engine(*disk_, "/data", with(1));
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(log_to_all(engine));
    ASSERT_NO_FATAL_FAILURE(take_backup(engine, with(1)));
    ASSERT_NO_FATAL_FAILURE(stop_with_nothing_to_replay(engine));
  }
  for (unsigned logs : {2, 4}) ASSERT_NO_FATAL_FAILURE(live_unarchived(with(logs)));
  ASSERT_NO_FATAL_FAILURE(expect_told(with(4), "/data", unarchived, /*is_idle=*/true));
}

// The first attempt came to nothing; what was had is in a backup that is newer.
TEST_F(ArchiveHolesTest, AreNoneBeforeTheFirstSegment) {
  begin(169);
  LoggedEngine engine(*disk_, "/data", with(1));
  ASSERT_TRUE(engine.start()) << engine.why();
  ASSERT_TRUE(make_directory(*disk_, "/archive").ok());
  ASSERT_TRUE(write_archive_progress(*disk_, "/archive",
                                     {.ends = {}, .tip = {}, .had = ArchivedHad{0, Epoch(1)}})
                  .ok());
  for (uint64_t live = live_segments(engine); live_segments(engine) < live + 2;)
    ASSERT_NO_FATAL_FAILURE(log_to_all(engine));
  ASSERT_NO_FATAL_FAILURE(cover_all(engine));
  ASSERT_NO_FATAL_FAILURE(take_backup(engine, with(1)));
  ASSERT_NO_FATAL_FAILURE(archive_now(engine, with(1)));
  ASSERT_NO_FATAL_FAILURE(expect_last_state());
}

// Nothing is lost where its log is there yet.
TEST_F(ArchiveHolesTest, AreNoneWhereTheLogGoesOn) {
  begin(161);
  ASSERT_NO_FATAL_FAILURE(live(1, /*backed_up=*/true));
  WalOptions used = options(1);
  ASSERT_NO_FATAL_FAILURE(restore_archived("/server", &used));
  for (int start = 0; start < 2; ++start) {
    LoggedEngine engine(*disk_, "/server", used);
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(log_to_all(engine));
    if (start == 1) {
      ASSERT_TRUE(archive_of(engine, used, "/server")) << why_;
    }
    engine.wal().stop();
  }
  ASSERT_NO_FATAL_FAILURE(expect_last_state());
}

// One log of two was taken out; what the other one has is no start.
TEST_F(ArchiveHolesTest, AreToldBehindASlotThatIsMadeAnew) {
  begin(162);
  ASSERT_NO_FATAL_FAILURE(live(3, /*backed_up=*/true));
  ASSERT_NO_FATAL_FAILURE(drop_slot(with(3)));
  ASSERT_NO_FATAL_FAILURE(live_unarchived(with(3)));
  ASSERT_NO_FATAL_FAILURE(expect_told(with(6), "/data", unarchived));
}

// Of a log that is new, like the other one of its start, only the begin block is missing.
TEST_F(ArchiveHolesTest, AreToldWhereOneOfTwoNewLogsIsOut) {
  begin(164);
  ASSERT_NO_FATAL_FAILURE(live(1, /*backed_up=*/true));
  {
    LoggedEngine engine(*disk_, "/data", with(6));
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(log_to_one(engine));
    ASSERT_NO_FATAL_FAILURE(stop_with_nothing_to_replay(engine));
  }
  ASSERT_NO_FATAL_FAILURE(expect_told(with(2), "/data", unarchived));
  ASSERT_NO_FATAL_FAILURE(live(6));
  ASSERT_NO_FATAL_FAILURE(expect_last_state());
}

// A segment that is missing of one log is told before anything of another one is copied.
TEST_F(ArchiveHolesTest, AreToldBeforeAnythingIsCopied) {
  begin(163);
  ASSERT_NO_FATAL_FAILURE(live(6, /*backed_up=*/true));
  LogDirectory log(*disk_, "/data/wal1");
  std::vector<uint64_t> numbers;
  LoggedEngine engine(*disk_, "/data", with(7));
  ASSERT_TRUE(engine.start()) << engine.why();
  ASSERT_TRUE(log.list_segments(&numbers).ok());
  for (uint64_t number : numbers) ASSERT_TRUE(disk_->remove(log.segment_path(number)).ok());
  const auto before = files_of("/archive");
  LogArchive archiver(*disk_, "/archive");
  ASSERT_TRUE(archiver.open(&why_)) << why_;
  ASSERT_FALSE(archive(engine, with(7), archiver));
  EXPECT_NE(why_.find("is missing, and not in the archive whole"), std::string::npos) << why_;
  EXPECT_TRUE(files_of("/archive") == before);
}

}  // namespace
}  // namespace pgsilo
