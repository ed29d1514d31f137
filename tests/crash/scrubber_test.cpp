// What rots while the server runs is found and written anew, while memory still holds the truth:
// after a crash everything is there. Without that the start is refused.
#include <gtest/gtest.h>

#include <functional>

#include "base/file_simulated.h"
#include "tests/crash/logged_engine.h"
#include "wal/layout/control_file.h"
#include "wal/layout/log_format.h"
#include "wal/recovery/scrubber.h"

namespace pgsilo {
namespace {

class ScrubberTest : public ::testing::Test {
 protected:
  static WalOptions options() {
    WalOptions options = LoggedEngine::small_options();
    options.workers = 1;
    options.checkpoint_at_stop = false;
    return options;
  }

  // Log segments, and blocks of the checkpoint that comes next.
  void fill(LoggedEngine& engine, int first) {
    for (int i = first; i < first + 50; ++i) {
      std::vector<WriteOperation> operations{
          {7, "key" + std::to_string(i), std::string(20'000, 'a')}};
      std::optional<Epoch> epoch = engine.commit(0, operations);
      ASSERT_TRUE(epoch.has_value());
      apply_writes(content_, operations);
      engine.wal().wait_durable(0, *epoch);
      engine.wal().prepare_segments();
    }
  }

  static void make_checkpoint(LoggedEngine& engine) {
    std::string why;
    ASSERT_TRUE(engine.wal().checkpointer().run_now(CheckpointReason::request, &why)) << why;
  }

  CheckpointFile checkpoint_file() {
    ControlFile control;
    EXPECT_EQ(read_control_file(disk_, "/data", &control), ControlRead::ok);
    database_ = control.database;
    return control.checkpoint.files.at(0);
  }
  std::string path_of(const CheckpointFile& file) { return file.path("/data", database_); }
  void flip(const std::string& path, uint64_t at) {
    std::string byte = disk_.content(path).substr(at, 1);
    byte[0] = static_cast<char>(byte[0] ^ 0x20);
    disk_.corrupt(path, at, byte);
  }
  std::string segment(uint64_t number) const { return "/data/wal/" + segment_name(number); }

  // A database with a checkpoint, and several segments of log behind it; then `harm` comes to it.
  // With `scrubs` what is told then, and a new checkpoint is made. The power fails.
  void live(bool scrubs, const std::function<void()>& harm) {
    disk_.restart();
    content_.clear();
    for (const char* directory : {"/data/wal", "/data/checkpoint", "/data"}) {
      std::vector<std::string> names;
      if (!disk_.list(directory, &names).ok()) continue;
      for (const std::string& name : names)
        static_cast<void>(disk_.remove(join_path(directory, name)));
      static_cast<void>(disk_.sync_directory(directory));
    }
    LoggedEngine engine(disk_, "/data", options());
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(fill(engine, 0));
    ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
    ASSERT_NO_FATAL_FAILURE(fill(engine, 30));
    file_ = checkpoint_file();
    harm();
    if (scrubs) {
      ASSERT_NO_FATAL_FAILURE(scrub(engine));
    }
    disk_.cut_power();
  }

  void scrub(LoggedEngine& engine) {
    Scrubber& scrubber = engine.wal().scrubber();
    Checkpointer& checkpointer = engine.wal().checkpointer();
    uint64_t number = checkpointer.history().last().number;
    scrubber.run_once();
    found_ = scrubber.status();
    EXPECT_EQ(found_.passes, 1u);
    EXPECT_EQ(found_.repairs, found_.damaged + found_.unreadable == 0 ? 0u : 1u);
    if (found_.repairs == 0) return;
    EXPECT_TRUE(checkpointer.is_due());
    for (int steps = 0; checkpointer.is_due() && steps < 1000; ++steps) checkpointer.step();
    EXPECT_EQ(checkpointer.history().last().number, number + 1);
    EXPECT_FALSE(checkpointer.is_due());
    scrubber.run_once();
    EXPECT_EQ(scrubber.status().damaged, found_.damaged);
    EXPECT_EQ(scrubber.status().unreadable, found_.unreadable);
    EXPECT_EQ(scrubber.status().passes, 2u);
    EXPECT_FALSE(checkpointer.is_due());
  }

  bool restarts() {
    disk_.restart();
    LoggedEngine engine(disk_, "/data", options());
    bool started = engine.start();
    if (started) {
      EXPECT_EQ(engine.content(), content_);
    }
    disk_.cut_power();
    return started;
  }

  void expect_repaired(const std::function<void()>& harm, uint64_t damaged, uint64_t unreadable,
                       const std::string& words) {
    ASSERT_NO_FATAL_FAILURE(live(/*scrubs=*/false, harm));
    EXPECT_FALSE(restarts()) << words;
    ASSERT_NO_FATAL_FAILURE(live(/*scrubs=*/true, harm));
    EXPECT_EQ(found_.damaged, damaged) << words;
    EXPECT_EQ(found_.unreadable, unreadable) << words;
    EXPECT_NE(found_.last_fault.find(words), std::string::npos) << found_.last_fault;
    EXPECT_TRUE(restarts()) << words;
  }

  SimulatedFileSystem disk_{11};
  Content content_;
  Uuid database_;
  CheckpointFile file_;
  ScrubStatus found_;
};

TEST_F(ScrubberTest, ReadsAllThatARecoveryWould) {
  ASSERT_NO_FATAL_FAILURE(live(/*scrubs=*/true, [] {}));
  EXPECT_EQ(found_.damaged + found_.unreadable, 0u);
  EXPECT_EQ(found_.checkpoint_bytes, file_.footer_offset);
  EXPECT_GT(found_.log_bytes, size_t{500} << 10);
  EXPECT_GT(found_.ended_unix_us, 0);
  EXPECT_TRUE(restarts());
}

TEST_F(ScrubberTest, ADamagedBlockOfACheckpointIsRepaired) {
  expect_repaired([&] { flip(path_of(file_), 300); }, 1, 0,
                  "is damaged at offset 0, of relation 7");
  expect_repaired(
      [&] {
        flip(path_of(file_), 5000);
        flip(path_of(file_), file_.footer_offset - 10'000);
      },
      2, 0, ", of relation 7");
}

TEST_F(ScrubberTest, SoIsAFooterAndAFileThatIsShortOrGone) {
  expect_repaired([&] { flip(path_of(file_), file_.footer_offset + 20); }, 1, 0,
                  "is damaged at offset ");
  auto cut = [&] {
    std::string content = disk_.content(path_of(file_));
    ASSERT_TRUE(disk_.remove(path_of(file_)).ok());
    std::unique_ptr<File> file;
    ASSERT_TRUE(disk_.open(path_of(file_), {.write = true, .create = true}, &file).ok());
    ASSERT_TRUE(file->write_at(content.data(), content.size() - 4096, 0).ok());
    ASSERT_TRUE(file->sync_data().ok());
    ASSERT_TRUE(disk_.sync_directory("/data/checkpoint").ok());
  };
  expect_repaired(cut, 1, 0, "is too short");
  auto remove = [&] {
    ASSERT_TRUE(disk_.remove(path_of(file_)).ok());
    ASSERT_TRUE(disk_.sync_directory("/data/checkpoint").ok());
  };
  expect_repaired(remove, 0, 1, "could not read checkpoint file");
}

// The device says that it cannot, which is not the same as other bytes.
TEST_F(ScrubberTest, WhatCannotBeReadIsToldApart) {
  ASSERT_NO_FATAL_FAILURE(live(/*scrubs=*/true, [&] { disk_.fail_reads_of(path_of(file_)); }));
  EXPECT_EQ(found_.damaged, 0u);
  EXPECT_EQ(found_.unreadable, 1u);
  EXPECT_NE(found_.last_fault.find("could not read checkpoint file"), std::string::npos);
  EXPECT_NE(found_.last_fault.find("Input/output error"), std::string::npos) << found_.last_fault;
  EXPECT_TRUE(restarts());
}

TEST_F(ScrubberTest, ADamagedSegmentOfTheLogIsRepaired) {
  uint64_t number = 0;
  auto damage_at = [&](uint64_t at) {
    return [&, at] {
      ControlFile control;
      ASSERT_EQ(read_control_file(disk_, "/data", &control), ControlRead::ok);
      number = control.checkpoint.cuts.at(0).segment + 1;
      flip(segment(number), at);
    };
  };
  expect_repaired(damage_at(60'000), 1, 0, "is damaged at offset ");
  EXPECT_NE(found_.last_fault.find(segment(number)), std::string::npos) << found_.last_fault;
  expect_repaired(damage_at(200), 1, 0, "is damaged at offset 0");
}

// A device that damages whatever it is given is not written to without end.
TEST_F(ScrubberTest, RepairsHaveAPauseBetweenThem) {
  LoggedEngine engine(disk_, "/data", options());
  ASSERT_TRUE(engine.start()) << engine.why();
  ASSERT_NO_FATAL_FAILURE(fill(engine, 0));
  for (int i = 0; i < 3; ++i) {
    ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
    file_ = checkpoint_file();
    flip(path_of(file_), 300);
    engine.wal().scrubber().run_once();
    EXPECT_EQ(engine.wal().scrubber().status().damaged, static_cast<uint64_t>(i) + 1);
    EXPECT_EQ(engine.wal().scrubber().status().repairs, 1u);
  }
}

}  // namespace
}  // namespace pgsilo
