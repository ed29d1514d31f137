// What an archiver, or who restores of an archive, cannot read: it is told and tried again, and
// never passes for something that is not there.
#include "tests/crash/archive_bed.h"

namespace pgsilo {
namespace {

class ArchiveReadsTest : public ArchiveEndsTest {
 protected:
  // Archives until no read is left that could fail, another one each time. What it has is put back
  // before each. How many failed.
  int archive_with_failing_reads(const BackupSource& source, const LogSlot& slot, bool succeeds) {
    std::map<std::string, std::string> before = files_of("/archive");
    int failed = 0;
    for (uint64_t read = 1;; ++read) {
      put_back("/archive", before);
      LogArchive archiver(*disk_, "/archive");
      EXPECT_TRUE(archiver.open(&why_)) << why_;
      disk_->fail_read(read);
      bool done = archiver.copy(source, slot, &why_);
      bool whole = disk_->read_failure_waits();
      disk_->fail_read(0);
      if (whole) {
        EXPECT_EQ(done, succeeds) << why_;
        return failed;
      }
      ++failed;
      EXPECT_FALSE(done) << "read " << read;
      EXPECT_TRUE(archiver.may_be_tried_again()) << "read " << read << ": " << why_;
      EXPECT_NE(why_.find("Input/output error"), std::string::npos) << why_;
      EXPECT_EQ(archiver.copy(source, slot, &why_), succeeds) << "read " << read << ": " << why_;
    }
  }

