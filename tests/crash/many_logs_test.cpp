// More logs than one start writes to: those of earlier starts that a recovery reads
// (docs/backup.md).
#include <cerrno>

#include "base/file_forwarding.h"
#include "tests/crash/archive_bed.h"

namespace pgsilo {
namespace {

// With a device that has no room for another file.
class FullBelow final : public ForwardingFileSystem {
 public:
  FullBelow(FileSystem& files, std::string below)
      : ForwardingFileSystem(files), below_(std::move(below)) {}

  FileResult open(const std::string& path, OpenFlags flags, std::unique_ptr<File>* file) override {
    bool refused = flags.create && path.starts_with(below_);
    return refused ? FileResult{FileStatus::no_space, ENOSPC} : files_.open(path, flags, file);
  }

 private:
  const std::string below_;
};

class ManyLogsTest : public ArchiveEndsTest {
 protected:
  static constexpr unsigned most = log_format::max_loggers;

  // A start that its first logs get something of, archived; it stops with nothing to replay.
  void live(const WalOptions& used, bool backed_up = false) {
    LoggedEngine engine(*disk_, "/data", used);
    ASSERT_TRUE(engine.start()) << engine.why();
    if (backed_up) {
      ASSERT_NO_FATAL_FAILURE(take_backup(engine, used));
    }
    ASSERT_NO_FATAL_FAILURE(log_to_some(engine));
    ASSERT_NO_FATAL_FAILURE(archive_now(engine, used));
    for (int turn = 0; turn < 2; ++turn) ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
    engine.wal().stop();
  }

  void log_to_some(LoggedEngine& engine) {
    for (unsigned worker = 0; worker < 3; ++worker)
      ASSERT_NO_FATAL_FAILURE(log_to_one(engine, worker));
  }

  // All that was archived, as a data directory in /restored; the options get its logs.
  void restore_last(WalOptions* used) {
    BackupLabel label;
    BackupSource source;
    SourceLogs logs;
    ASSERT_TRUE(extend(&label, &source, &logs)) << why_;
    BackupCopyReport report;
    ASSERT_TRUE(copy_backup(*disk_, source, label, "/restored", &report, &why_)) << why_;
    used->log_directories = report.log_directories;
  }

  // A start finds all that was committed, is used, and the power fails.
  void live_restored(const WalOptions& used) {
    {
      LoggedEngine engine(*disk_, "/restored", used);
      ASSERT_TRUE(engine.start()) << engine.why();
      EXPECT_TRUE(engine.content() == states_.back().content);
      EXPECT_EQ(engine.wal().status().logs.size(),
                std::min<size_t>(used.log_directories.size(), most));
      ASSERT_NO_FATAL_FAILURE(log_to_some(engine));
      disk_->cut_power();
    }
    disk_->restart();
  }
};

TEST_F(ManyLogsTest, OfAllStartsOfAnArchiveAreRestored) {
  for (unsigned logs : {most, most / 4}) {
    begin(140);
    WalOptions used = options(logs);
    ASSERT_NO_FATAL_FAILURE(live(used, /*backed_up=*/true));
    for (unsigned named = logs; named < most + 2;) {
      size_t replaced = logs == most ? 1 : logs;
      for (size_t i = 0; i < replaced; ++i)
        used.log_directories[i] = "later" + std::to_string(named++);
      ASSERT_NO_FATAL_FAILURE(live(used));
    }
    WalOptions copys = options(most);
    ASSERT_NO_FATAL_FAILURE(restore_last(&copys));
    ASSERT_GT(copys.log_directories.size(), most);
    for (int start = 0; start < 3; ++start) ASSERT_NO_FATAL_FAILURE(live_restored(copys));
    // They are needed up to a checkpoint.
    WalOptions first = copys;
    first.log_directories.resize(most);
    {
      LoggedEngine engine(*disk_, "/restored", first);
      EXPECT_FALSE(engine.start());
      EXPECT_NE(engine.why().find("is missing"), std::string::npos) << engine.why();
    }
    {
      LoggedEngine engine(*disk_, "/restored", copys);
      ASSERT_TRUE(engine.start()) << engine.why();
      for (int turn = 0; turn < 2; ++turn) ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
      disk_->cut_power();
    }
    disk_->restart();
    for (const WalOptions& named : {copys, first, copys})
      ASSERT_NO_FATAL_FAILURE(live_restored(named)) << named.log_directories.size();
  }
}

// The last ones are in use, and the first ones are read, as they are named.
TEST_F(ManyLogsTest, AreUsedInAnyOrder) {
  begin(141);
  WalOptions used = options(most);
  ASSERT_NO_FATAL_FAILURE(live(used, /*backed_up=*/true));
  for (size_t i = 0; i < 3; ++i) used.log_directories[i] = "later" + std::to_string(i);
  ASSERT_NO_FATAL_FAILURE(live(used));
  WalOptions copys = options(most);
  ASSERT_NO_FATAL_FAILURE(restore_last(&copys));
  for (int start = 0; start < 4; ++start) {
    ASSERT_NO_FATAL_FAILURE(live_restored(copys));
    std::ranges::rotate(copys.log_directories, copys.log_directories.end() - 2);
  }
}

// Those that are only read; which copy's they are cannot be written there.
TEST_F(ManyLogsTest, AreReadFromAFullDevice) {
  begin(143);
  WalOptions used = options(most);
  ASSERT_NO_FATAL_FAILURE(live(used, /*backed_up=*/true));
  used.log_directories[0] = "later";
  ASSERT_NO_FATAL_FAILURE(live(used));
  WalOptions copys = options(most);
  ASSERT_NO_FATAL_FAILURE(restore_last(&copys));
  ASSERT_EQ(copys.log_directories.size(), most + 1);
  FullBelow files(*disk_, join_path("/restored", copys.log_directories.back()) + "/");
  for (int start = 0; start < 3; ++start) {
    LoggedEngine engine(files, "/restored", copys);
    ASSERT_TRUE(engine.start()) << engine.why();
    EXPECT_TRUE(engine.content() == states_.back().content);
    disk_->cut_power();
    disk_->restart();
  }
}

// None that a start would have to make.
TEST_F(ManyLogsTest, AreNotMade) {
  begin(142);
  const WalOptions used = options(most + 1);
  for (bool is_new : {true, false}) {
    LoggedEngine engine(*disk_, "/data", used);
    EXPECT_FALSE(engine.start());
    EXPECT_NE(engine.why().find("log_directories names more than 64 directories"),
              std::string::npos)
        << engine.why();
    if (is_new) {
      LoggedEngine first(*disk_, "/data", options(most));
      ASSERT_TRUE(first.start()) << first.why();
    }
  }
}

}  // namespace
}  // namespace pgsilo
