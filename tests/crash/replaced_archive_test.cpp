// An archive that is replaced beneath an archiver which runs for good, moved to another disk, say,
// or of which something is removed: nothing counts as archived that lies in files without a name.
#include "base/file_forwarding.h"
#include "tests/crash/archive_bed.h"

namespace pgsilo {
namespace {

// Replaces a file when one of the server's is opened next.
class ReplacingFiles final : public ForwardingFileSystem {
 public:
  explicit ReplacingFiles(SimulatedFileSystem& disk) : ForwardingFileSystem(disk), disk_(disk) {}

  FileResult open(const std::string& path, OpenFlags flags, std::unique_ptr<File>* file) override {
    if (path.starts_with("/data/") && !replaced.empty()) {
      const std::string content = disk_.content(replaced);
      EXPECT_TRUE(files_.remove(replaced).ok());
      write_test_file(disk_, std::exchange(replaced, {}), content);
    }
    return files_.open(path, flags, file);
  }

  std::string replaced;

 private:
  SimulatedFileSystem& disk_;
};

// The server's two logs change their directories' names once one is looked at.
class SwappingFiles final : public ForwardingFileSystem {
 public:
  explicit SwappingFiles(SimulatedFileSystem& disk) : ForwardingFileSystem(disk), disk_(disk) {}

  FileResult open(const std::string& path, OpenFlags flags, std::unique_ptr<File>* file) override {
    const std::string one = join_path("/data/wal0", log_identity_name);
    const std::string other = join_path("/data/wal1", log_identity_name);
    if (path == one && --looks_left_ == 0) swap(one, other);
    return files_.open(path, flags, file);
  }
  void swap(const std::string& one, const std::string& other) {
    const std::string content = disk_.content(one);
    write_test_file(disk_, one, disk_.content(other));
    write_test_file(disk_, other, content);
  }

 private:
  int looks_left_ = 2;
  SimulatedFileSystem& disk_;
};

class ReplacedArchiveTest : public ArchiveEndsTest {
 protected:
  using Files = std::map<std::string, std::string>;

  void start(uint64_t seed, const WalOptions& used) {
    begin(seed);
    used_ = used;
    engine_.emplace(*disk_, "/data", used);
    ASSERT_TRUE(engine_->start()) << engine_->why();
    ASSERT_NO_FATAL_FAILURE(work(*engine_, 20));
    ASSERT_NO_FATAL_FAILURE(make_checkpoint(*engine_));
    ASSERT_NO_FATAL_FAILURE(take_backup(*engine_, used));
    archiver_.emplace(*disk_, "/archive");
    ASSERT_TRUE(archiver_->open(&why_)) << why_;
    ASSERT_NO_FATAL_FAILURE(go_on(10));
  }
  void TearDown() override {
    archiver_.reset();
    engine_.reset();
  }

