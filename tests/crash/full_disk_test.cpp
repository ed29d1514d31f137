// A device without space: what there is is read, what frees space has room, and so has the
// checkpoint that gives log space back; and all of it is there again after a restart.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "base/file_forwarding.h"
#include "base/file_simulated.h"
#include "storage/relation/system_relations.h"
#include "tests/crash/logged_engine.h"
#include "wal/checkpoint/checkpointer.h"

namespace pgsilo {
namespace {

constexpr uint32_t table = first_user_relation.value();

class FullDisk : public ::testing::Test {
 protected:
  // No byte more than there is, and `room`.
  void fill(uint64_t room = 0) {
    DeviceSpace space;
    disk_->set_capacity(UINT64_MAX);
    ASSERT_TRUE(disk_->space("/data", &space).ok());
    disk_->set_capacity(space.total_bytes - space.free_bytes + room);
  }

  bool commit(LoggedEngine& engine, std::optional<std::string> row, int key) {
    WriteOperation operation{table, "key" + std::to_string(key), std::move(row)};
    std::optional<Epoch> epoch = engine.commit(0, {operation});
    if (!epoch) return false;
    engine.wal().wait_durable(0, *epoch);
    engine.wal().prepare_segments();
    apply_writes(expected_, {operation});
    return true;
  }

  bool insert(LoggedEngine& engine) {
    return commit(engine, std::string(row_bytes_, 'x'), rows_++);
  }

  // Some of the log and of what a checkpoint holds; then until a writer is refused.
  void write_until_full(LoggedEngine& engine) {
    for (int i = 0; i < before_; ++i) ASSERT_TRUE(insert(engine));
    fill();
    for (int i = 0; insert(engine); ++i) ASSERT_LT(i, 1000);
    EXPECT_EQ(engine.status(), TransactionStatus::no_log_space);
    EXPECT_EQ(engine.content(), expected_);
  }

  void delete_all(LoggedEngine& engine) {
    while (!expected_.empty()) {
      std::string key = expected_.begin()->first.second;
      WriteOperation operation{table, key, std::nullopt};
      std::optional<Epoch> epoch = engine.commit(0, {operation});
      ASSERT_TRUE(epoch.has_value()) << expected_.size();
      engine.wal().wait_durable(0, *epoch);
      engine.wal().prepare_segments();
      apply_writes(expected_, {operation});
    }
  }

  void delete_all_at_once(LoggedEngine& engine) {
    std::vector<WriteOperation> operations;
    for (const auto& [key, row] : expected_)
      operations.push_back({table, key.second, std::nullopt});
    std::optional<Epoch> epoch = engine.commit(0, operations);
    ASSERT_TRUE(epoch.has_value());
    engine.wal().wait_durable(0, *epoch);
    engine.wal().prepare_segments();
    apply_writes(expected_, operations);
  }

  // How many its thread would make, one after the other, while the device stays as it is.
  // Beside deletes, each of which logs a little.
  int checkpoints_of_themselves(LoggedEngine& engine) {
    Checkpointer& checkpointer = engine.wal().checkpointer();
    int made = 0;
    for (int look = 0; look < 30; ++look) {
      CheckpointReason reason;
      std::string why;
      if (checkpointer.would_begin(&reason)) made += checkpointer.run_now(reason, &why) ? 1 : 0;
      engine.wal().prepare_segments();
      EXPECT_TRUE(commit(engine, std::nullopt, deleted_++));
    }
    return made;
  }

  void checkpoint(LoggedEngine& engine) {
    std::string why;
    ASSERT_TRUE(engine.wal().checkpointer().run_now(CheckpointReason::request, &why)) << why;
    engine.wal().prepare_segments();
  }