  static LogSlot slot_of(LoggedEngine& engine) { return slots(engine).status().front().slot; }
};

TEST_F(ArchiveReadsTest, ASegmentThatHasGoneIsMissingAndNotDamaged) {
  begin(72);
  WalOptions used = options(1);
  ASSERT_NO_FATAL_FAILURE(begin_archive(used));
  uint64_t last = 1;
  while (files_of("/archive/wal").contains("/archive/wal/" + segment_name(last + 1))) ++last;
  LoggedEngine engine(*disk_, "/data", used);
  ASSERT_TRUE(engine.start()) << engine.why();
  for (uint64_t live = live_segments(engine); live_segments(engine) < live + 2;)
    ASSERT_NO_FATAL_FAILURE(commit(engine));
  std::string gone = "/data/wal0/" + segment_name(last + 1);
  ASSERT_TRUE(disk_->remove(gone).ok());
  LogArchive archiver(*disk_, "/archive");
  ASSERT_TRUE(archiver.open(&why_)) << why_;
  EXPECT_FALSE(archive(engine, used, archiver));
  EXPECT_NE(why_.find("\"" + gone + "\" is missing"), std::string::npos) << why_;
}

TEST_F(ArchiveReadsTest, AtAStartsEndAreTriedAgain) {
  for (bool damaged : {false, true}) {
    begin(60);
    WalOptions used = options(2);
    ASSERT_NO_FATAL_FAILURE(begin_archive(used));
    {
      LoggedEngine engine(*disk_, "/data", used);
      ASSERT_TRUE(engine.start()) << engine.why();
      ASSERT_NO_FATAL_FAILURE(work(engine, 40));
      disk_->cut_power();
    }
    disk_->restart();
    End end = end_of("/data/wal0");
    LoggedEngine engine(*disk_, "/data", used);
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(work(engine, 5));
    if (damaged) damage(end.path, end.last + 20);
    EXPECT_GT(archive_with_failing_reads(running(used), slot_of(engine), !damaged), 20);
    if (damaged) continue;
    std::optional<Content> found = last_archived(used, "/restored");
    ASSERT_TRUE(found) << why_;
    EXPECT_EQ(*found, states_.back().content);
  }
}

TEST_F(ArchiveReadsTest, OfWhatTheServerLostAreTriedAgain) {
  begin(61);
  WalOptions used = options(1);
  ASSERT_NO_FATAL_FAILURE(begin_archive(used));
  ASSERT_NO_FATAL_FAILURE(lose_what_was_archived(used, /*first_of_start=*/true));
  LoggedEngine engine(*disk_, "/data", used);
  ASSERT_TRUE(engine.start()) << engine.why();
  ASSERT_NO_FATAL_FAILURE(work(engine, 10));
  EXPECT_GT(archive_with_failing_reads(running(used), slot_of(engine), true), 5);
  std::optional<Content> found = last_archived(used, "/restored");
  ASSERT_TRUE(found) << why_;
  EXPECT_EQ(*found, states_.back().content);
}

// Whose files they are, and what the server was restored of.
TEST_F(ArchiveReadsTest, OfSmallFilesAreTriedAgain) {
  begin(62);
  WalOptions used = options(1);
  ASSERT_NO_FATAL_FAILURE(begin_archive(used));
  LoggedEngine engine(*disk_, "/data", used);
  ASSERT_TRUE(engine.start()) << engine.why();
  ASSERT_NO_FATAL_FAILURE(
      write_test_file(*disk_, "/data/backup_label.old", disk_->content("/backup/backup_label")));
  for (const std::string path :
       {"/data/wal0/log.identity", "/data/backup_label.old", "/archive/wal/log.identity"}) {
    LogArchive archiver(*disk_, "/archive");
    bool own = path.starts_with("/archive/");
    if (!own) {
      ASSERT_TRUE(archiver.open(&why_)) << why_;
    }
    disk_->fail_reads_of(path);
    EXPECT_FALSE(own ? archiver.open(&why_) : archiver.copy(running(used), slot_of(engine), &why_));
    EXPECT_TRUE(archiver.may_be_tried_again()) << why_;
    EXPECT_NE(why_.find("could not read file \"" + path + "\""), std::string::npos) << why_;
    disk_->fail_reads_of("");
    EXPECT_TRUE(!own || archiver.open(&why_)) << why_;
    EXPECT_TRUE(archiver.copy(running(used), slot_of(engine), &why_)) << why_;
  }
  // Damaged it does not tell whether the server lost something or is another copy.
  ASSERT_NO_FATAL_FAILURE(write_test_file(*disk_, "/data/backup_label.old", "damaged"));
  LogArchive archiver(*disk_, "/archive");
  ASSERT_TRUE(archiver.open(&why_)) << why_;
  EXPECT_FALSE(archiver.copy(running(used), slot_of(engine), &why_));
  EXPECT_FALSE(archiver.may_be_tried_again());
  EXPECT_NE(why_.find("\"/data/backup_label.old\""), std::string::npos) << why_;
}

// An archive may be a file system of its own, with what is its.
TEST_F(ArchiveReadsTest, OfWhatIsNoneOfItsAreNotTried) {
  begin(63);
  WalOptions used = options(1);
  ASSERT_NO_FATAL_FAILURE(begin_archive(used));
  ASSERT_NO_FATAL_FAILURE(write_test_file(*disk_, "/archive/lost+found/log.identity", "x"));
  ASSERT_NO_FATAL_FAILURE(write_test_file(*disk_, "/archive/wallpaper/log.identity", "x"));
  disk_->fail_reads_of("/archive/lost+found/log.identity");
  LoggedEngine engine(*disk_, "/data", used);
  ASSERT_TRUE(engine.start()) << engine.why();
  ASSERT_NO_FATAL_FAILURE(archive_now(engine, used));
  EXPECT_TRUE(last_archived(used, "/restored")) << why_;
}

// Else the state would be an earlier one, and nobody would know.
TEST_F(ArchiveReadsTest, OfARestoreLeaveNothingOut) {
  begin(64);
  WalOptions used = options(2);
  ASSERT_NO_FATAL_FAILURE(begin_archive(used));
  {
    LoggedEngine engine(*disk_, "/data", used);
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(work(engine, 30));
    ASSERT_NO_FATAL_FAILURE(archive_now(engine, used));
    disk_->cut_power();
  }
  disk_->restart();
  uint64_t failed = 0;
  for (bool waits = false; !waits;) {
    BackupLabel label;
    BackupSource source;
    SourceLogs logs;
    disk_->fail_read(failed + 1);
    bool done = extend(&label, &source, &logs);
    waits = disk_->read_failure_waits();
    disk_->fail_read(0);
    if (!waits) ++failed;
    ASSERT_EQ(done, waits) << "read " << failed << ": " << why_;
  }
  EXPECT_GT(failed, 12U);
}

// The last start of an archive has no later one that tells where it ended: its own blocks do.
TEST_F(ArchiveReadsTest, OfDamageInTheLastStartAreTold) {
  begin(65);
  WalOptions used = options(1);
  ASSERT_NO_FATAL_FAILURE(begin_archive(used));
  {
    LoggedEngine engine(*disk_, "/data", used);
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(work(engine, 100));
    ASSERT_NO_FATAL_FAILURE(archive_now(engine, used));
    disk_->cut_power();
  }
  disk_->restart();
  End archived = end_of("/archive/wal");
  damage(archived.path, archived.first + 20);
  EXPECT_FALSE(last_archived(used, "/restored"));
  EXPECT_NE(why_.find("log file \"/archive/wal/"), std::string::npos) << why_;
  EXPECT_NE(why_.find("were durable; the logs can be read up to epoch"), std::string::npos) << why_;
}

}  // namespace
}  // namespace pgsilo