  bool turn() { return archive(*engine_, used_, *archiver_); }
  void go_on(uint64_t turns) {
    ASSERT_NO_FATAL_FAILURE(work(*engine_, turns));
    ASSERT_TRUE(turn()) << why_;
  }
  // Goes on over some segments, of which the server then has no more than the slot keeps.
  void go_on_and_retire() {
    ASSERT_NO_FATAL_FAILURE(go_on(400));
    ASSERT_NO_FATAL_FAILURE(cover_all(*engine_));
    ASSERT_NO_FATAL_FAILURE(go_on(5));
    ASSERT_NO_FATAL_FAILURE(cover_all(*engine_));
  }
  // Nothing is written, and the slot stays.
  void expect_waits(const std::string& words) {
    const Files before = files_of("/archive");
    const Epoch kept = slots(*engine_).status().front().slot.restart;
    for (int times = 0; times < 2; ++times) {
      EXPECT_FALSE(turn());
      EXPECT_TRUE(archiver_->may_be_tried_again());
      EXPECT_NE(why_.find(words), std::string::npos) << why_;
    }
    EXPECT_TRUE(files_of("/archive") == before);
    EXPECT_EQ(slots(*engine_).status().front().slot.restart, kept);
  }
  void expect_last_state() {
    std::optional<Content> found =
        last_archived(used_, "/read_back" + std::to_string(++read_back_));
    ASSERT_TRUE(found) << why_;
    EXPECT_TRUE(*found == states_.back().content);
  }
  // Each one with the same content.
  void replace(const Files& files) {
    for (const auto& [path, content] : files) {
      ASSERT_TRUE(disk_->remove(path).ok());
      ASSERT_NO_FATAL_FAILURE(write_test_file(*disk_, path, content));
    }
  }
  void lose(const std::string& directory, const std::string& ending) {
    for (const auto& [path, content] : files_of(directory)) {
      if (path.ends_with(ending)) {
        ASSERT_TRUE(disk_->remove(path).ok());
      }
    }
  }
  std::string last_segment(const std::string& log) {
    LogDirectory directory(*disk_, log);
    std::vector<uint64_t> numbers;
    EXPECT_TRUE(directory.list_segments(&numbers).ok());
    return directory.segment_path(numbers.back());
  }

