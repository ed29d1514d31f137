// The file of replication slots on a device that fails, or that is full while the logs lie on
// others: what was told of them is so after a restart, and no log is taken for them in vain.
#include <cerrno>

#include "base/file_forwarding.h"
#include "tests/crash/backup_bed.h"
#include "wal/checkpoint/log_slots.h"
#include "wal/tool/verify.h"

namespace pgsilo {
namespace {

// The data directory and its logs are devices of their own; of the former writes of slots fail.
class TwoDevices final : public ForwardingFileSystem {
 public:
  using ForwardingFileSystem::ForwardingFileSystem;

  FileResult failure;
  bool apart = false;

  FileResult open(const std::string& path, OpenFlags flags, std::unique_ptr<File>* file) override {
    if (path.ends_with("pgsilo.slots.new") && !failure.ok()) return failure;
    return files_.open(path, flags, file);
  }
  FileResult space(const std::string& directory, DeviceSpace* space) override {
    FileResult result = files_.space(directory, space);
    space->device = apart && directory.starts_with("/data/") ? 2 : 1;
    return result;
  }
};

class SlotsFileTest : public BackupTest {
 protected:
  static LogSlots& slots(LoggedEngine& engine) { return engine.wal().checkpointer().slots(); }

  static uint64_t retired(LoggedEngine& engine) {
    return engine.wal().status().logs[0].retired_segments;
  }

  // A slot is dropped while the file cannot be written, beside segments that another one has given
  // back. How many of these three turns of the checkpointer take for the file.
  void drop_one_that_is_not_written(bool apart, const FileResult& failure, uint64_t* taken) {
    begin(31);
    TwoDevices files(*disk_);
    files.apart = apart;
    LoggedEngine engine(files, "/data", options(1));
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_EQ(slots(engine).create("kept", true, 0).outcome, SlotOutcome::ok);
    ASSERT_EQ(slots(engine).create("other", false, 0).outcome, SlotOutcome::ok);
    ASSERT_NO_FATAL_FAILURE(work(engine, 200));
    ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
    ASSERT_EQ(slots(engine).drop("kept", 1).outcome, SlotOutcome::ok);
    CheckpointReason reason;
    engine.wal().checkpointer().would_begin(&reason);
    uint64_t all = retired(engine);
    ASSERT_GE(all, 3U);
    files.failure = failure;
    bool full = failure.status == FileStatus::no_space;
    ASSERT_EQ(slots(engine).drop("other", 1).outcome, full ? SlotOutcome::ok : SlotOutcome::failed);
    ASSERT_TRUE(slots(engine).lag());
    for (int turn = 0; turn < 3; ++turn) engine.wal().checkpointer().would_begin(&reason);
    *taken = all - retired(engine);
    files.failure = {};
    engine.wal().checkpointer().would_begin(&reason);
    EXPECT_FALSE(slots(engine).lag());
  }
};

TEST_F(SlotsFileTest, WhatWasRefusedIsNotThereAfterARestart) {
  for (uint64_t step = 1; step <= 6; ++step) {
    begin(30);
    WalOptions used = options(1);
    {
      LoggedEngine engine(*disk_, "/data", used);
      ASSERT_TRUE(engine.start()) << engine.why();
      ASSERT_EQ(slots(engine).create("first", true, 0).outcome, SlotOutcome::ok);
      disk_->fail_at(disk_->steps() + step, {FileStatus::failed, EIO});
      SlotOutcome made = slots(engine).create("second", true, 0).outcome;
      disk_->fail_at(0, {});
      if (made == SlotOutcome::ok) {
        ASSERT_GT(step, 4U);
        return;
      }
      CheckpointReason reason;
      engine.wal().checkpointer().would_begin(&reason);
      EXPECT_FALSE(slots(engine).lag());
    }
    disk_->restart();
    LoggedEngine next(*disk_, "/data", used);
    ASSERT_TRUE(next.start()) << next.why();
    ASSERT_EQ(slots(next).status().size(), 1U) << "step " << step;
    EXPECT_EQ(slots(next).status().front().slot.name, "first");
  }
}

TEST_F(SlotsFileTest, VerifySaysOfOneThatIsDamagedWhatAStartDoes) {
  begin(32);
  WalOptions used = options(1);
  {
    LoggedEngine engine(*disk_, "/data", used);
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_EQ(slots(engine).create("first", true, 0).outcome, SlotOutcome::ok);
    disk_->cut_power();
  }
  disk_->restart();
  MonotonicClock clock;
  VerifyOptions verified;
  verified.data_directory = "/data";
  EXPECT_EQ(verify_data_directory(*disk_, clock, verified, nullptr, nullptr, &why_), Verdict::sound)
      << why_;
  disk_->corrupt("/data/pgsilo.slots", 20, "x");
  EXPECT_EQ(verify_data_directory(*disk_, clock, verified, nullptr, nullptr, &why_),
            Verdict::damaged);
  LoggedEngine engine(*disk_, "/data", used);
  ASSERT_FALSE(engine.start());
  EXPECT_EQ(why_, engine.why());
}

TEST_F(SlotsFileTest, TakesSegmentsOfItsOwnFullDeviceOnly) {
  FileResult full{FileStatus::no_space, ENOSPC};
  uint64_t taken = 0;
  ASSERT_NO_FATAL_FAILURE(drop_one_that_is_not_written(/*apart=*/false, full, &taken));
  EXPECT_EQ(taken, 3U);
  ASSERT_NO_FATAL_FAILURE(drop_one_that_is_not_written(/*apart=*/true, full, &taken));
  EXPECT_EQ(taken, 0U);
  FileResult broken{FileStatus::failed, EIO};
  ASSERT_NO_FATAL_FAILURE(drop_one_that_is_not_written(/*apart=*/false, broken, &taken));
  EXPECT_EQ(taken, 0U);
}

}  // namespace
}  // namespace pgsilo
