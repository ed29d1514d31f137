// Where starts of a server end in an archive of its log: what it read before that was durable, what
// is damaged there, errors of its own device, and what the server does meanwhile.
#include <cerrno>
#include <functional>

#include "base/file_forwarding.h"
#include "tests/crash/archive_bed.h"

namespace pgsilo {
namespace {

// Says before a segment of a log is opened for reading that it is.
class WatchedFiles final : public ForwardingFileSystem {
 public:
  using ForwardingFileSystem::ForwardingFileSystem;

  std::function<void()> before_reading;

  FileResult open(const std::string& path, OpenFlags flags, std::unique_ptr<File>* file) override {
    bool reads = path.starts_with("/data/") && path.ends_with(".segment") && !flags.write;
    if (reads && before_reading) before_reading();
    return files_.open(path, flags, file);
  }
};

TEST_F(ArchiveEndsTest, WhatTheServerLostGoesFromTheArchive) {
  for (uint64_t round = 0; round < 12; ++round) {
    begin(round + 50);
    WalOptions used = options(1 + static_cast<unsigned>(round) % 3);
    ASSERT_NO_FATAL_FAILURE(begin_archive(used));
    ASSERT_NO_FATAL_FAILURE(lose_what_was_archived(used, /*first_of_start=*/round % 2 == 0));
    {
      LoggedEngine engine(*disk_, "/data", used);
      ASSERT_TRUE(engine.start()) << engine.why();
      ASSERT_EQ(engine.content(), states_.back().content);
      ASSERT_NO_FATAL_FAILURE(work(engine, random_.below(20)));
      LogArchive archiver(*disk_, "/archive");
      ASSERT_TRUE(archiver.open(&why_)) << why_;
      ASSERT_TRUE(archive(engine, used, archiver)) << "round " << round << ": " << why_;
      ASSERT_NO_FATAL_FAILURE(work(engine, random_.below(200)));
      ASSERT_TRUE(archive(engine, used, archiver)) << "round " << round << ": " << why_;
    }
    std::optional<Content> found = last_archived(used, "/restored");
    ASSERT_TRUE(found) << "round " << round << ": " << why_;
    ASSERT_EQ(*found, states_.back().content) << "round " << round;
  }
}

// The original's last commit is the first of a segment, or the first behind the backup's own block
// there, and none that was lost: the copy was taken before it, and goes on in that segment or in
// the next one.
TEST_F(ArchiveEndsTest, WhatACopyNeverHadDoesNotGoFromTheArchive) {
  for (uint64_t round = 0; round < 12; ++round) {
    begin(round + 70);
    WalOptions used = options(1);
    WalOptions copys = used;
    ASSERT_NO_FATAL_FAILURE(archive_one_more_than_copy(used, &copys));
    // No checkpoint: segments stay where the archive looks for them.
    for (int life = 0; life < 4; ++life) {
      {
        LoggedEngine engine(*disk_, "/copy", copys);
        ASSERT_TRUE(engine.start()) << engine.why();
        for (int i = 0; i < 5; ++i) ASSERT_NO_FATAL_FAILURE(commit(engine));
        disk_->cut_power();
      }
      disk_->restart();
    }
    std::map<std::string, std::string> before = files_of("/archive");
    LogSlot whole;
    whole.name = "archive";
    whole.reserved = true;
    LogArchive archiver(*disk_, "/archive");
    ASSERT_TRUE(archiver.open(&why_)) << why_;
    EXPECT_FALSE(archiver.copy(running(copys, "/copy"), whole, &why_)) << "round " << round;
    EXPECT_FALSE(archiver.may_be_tried_again());
    EXPECT_NE(why_.find("is not the one that was archived"), std::string::npos) << why_;
    EXPECT_TRUE(files_of("/archive") == before);
  }
}

// A checkpoint has what was in the segment that is lost, and the next start begins there. Who
// restores from an older backup needs it.
TEST_F(ArchiveEndsTest, WhatCountsStaysThoughItsSegmentIsBegunAnew) {
  begin(71);
  WalOptions used = options(1);
  ASSERT_NO_FATAL_FAILURE(begin_archive(used));
  std::string last;
  {
    LoggedEngine engine(*disk_, "/data", used);
    ASSERT_TRUE(engine.start()) << engine.why();
    for (uint64_t live = live_segments(engine); live_segments(engine) == live;)
      ASSERT_NO_FATAL_FAILURE(commit(engine));
    ASSERT_NO_FATAL_FAILURE(archive_now(engine, used));
    last = end_of("/data/wal0").path;
    ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
    disk_->cut_power();
  }
  disk_->restart();
  std::map<std::string, std::string> before = files_of("/archive");
  for (const auto& [path, content] : files_of("/data/wal0")) {
    if (path >= last && path.ends_with(".segment")) {
      ASSERT_TRUE(disk_->remove(path).ok());
    }
  }
  used.accept_data_loss = true;
  LoggedEngine engine(*disk_, "/data", used);
  ASSERT_TRUE(engine.start()) << engine.why();
  ASSERT_TRUE(engine.content() == states_.back().content);
  ASSERT_NO_FATAL_FAILURE(commit(engine));
  LogArchive archiver(*disk_, "/archive");
  ASSERT_TRUE(archiver.open(&why_)) << why_;
  EXPECT_FALSE(archive(engine, used, archiver));
  EXPECT_NE(why_.find("is not the one that was archived"), std::string::npos) << why_;
  EXPECT_TRUE(files_of("/archive") == before);
}

TEST_F(ArchiveEndsTest, DamageAtTheEndOfAStartIsTold) {
  for (uint64_t round = 0; round < 8; ++round) {
    begin(round + 80);
    WalOptions used = options(1 + static_cast<unsigned>(round) % 2);
    ASSERT_NO_FATAL_FAILURE(begin_archive(used));
    {
      LoggedEngine engine(*disk_, "/data", used);
      ASSERT_TRUE(engine.start()) << engine.why();
      ASSERT_NO_FATAL_FAILURE(work(engine, 100));
      round % 4 < 2 ? disk_->cut_power() : engine.wal().stop();
    }
    disk_->restart();
    End damaged =
        end_of("/data/" + used.log_directories[random_.below(used.log_directories.size())]);
    LoggedEngine engine(*disk_, "/data", used);
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(work(engine, 5));
    const std::string sound = disk_->content(damaged.path);
    uint64_t at = round % 3 == 0 ? damaged.first : damaged.last;
    damage(damaged.path, at + 20);
    LogArchive archiver(*disk_, "/archive");
    ASSERT_TRUE(archiver.open(&why_)) << why_;
    ASSERT_FALSE(archive(engine, used, archiver)) << "round " << round;
    EXPECT_FALSE(archiver.may_be_tried_again());
    EXPECT_NE(why_.find("damaged"), std::string::npos) << why_;
    EXPECT_NE(why_.find(damaged.path.substr(damaged.path.rfind('/')) + "\" "), std::string::npos)
        << why_;
    EXPECT_NE(why_.find("at offset " + std::to_string(at)), std::string::npos) << why_;
    disk_->corrupt(damaged.path, 0, sound);
    ASSERT_TRUE(archive(engine, used, archiver)) << "round " << round << ": " << why_;
    std::optional<Content> found = last_archived(used, "/restored");
    ASSERT_TRUE(found) << "round " << round << ": " << why_;
    EXPECT_EQ(*found, states_.back().content) << "round " << round;
  }
}

// Of a start whose begin block no archive has there are trailers that say how many logs it had, and
// the server's control file says which is which.
TEST_F(ArchiveEndsTest, DamageAtTheEndOfTheStartInWhichItBeganIsTold) {
  for (unsigned logs : {1u, 2u, 3u}) {
    begin(88 + logs);
    WalOptions used = options(logs);
    ASSERT_NO_FATAL_FAILURE(begin_archive_in_the_midst(used));
    const std::map<std::string, std::string> before = files_of("/archive");
    for (const std::string& log : used.log_directories) {
      LoggedEngine engine(*disk_, "/data", used);
      ASSERT_TRUE(engine.start()) << engine.why();
      for (int i = 0; i < 5; ++i) ASSERT_NO_FATAL_FAILURE(commit(engine));
      End damaged = ends_[log];
      damage(damaged.path, damaged.last + 20);
      LogArchive archiver(*disk_, "/archive");
      ASSERT_TRUE(archiver.open(&why_)) << why_;
      ASSERT_FALSE(archive(engine, used, archiver)) << logs << log;
      EXPECT_NE(why_.find("at offset " + std::to_string(damaged.last)), std::string::npos) << why_;
      damage(damaged.path, damaged.last + 20);
      ASSERT_NO_FATAL_FAILURE(put_back("/archive", before));
      disk_->cut_power();
      disk_->restart();
    }
    LoggedEngine engine(*disk_, "/data", used);
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(archive_now(engine, used));
    std::optional<Content> found = last_archived(used, "/restored");
    ASSERT_TRUE(found) << why_;
    EXPECT_EQ(*found, states_.back().content);
  }
}

// However such a start ends, it is none that is damaged.
TEST_F(ArchiveEndsTest, TheStartInWhichItBeganEndsAnywhere) {
  for (uint64_t round = 0; round < 30; ++round) {
    begin(300 + round);
    WalOptions used = options(2 + static_cast<unsigned>(round) % 2);
    ASSERT_NO_FATAL_FAILURE(begin_archive_in_the_midst(used, /*ends_anywhere=*/true));
    LoggedEngine engine(*disk_, "/data", used);
    ASSERT_TRUE(engine.start()) << engine.why();
    Content now = engine.content();
    if (now != states_.back().content) states_.push_back({engine.epochs().current(), now, 0});
    ASSERT_NO_FATAL_FAILURE(work(engine, 1 + random_.below(20)));
    ASSERT_NO_FATAL_FAILURE(archive_now(engine, used)) << "round " << round;
    std::optional<Content> found = last_archived(used, "/restored");
    ASSERT_TRUE(found) << "round " << round << ": " << why_;
    EXPECT_EQ(*found, states_.back().content) << "round " << round;
  }
}

// Each call of its own that can fail fails once. What it had written counts only if it is there.
TEST_F(ArchiveEndsTest, AnErrorOfItsDeviceIsGoneWhenItIsTriedAgain) {
  begin(90);
  WalOptions used = options(2);
  ASSERT_NO_FATAL_FAILURE(begin_archive(used));
  LoggedEngine engine(*disk_, "/data", used);
  ASSERT_TRUE(engine.start()) << engine.why();
  LogArchive archiver(*disk_, "/archive");
  ASSERT_TRUE(archiver.open(&why_)) << why_;
  int failed = 0;
  for (uint64_t step = 1; step < 40; ++step) {
    ASSERT_NO_FATAL_FAILURE(work(engine, random_.below(40)));
    bool full = random_.one_in(2);
    disk_->fail_at(disk_->steps() + 1 + random_.below(12),
                   {full ? FileStatus::no_space : FileStatus::failed, full ? ENOSPC : EIO});
    LogSlot slot = slots(engine).status().front().slot;
    if (!archiver.copy(running(used), slot, &why_)) {
      ++failed;
      EXPECT_TRUE(archiver.may_be_tried_again()) << why_;
      EXPECT_NE(why_.find("/archive/"), std::string::npos) << why_;
    }
    disk_->fail_at(0, {});
    ASSERT_TRUE(archive(engine, used, archiver)) << why_;
  }
  EXPECT_GT(failed, 10);
  std::optional<Content> found = last_archived(used, "/restored");
  ASSERT_TRUE(found) << why_;
  EXPECT_EQ(*found, states_.back().content);
}

// An archiver that is killed leaves in the page cache what the next one finds, and then the power
// fails.
TEST_F(ArchiveEndsTest, WhatAKilledArchiverLeftIsSyncedBeforeItCounts) {
  int killed_archivers = 0;
  for (uint64_t call = 1; call < 24; ++call) {
    begin(100 + call);
    WalOptions used = options(2);
    ASSERT_NO_FATAL_FAILURE(begin_archive(used));
    {
      LoggedEngine engine(*disk_, "/data", used);
      ASSERT_TRUE(engine.start()) << engine.why();
      ASSERT_NO_FATAL_FAILURE(work(engine, 20));
      {
        LogArchive killed(*disk_, "/archive");
        ASSERT_TRUE(killed.open(&why_)) << why_;
        disk_->fail_at(disk_->steps() + call, {FileStatus::failed, EIO});
        if (!killed.copy(running(used), slots(engine).status().front().slot, &why_))
          ++killed_archivers;
        disk_->fail_at(0, {});
      }
      ASSERT_NO_FATAL_FAILURE(archive_now(engine, used));
      disk_->cut_power();
    }
    disk_->restart();
    std::optional<Content> found = last_archived(used, "/restored");
    ASSERT_TRUE(found) << why_ << call;
    EXPECT_EQ(*found, states_.back().content) << call;
  }
  EXPECT_GT(killed_archivers, 12);
}

// A segment that is begun after the directory was listed is none that is missing.
TEST_F(ArchiveEndsTest, TheServerGoesOnWhileItsLogIsCopied) {
  begin(91);
  WalOptions used = options(2);
  ASSERT_NO_FATAL_FAILURE(begin_archive(used));
  LoggedEngine engine(*disk_, "/data", used);
  ASSERT_TRUE(engine.start()) << engine.why();
  WatchedFiles files(*disk_);
  LogArchive archiver(files, "/archive");
  ASSERT_TRUE(archiver.open(&why_)) << why_;
  uint64_t begun = 0;
  files.before_reading = [&] {
    // Not for ever.
    uint64_t live = live_segments(engine);
    for (int i = 0; begun < 40 && i < 30; ++i) ASSERT_NO_FATAL_FAILURE(commit(engine));
    begun += live_segments(engine) - live;
  };
  ASSERT_TRUE(archive(engine, used, archiver)) << why_;
  EXPECT_GT(begun, 10U);
  files.before_reading = nullptr;
  ASSERT_TRUE(archive(engine, used, archiver)) << why_;
  std::optional<Content> found = last_archived(used, "/restored");
  ASSERT_TRUE(found) << why_;
  EXPECT_EQ(*found, states_.back().content);
}

// A start of which nothing counts, though one of its logs holds data: the next start has begun in
// the place of its begin block in the other.
TEST_F(ArchiveEndsTest, AStartOfWhichABeginBlockWasReplacedIsNone) {
  begin(92);
  WalOptions used = options(2);
  ASSERT_NO_FATAL_FAILURE(begin_archive(used));
  std::map<std::string, std::string> before;
  {
    LoggedEngine engine(*disk_, "/data", used);
    ASSERT_TRUE(engine.start()) << engine.why();
    before = files_of("/data");
    // Both are written at once, so neither log records that the other's is there.
    std::optional<Epoch> last;
    for (unsigned worker : {1u, 0u}) {
      last = engine.commit(worker, {{1, "lost" + std::to_string(worker), std::string("row")}});
      ASSERT_TRUE(last);
    }
    engine.wal().wait_durable(0, *last);
    disk_->cut_power();
  }
  disk_->restart();
  std::erase_if(before, [](const auto& file) { return file.first.starts_with("/data/wal0/"); });
  for (const auto& [path, content] : before) {
    ASSERT_TRUE(disk_->remove(path).ok());
    ASSERT_NO_FATAL_FAILURE(write_test_file(*disk_, path, content));
  }
  LoggedEngine engine(*disk_, "/data", used);
  ASSERT_TRUE(engine.start()) << engine.why();
  ASSERT_EQ(engine.content(), states_.back().content);
  ASSERT_NO_FATAL_FAILURE(work(engine, 10));
  ASSERT_NO_FATAL_FAILURE(archive_now(engine, used));
  std::optional<Content> found = last_archived(used, "/restored");
  ASSERT_TRUE(found) << why_;
  EXPECT_EQ(*found, states_.back().content);
}

// What was taken out of an archive is archived anew, as far as the server has it, in a directory of
// its own.
TEST_F(ArchiveEndsTest, ALogGetsNoDirectoryThatAnotherHas) {
  begin(93);
  WalOptions used = options(2);
  ASSERT_NO_FATAL_FAILURE(begin_archive(used));
  std::string other = disk_->content("/archive/wal2/log.identity");
  for (const auto& [path, content] : files_of("/archive/wal"))
    ASSERT_TRUE(disk_->remove(path).ok());
  LoggedEngine engine(*disk_, "/data", used);
  ASSERT_TRUE(engine.start()) << engine.why();
  ASSERT_NO_FATAL_FAILURE(archive_now(engine, used));
  EXPECT_EQ(disk_->content("/archive/wal2/log.identity"), other);
  EXPECT_NE(disk_->content("/archive/wal/log.identity"), other);
}

// Epochs without data pass, for which nothing is logged, and then a checkpoint covers them: a
// request's, or a clean stop's. Another start logs nothing either.
TEST_F(ArchiveEndsTest, EmptyEpochsBeforeACheckpointAreNoGap) {
  for (auto [logs, stops] : {std::pair(true, false), {false, false}, {true, true}, {false, true}}) {
    begin(97);
    WalOptions used = options(2);
    ASSERT_NO_FATAL_FAILURE(begin_archive(used));
    for (bool is_first : {true, false}) {
      {
        LoggedEngine engine(*disk_, "/data", used);
        ASSERT_TRUE(engine.start()) << engine.why();
        if (logs && is_first) {
          ASSERT_NO_FATAL_FAILURE(work(engine, 10));
        }
        for (int epochs = 0; epochs < 5; ++epochs) engine.epochs().advance();
        if (is_first) {
          ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
        }
        if (stops) engine.wal().stop();
        disk_->cut_power();
      }
      disk_->restart();
    }
    LoggedEngine engine(*disk_, "/data", used);
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(work(engine, 10));
    ASSERT_NO_FATAL_FAILURE(archive_now(engine, used));
    std::optional<Content> found = last_archived(used, "/restored");
    ASSERT_TRUE(found) << why_;
    EXPECT_EQ(*found, states_.back().content) << logs << stops;
  }
}

// Nothing tells what the last start went on from, and the state of the first is not the last.
TEST_F(ArchiveEndsTest, AStartBehindALostBeginBlockIsTold) {
  begin(99);
  WalOptions used = options(1);
  ASSERT_NO_FATAL_FAILURE(begin_archive(used));
  End damaged;
  for (int start = 2; start <= 4; ++start) {
    {
      LoggedEngine engine(*disk_, "/data", used);
      ASSERT_TRUE(engine.start()) << engine.why();
      ASSERT_NO_FATAL_FAILURE(work(engine, 10));
      ASSERT_NO_FATAL_FAILURE(archive_now(engine, used));
      disk_->cut_power();
    }
    disk_->restart();
    if (start == 3) damaged = end_of("/archive/wal");
  }
  damage(damaged.path, 20);
  EXPECT_FALSE(last_archived(used, "/restored"));
  EXPECT_EQ(why_,
            "start 4 of the server went on from a state that is not there\n"
            "start 3 of the server is not there from its beginning, in each of its logs");
}

TEST_F(ArchiveEndsTest, DamageAtItsEndIsTold) {
  begin(95);
  WalOptions used = options(2);
  ASSERT_NO_FATAL_FAILURE(begin_archive(used));
  {
    LoggedEngine engine(*disk_, "/data", used);
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(log_to_one(engine));
    disk_->cut_power();
  }
  disk_->restart();
  End damaged = end_of("/data/wal0");
  LoggedEngine engine(*disk_, "/data", used);
  ASSERT_TRUE(engine.start()) << engine.why();
  ASSERT_NO_FATAL_FAILURE(work(engine, 10));
  damage(damaged.path, damaged.last + 20);
  LogArchive archiver(*disk_, "/archive");
  ASSERT_TRUE(archiver.open(&why_)) << why_;
  ASSERT_FALSE(archive(engine, used, archiver));
  EXPECT_NE(why_.find("at offset " + std::to_string(damaged.last)), std::string::npos) << why_;
  damage(damaged.path, damaged.last + 20);
  ASSERT_TRUE(archive(engine, used, archiver)) << why_;
}

// Segments are copied behind the moment at which a backup ends, so with what is lost later.
TEST_F(ArchiveEndsTest, WhatABackupHasOfALostSegmentGivesWay) {
  begin(96);
  WalOptions used = options(1);
  ASSERT_NO_FATAL_FAILURE(begin_archive(used));
  std::map<std::string, std::string> before;
  {
    LoggedEngine engine(*disk_, "/data", used);
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(work(engine, 10));
    ASSERT_NO_FATAL_FAILURE(archive_now(engine, used));
    Backup backup(engine.wal().checkpointer(), "test");
    stop(engine, backup);
    size_t kept = 0;
    for (uint64_t live = live_segments(engine); live_segments(engine) == live;) {
      kept = states_.size();
      before = files_of("/data");
      ASSERT_NO_FATAL_FAILURE(commit(engine));
    }
    for (int i = 0; i < 10; ++i) ASSERT_NO_FATAL_FAILURE(commit(engine));
    states_.resize(kept);
    for (const auto& [path, content] : files_of("/backup")) ASSERT_TRUE(disk_->remove(path).ok());
    BackupLabel label;
    ASSERT_TRUE(read_backup_label(backup.label_file(), &label, &why_)) << why_;
    BackupCopyReport report;
    ASSERT_TRUE(copy_backup(*disk_, running(used), label, "/backup2", &report, &why_)) << why_;
    disk_->cut_power();
  }
  disk_->restart();
  ASSERT_NO_FATAL_FAILURE(put_back("/data", before));
  for (const auto& [path, content] : files_of("/backup2"))
    ASSERT_NO_FATAL_FAILURE(write_test_file(*disk_, "/backup" + path.substr(8), content));
  LoggedEngine engine(*disk_, "/data", used);
  ASSERT_TRUE(engine.start()) << engine.why();
  ASSERT_EQ(engine.content(), states_.back().content);
  ASSERT_NO_FATAL_FAILURE(work(engine, 3));
  ASSERT_NO_FATAL_FAILURE(archive_now(engine, used));
  std::optional<Content> found = last_archived(used, "/restored");
  ASSERT_TRUE(found) << why_;
  EXPECT_EQ(*found, states_.back().content);
}

}  // namespace
}  // namespace pgsilo