  WalOptions used_;
  std::optional<LoggedEngine> engine_;
  std::optional<LogArchive> archiver_;
  int read_back_ = 0;
};

TEST_F(ReplacedArchiveTest, GoesOnInWhatLiesThere) {
  for (unsigned logs : {1, 2}) {
    ASSERT_NO_FATAL_FAILURE(start(300 + logs, options(logs)));
    for (uint64_t turns : {5, 90}) {
      ASSERT_NO_FATAL_FAILURE(replace(files_of("/archive")));
      ASSERT_NO_FATAL_FAILURE(go_on(turns));
      ASSERT_NO_FATAL_FAILURE(expect_last_state());
      const std::string last = last_segment("/archive/wal");
      ASSERT_NO_FATAL_FAILURE(replace({{last, disk_->content(last)}}));
      ASSERT_NO_FATAL_FAILURE(go_on(turns));
      ASSERT_NO_FATAL_FAILURE(expect_last_state());
    }
    TearDown();
  }
}

TEST_F(ReplacedArchiveTest, CountsNothingThatWasReplacedMeanwhile) {
  ASSERT_NO_FATAL_FAILURE(start(305, options(1)));
  ReplacingFiles files(*disk_);
  archiver_.emplace(files, "/archive");
  ASSERT_TRUE(archiver_->open(&why_)) << why_;
  ASSERT_NO_FATAL_FAILURE(go_on(5));
  for (uint64_t turns : {5, 90}) {
    ASSERT_NO_FATAL_FAILURE(work(*engine_, turns));
    files.replaced = last_segment("/archive/wal");
    const Epoch kept = slots(*engine_).status().front().slot.restart;
    EXPECT_FALSE(turn());
    EXPECT_TRUE(archiver_->may_be_tried_again());
    EXPECT_NE(why_.find("removed or replaced while it was written"), std::string::npos) << why_;
    EXPECT_EQ(slots(*engine_).status().front().slot.restart, kept);
    ASSERT_NO_FATAL_FAILURE(go_on(2));
    ASSERT_NO_FATAL_FAILURE(expect_last_state());
  }
  TearDown();
}

// It locks what lies there now, so that a second one is told, of two that were begun in turn.
TEST_F(ReplacedArchiveTest, IsLockedAnew) {
  ASSERT_NO_FATAL_FAILURE(start(310, options(1)));
  ASSERT_NO_FATAL_FAILURE(replace(files_of("/archive")));
  ASSERT_NO_FATAL_FAILURE(go_on(3));
  std::optional<LogArchive> second(std::in_place, *disk_, "/archive");
  EXPECT_FALSE(second->open(&why_));
  EXPECT_NE(why_.find("in use by another process"), std::string::npos) << why_;
  ASSERT_NO_FATAL_FAILURE(replace(files_of("/archive")));
  ASSERT_TRUE(second->open(&why_)) << why_;
  for (int turn_of_it = 0; turn_of_it < 2; ++turn_of_it) {
    ASSERT_NO_FATAL_FAILURE(work(*engine_, 3));
    EXPECT_FALSE(turn());
    EXPECT_FALSE(archiver_->may_be_tried_again());
    EXPECT_NE(why_.find("in use by another process"), std::string::npos) << why_;
  }
}

// A log stood idle, and its last segment was removed as an old file.
TEST_F(ReplacedArchiveTest, CopiesAnewWhatTheServerHas) {
  ASSERT_NO_FATAL_FAILURE(start(320, options(2)));
  for (uint64_t turns : {0, 5, 150}) {
    for (const char* log : {"/archive/wal", "/archive/wal2"}) {
      ASSERT_TRUE(disk_->remove(last_segment(log)).ok());
      ASSERT_NO_FATAL_FAILURE(go_on(turns));
      ASSERT_NO_FATAL_FAILURE(expect_last_state());
    }
  }
}

TEST_F(ReplacedArchiveTest, TellsWhatTheServerHasNoMore) {
  ASSERT_NO_FATAL_FAILURE(start(330, options(1)));
  const std::string old = last_segment("/archive/wal");
  ASSERT_NO_FATAL_FAILURE(go_on_and_retire());
  const Files before = files_of("/archive/wal");
  for (const auto& [path, content] : before) {
    if (path > old && path.ends_with(".segment")) {
      ASSERT_TRUE(disk_->remove(path).ok());
    }
  }
  ASSERT_NO_FATAL_FAILURE(work(*engine_, 5));
  EXPECT_FALSE(turn());
  EXPECT_NE(why_.find("is missing, and not in the archive whole"), std::string::npos) << why_;
  ASSERT_NO_FATAL_FAILURE(put_back("/archive/wal", before));
  ASSERT_NO_FATAL_FAILURE(go_on(5));
  ASSERT_NO_FATAL_FAILURE(expect_last_state());
}

// Of a log that has no segment any more, too: none is begun behind what was there.
TEST_F(ReplacedArchiveTest, LeavesNoGap) {
  ASSERT_NO_FATAL_FAILURE(start(335, options(1)));
  const std::string last = last_segment("/archive/wal");
  const std::string of_server = "/data/wal0" + last.substr(last.rfind('/'));
  ASSERT_FALSE(disk_->content(of_server).empty());
  ASSERT_NO_FATAL_FAILURE(lose("/archive/wal", ".segment"));
  ASSERT_NO_FATAL_FAILURE(work(*engine_, 400));
  const Epoch durable = engine_->wal().status().recorded_epoch;
  ASSERT_EQ(slots(*engine_).advance("archive", durable, 1).outcome, SlotOutcome::ok);
  ASSERT_NO_FATAL_FAILURE(cover_all(*engine_));
  ASSERT_NO_FATAL_FAILURE(work(*engine_, 200));
  ASSERT_TRUE(disk_->content(of_server).empty());
  EXPECT_FALSE(turn());
  EXPECT_NE(why_.find("is missing, and not in the archive whole"), std::string::npos) << why_;
}

// Where it was mounted nothing is begun.
TEST_F(ReplacedArchiveTest, WaitsForOneThatIsGone) {
  ASSERT_NO_FATAL_FAILURE(start(340, options(2)));
  const Files before = files_of("/archive");
  ASSERT_NO_FATAL_FAILURE(lose("/archive", ""));
  ASSERT_NO_FATAL_FAILURE(work(*engine_, 100));
  ASSERT_NO_FATAL_FAILURE(expect_waits("could not open file \"/archive/archive.progress\""));
  ASSERT_NO_FATAL_FAILURE(put_back("/archive", before));
  ASSERT_NO_FATAL_FAILURE(go_on(5));
  ASSERT_NO_FATAL_FAILURE(expect_last_state());
  // Of the lock alone nobody misses anything.
  ASSERT_TRUE(disk_->remove("/archive/archive.lock").ok());
  ASSERT_NO_FATAL_FAILURE(go_on(5));
  ASSERT_NO_FATAL_FAILURE(expect_last_state());
}

// Whose zeros at its end are still to come.
TEST_F(ReplacedArchiveTest, WaitsForTheLengthOfASegment) {
  ASSERT_NO_FATAL_FAILURE(start(345, options(1)));
  ASSERT_NO_FATAL_FAILURE(replace(files_of("/archive")));
  const std::string last = last_segment("/archive/wal");
  const std::string whole = disk_->content(last);
  ASSERT_TRUE(disk_->remove(last).ok());
  ASSERT_NO_FATAL_FAILURE(write_test_file(*disk_, last, whole.substr(0, whole.size() - 4096)));
  ASSERT_NO_FATAL_FAILURE(work(*engine_, 2));
  ASSERT_NO_FATAL_FAILURE(expect_waits("does not hold any more what was archived"));
  ASSERT_NO_FATAL_FAILURE(write_test_file(*disk_, last, whole));
  ASSERT_NO_FATAL_FAILURE(go_on(5));
  ASSERT_NO_FATAL_FAILURE(expect_last_state());
}

// It is not written to while it is still being copied there; nor is a log's directory begun again.
TEST_F(ReplacedArchiveTest, WaitsForOneThatIsNotWhole) {
  ASSERT_NO_FATAL_FAILURE(start(350, options(2)));
  ASSERT_NO_FATAL_FAILURE(go_on_and_retire());
  for (const char* part : {"/archive/wal", "/archive/wal2"}) {
    for (const char* missing : {".segment", ".identity", ""}) {
      for (bool moved : {true, false}) {
        const bool is_seen = moved || missing == std::string();
        if (!is_seen) continue;
        SCOPED_TRACE(std::string(part) + missing + (moved ? " moved" : ""));
        if (moved) {
          ASSERT_NO_FATAL_FAILURE(replace(files_of("/archive")));
        }
        const Files whole = files_of("/archive");
        ASSERT_NO_FATAL_FAILURE(lose(part, missing));
        ASSERT_NO_FATAL_FAILURE(work(*engine_, 2));
        ASSERT_NO_FATAL_FAILURE(expect_waits("does not hold any more what was archived"));
        ASSERT_NO_FATAL_FAILURE(put_back("/archive", whole));
        ASSERT_NO_FATAL_FAILURE(go_on(2));
        ASSERT_NO_FATAL_FAILURE(expect_last_state());
      }
    }
  }
}

// No directory of the archive gets the identity of another log than it is of.
TEST_F(ReplacedArchiveTest, KnowsWhoseLogItCopies) {
  begin(360);
  const WalOptions used = options(2);
  LoggedEngine engine(*disk_, "/data", used);
  ASSERT_TRUE(engine.start()) << engine.why();
  ASSERT_NO_FATAL_FAILURE(work(engine, 20));
  ASSERT_EQ(slots(engine).create("archive", true, 0).outcome, SlotOutcome::ok);
  SwappingFiles files(*disk_);
  LogArchive archiver(files, "/archive");
  ASSERT_TRUE(archiver.open(&why_)) << why_;
  EXPECT_FALSE(archive(engine, used, archiver));
  EXPECT_TRUE(archiver.may_be_tried_again());
  EXPECT_NE(why_.find("became another log's"), std::string::npos) << why_;
  files.swap(join_path("/data/wal0", log_identity_name),
             join_path("/data/wal1", log_identity_name));
  ASSERT_TRUE(archive(engine, used, archiver)) << why_;
}

}  // namespace
}  // namespace pgsilo
