// A replaced checkpoint's file that its device will not let go, or not read: it costs a try with
// each checkpoint, and a word.
#include <cerrno>
#include <functional>
#include <utility>

#include "base/file_forwarding.h"
#include "tests/crash/backup_bed.h"

namespace pgsilo {
namespace {

// Of one file the removal is refused, or each read fails.
class StubbornFiles final : public ForwardingFileSystem {
 public:
  using ForwardingFileSystem::ForwardingFileSystem;
  FileResult open(const std::string& path, OpenFlags flags, std::unique_ptr<File>* file) override {
    if (path != kept || !unreadable) return files_.open(path, flags, file);
    ++tries;
    return {FileStatus::failed, EIO};
  }
  FileResult remove(const std::string& path) override {
    if (path != kept || unreadable) return files_.remove(path);
    ++tries;
    return {FileStatus::failed, EPERM};
  }

  std::string kept;
  bool unreadable = false;
  int tries = 0;
};

class StubbornCheckpoints : public BackupTest {
 protected:
  // With a checkpoint whose file cannot go, behind which there is a newer one.
  void begin_with(bool unreadable) {
    begin(12);
    files_.emplace(*disk_);
    engine_.emplace(*files_, "/data", options(1));
    ASSERT_TRUE(engine_->start()) << engine_->why();
    ASSERT_NO_FATAL_FAILURE(checkpoint());
    std::vector<std::string> names;
    ASSERT_TRUE(disk_->list("/data/checkpoint", &names).ok());
    std::erase_if(names, [](const std::string& name) { return !name.ends_with(".checkpoint"); });
    ASSERT_EQ(names.size(), 1u);
    files_->kept = join_path("/data/checkpoint", names.front());
    files_->unreadable = unreadable;
  }
  void end() {
    engine_.reset();
    disk_->cut_power();
  }

  // Of the WARNINGs that it makes, how many name the file.
  int told_by(const std::function<void()>& what) {
    testing::internal::CaptureStderr();
    what();
    std::string said = testing::internal::GetCapturedStderr();
    int told = 0;
    for (size_t at = 0; (at = said.find(files_->kept, at)) != std::string::npos; ++at) ++told;
    return told;
  }
  void checkpoint() {
    ASSERT_NO_FATAL_FAILURE(commit(*engine_));
    ASSERT_NO_FATAL_FAILURE(make_checkpoint(*engine_));
  }
  // As its thread does whenever somebody wakes it, which a try must not do again.
  void wake(int times) {
    CheckpointReason reason;
    for (int i = 0; i < times; ++i)
      static_cast<void>(engine_->wal().checkpointer().would_begin(&reason));
  }
  // Of files; with each tried once.
  int tries() { return std::exchange(files_->tries, 0); }

  std::optional<StubbornFiles> files_;
  std::optional<LoggedEngine> engine_;
};

TEST_F(StubbornCheckpoints, AreTriedWithEachCheckpointAndToldOnce) {
  for (bool unreadable : {false, true}) {
    ASSERT_NO_FATAL_FAILURE(begin_with(unreadable));
    EXPECT_EQ(told_by([this] { checkpoint(); }), 1);
    EXPECT_EQ(tries(), 1);
    wake(10);
    EXPECT_EQ(tries(), 0);
    EXPECT_EQ(told_by([this] { checkpoint(); }), 0);
    EXPECT_EQ(tries(), 1);
    EXPECT_EQ(checkpoint_files(), 2u);
    files_->kept.clear();
    ASSERT_NO_FATAL_FAILURE(checkpoint());
    EXPECT_EQ(checkpoint_files(), 1u);
    end();
  }
}

TEST_F(StubbornCheckpoints, OfABackupThatHasEndedToo) {
  ASSERT_NO_FATAL_FAILURE(begin_with(/*unreadable=*/false));
  std::unique_ptr<CheckpointHold> hold = engine_->wal().checkpointer().hold();
  ASSERT_NO_FATAL_FAILURE(checkpoint());
  EXPECT_EQ(tries(), 0);
  hold.reset();
  EXPECT_EQ(told_by([this] { wake(10); }), 1);
  EXPECT_EQ(tries(), 1);
  files_->kept.clear();
  ASSERT_NO_FATAL_FAILURE(checkpoint());
  EXPECT_EQ(checkpoint_files(), 1u);
  end();
}

}  // namespace
}  // namespace pgsilo