  std::optional<SimulatedFileSystem> disk_{std::in_place, 7};
  const WalOptions options_ = LoggedEngine::small_options();
  Content expected_;
  int rows_ = 0;
  int deleted_ = 0;
  size_t row_bytes_ = 8000;
  int before_ = 150;  // rows, before the device is full
};

// What the checkpoint gives back is more than the segment that it takes.
TEST_F(FullDisk, DeletesAndACheckpointFindTheWayOut) {
  before_ = 40;
  LoggedEngine engine(*disk_, "/data", options_);
  ASSERT_TRUE(engine.start()) << engine.why();
  ASSERT_NO_FATAL_FAILURE(write_until_full(engine));
  ASSERT_NO_FATAL_FAILURE(delete_all(engine));
  EXPECT_FALSE(insert(engine));
  ASSERT_NO_FATAL_FAILURE(checkpoint(engine));
  // With what it gave back.
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(insert(engine)) << i;
  EXPECT_EQ(engine.content(), expected_);
  disk_->cut_power();
  disk_->restart();
  LoggedEngine again(*disk_, "/data", options_);
  ASSERT_TRUE(again.start()) << again.why();
  EXPECT_EQ(again.content(), expected_);
}

// Each takes log space; when there is none left for more of them, a checkpoint still finds its own.
TEST_F(FullDisk, DeletesLeaveRoomForACheckpoint) {
  row_bytes_ = 100;
  before_ = 400;
  LoggedEngine engine(*disk_, "/data", options_);
  ASSERT_TRUE(engine.start()) << engine.why();
  ASSERT_NO_FATAL_FAILURE(write_until_full(engine));
  int deleted = 0;
  while (deleted < rows_ && commit(engine, std::nullopt, deleted)) ++deleted;
  EXPECT_GT(deleted, 100);
  ASSERT_LT(deleted, rows_ - 1);
  EXPECT_EQ(engine.status(), TransactionStatus::no_log_space);
  ASSERT_NO_FATAL_FAILURE(checkpoint(engine));
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(insert(engine)) << i;
  EXPECT_EQ(engine.content(), expected_);
}

// Others take whatever it gives up, again and again. The whole reserve would do for the checkpoint.
TEST_F(FullDisk, CheckpointsThatFailLeaveRoomForDeletes) {
  before_ = 60;
  LoggedEngine engine(*disk_, "/data", options_);
  ASSERT_TRUE(engine.start()) << engine.why();
  ASSERT_NO_FATAL_FAILURE(write_until_full(engine));
  Checkpointer& checkpointer = engine.wal().checkpointer();
  for (int step = 0; step < 300; ++step) {
    ASSERT_FALSE(checkpointer.step());
    engine.step(0, engine.epochs().current());
    engine.wal().prepare_segments();
    fill();
  }
  EXPECT_GT(checkpointer.status().failed, 3U);
  for (int deleted = 0; deleted < 60; ++deleted)
    ASSERT_TRUE(commit(engine, std::nullopt, deleted)) << deleted;
  disk_->set_capacity(UINT64_MAX);
  engine.wal().prepare_segments();
  ASSERT_NO_FATAL_FAILURE(checkpoint(engine));
  EXPECT_EQ(engine.content(), expected_);
}

// Others take what it gives up: it does so once, and keeps it then for who has made it shorter.
TEST_F(FullDisk, ACheckpointThatIsTooLongKeepsRoomForAShortOne) {
  before_ = 2500;
  LoggedEngine engine(*disk_, "/data", options_);
  ASSERT_TRUE(engine.start()) << engine.why();
  ASSERT_NO_FATAL_FAILURE(write_until_full(engine));
  Checkpointer& checkpointer = engine.wal().checkpointer();
  auto fail_often = [&](auto others) {
    uint64_t failed = checkpointer.status().failed + 3;
    for (int step = 0; checkpointer.status().failed < failed; ++step) {
      ASSERT_LT(step, 100000);
      ASSERT_FALSE(checkpointer.step(CheckpointReason::log_volume));
      others();
      engine.step(0, engine.epochs().current());
      engine.wal().prepare_segments();
    }
  };
  ASSERT_NO_FATAL_FAILURE(fail_often([] {}));
  ASSERT_NO_FATAL_FAILURE(fail_often([&] { fill(); }));
  ASSERT_NO_FATAL_FAILURE(delete_all_at_once(engine));
  ASSERT_NO_FATAL_FAILURE(checkpoint(engine));
  EXPECT_EQ(engine.content(), expected_);
}

// The log takes what writers need to go on, and nothing ahead.
TEST_F(FullDisk, WhatBecomesFreeIsTheCheckpoints) {
  WalOptions ahead = options_;
  ahead.spare_segments = 8;
  LoggedEngine engine(*disk_, "/data", ahead);
  ASSERT_TRUE(engine.start()) << engine.why();
  ASSERT_NO_FATAL_FAILURE(write_until_full(engine));
  size_t before = engine.wal().status().logs[0].prepared_segments;
  fill(16 * ahead.segment_bytes);
  engine.wal().prepare_segments();
  ASSERT_TRUE(insert(engine));
  EXPECT_LE(engine.wal().status().logs[0].prepared_segments, before + 2);
  ASSERT_NO_FATAL_FAILURE(checkpoint(engine));
  EXPECT_EQ(engine.content(), expected_);
}

// What a slot keeps no checkpoint gives back.
TEST_F(FullDisk, CheckpointsThatGiveNothingBackDoNotFollowEachOther) {
  for (bool slot : {true, false}) {
    disk_.emplace(8);
    expected_.clear();
    row_bytes_ = 100;
    before_ = 400;
    LoggedEngine engine(*disk_, "/data", options_);
    ASSERT_TRUE(engine.start()) << engine.why();
    LogSlots& slots = engine.wal().checkpointer().slots();
    if (slot) {
      ASSERT_EQ(slots.create("archive", true, 0).outcome, SlotOutcome::ok);
    }
    ASSERT_NO_FATAL_FAILURE(write_until_full(engine));
    fill(/*room=*/200'000);
    EXPECT_EQ(insert(engine), false);
    int made = checkpoints_of_themselves(engine);
    EXPECT_GE(made, 1) << slot;
    EXPECT_LE(made, 3) << slot;
    if (!slot) continue;
    // It can give back what the slot does.
    ASSERT_EQ(slots.drop("archive", 1).outcome, SlotOutcome::ok);
    checkpoints_of_themselves(engine);
    EXPECT_TRUE(insert(engine));
  }
}

TEST_F(FullDisk, AStartServesReadsAndGoesOnWhenThereIsSpace) {
  {
    LoggedEngine engine(*disk_, "/data", options_);
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(write_until_full(engine));
    disk_->cut_power();
  }
  for (int start = 0; start < 3; ++start) {
    disk_->restart();
    fill();
    LoggedEngine engine(*disk_, "/data", options_);
    ASSERT_TRUE(engine.start()) << start << ": " << engine.why();
    EXPECT_EQ(engine.content(), expected_);
    EXPECT_FALSE(insert(engine));
    EXPECT_EQ(engine.status(), TransactionStatus::no_log_space);
    if (start == 2) {
      disk_->set_capacity(UINT64_MAX);
      engine.wal().prepare_segments();
      EXPECT_TRUE(insert(engine));
      EXPECT_EQ(engine.content(), expected_);
    }
    disk_->cut_power();
  }
}

// The log lies on a device of its own; the other one has no room for a new file.
class FullDataDevice final : public ForwardingFileSystem {
 public:
  using ForwardingFileSystem::ForwardingFileSystem;

  FileResult open(const std::string& path, OpenFlags flags, std::unique_ptr<File>* file) override {
    bool makes = flags.create && path.ends_with(".new") && !lies_on_logs(path);
    return full && makes ? FileResult{FileStatus::no_space, 0} : files_.open(path, flags, file);
  }
  FileResult remove(const std::string& path) override {
    removed += lies_on_logs(path) ? 1 : 0;
    return files_.remove(path);
  }
  FileResult space(const std::string& directory, DeviceSpace* space) override {
    FileResult result = files_.space(directory, space);
    space->device = lies_on_logs(directory) ? 1 : 0;
    return result;
  }

  bool full = false;
  int removed = 0;

 private:
  static bool lies_on_logs(const std::string& path) { return path.starts_with("/logs"); }
};

TEST_F(FullDisk, AStartThatIsRefusedLeavesLogsOnOtherDevicesAlone) {
  FullDataDevice files(*disk_);
  ASSERT_TRUE(disk_->create_directory("/logs").ok());
  ASSERT_TRUE(disk_->sync_directory("/").ok());
  WalOptions options = options_;
  options.log_directories = {"/logs/wal"};
  auto start = [&](bool writes) {
    disk_->restart();
    LoggedEngine engine(files, "/data", options);
    bool started = engine.start();
    EXPECT_TRUE(!started || engine.content() == expected_);
    EXPECT_TRUE(!writes || insert(engine));
    disk_->cut_power();
    return started ? "" : engine.why();
  };
  EXPECT_EQ(start(/*writes=*/true), "");
  files.full = true;
  files.removed = 0;
  for (int i = 0; i < 3; ++i) {
    std::string why = start(/*writes=*/false);
    EXPECT_NE(why.find("could not write file \"/data/pgsilo.progress\""), std::string::npos) << why;
    EXPECT_EQ(files.removed, 0) << i;
  }
  files.full = false;
  EXPECT_EQ(start(/*writes=*/false), "");
}

// However much room there is for a checkpoint: it is made or given up, nothing is lost, and all
// goes on when space has come.
TEST_F(FullDisk, ACheckpointMayLackAnyOfItsRoom) {
  int made = 0;
  int given_up = 0;
  for (uint64_t room = 0; room <= 1'600'000; room += 80'000) {
    disk_.emplace(room);
    expected_.clear();
    {
      LoggedEngine engine(*disk_, "/data", options_);
      ASSERT_TRUE(engine.start()) << engine.why();
      ASSERT_NO_FATAL_FAILURE(write_until_full(engine));
      fill(room);
      std::string why;
      bool done = engine.wal().checkpointer().run_now(CheckpointReason::request, &why);
      ++(done ? made : given_up);
      EXPECT_TRUE(done || why == "No space left on device") << why;
      EXPECT_EQ(engine.content(), expected_);
      disk_->set_capacity(UINT64_MAX);
      engine.wal().prepare_segments();
      ASSERT_TRUE(insert(engine)) << room;
      ASSERT_NO_FATAL_FAILURE(checkpoint(engine));
      ASSERT_TRUE(insert(engine)) << room;
      disk_->cut_power();
    }
    disk_->restart();
    LoggedEngine engine(*disk_, "/data", options_);
    ASSERT_TRUE(engine.start()) << engine.why();
    EXPECT_EQ(engine.content(), expected_);
  }
  EXPECT_GT(made, 2);
  EXPECT_GT(given_up, 2);
}

}  // namespace
}  // namespace pgsilo
