// What may go wrong with a checkpoint: its files damaged, missing, moved or foreign, a device that
// fails or is full at any of its steps, memory that fails at any of its allocations. The one before
// counts until the next does, and nothing is lost.
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "base/file_simulated.h"
#include "tests/crash/logged_engine.h"
#include "tests/crash/verified.h"
#include "tests/unit/catalog/failing_memory.h"
#include "wal/checkpoint/checkpointer.h"
#include "wal/layout/log_format.h"

namespace pgsilo {
namespace {

class CheckpointTest : public ::testing::Test {
 protected:
  static WalOptions options() {
    WalOptions options = LoggedEngine::small_options();
    options.workers = 1;
    options.checkpoint_at_stop = false;
    return options;
  }

  // Changes some of 200 rows of two relations, durably.
  void change_rows(LoggedEngine& engine) {
    for (int i = 0; i < 40; ++i) {
      ++version_;
      std::vector<WriteOperation> operations;
      for (uint32_t relation : {1, 2}) {
        std::string key = "key" + std::to_string(version_ * 7 % 200);
        operations.push_back({relation, key, std::string(version_ % 500, 'r')});
        if (version_ % 3 == 0) operations.back().row.reset();
      }
      std::optional<Epoch> epoch = engine.commit(0, operations);
      ASSERT_TRUE(epoch.has_value());
      apply_writes(content_, operations);
      last_ = std::max(last_, *epoch);  // one that changes nothing has none
    }
    engine.wal().wait_durable(0, last_);
  }

  // Whether it became the one that counts.
  static bool make_checkpoint(LoggedEngine& engine) {
    uint64_t failed = engine.wal().checkpointer().status().failed;
    while (engine.wal().checkpointer().status().failed == failed) {
      if (engine.wal().checkpointer().step()) return true;
    }
    return false;
  }

  // The database with one checkpoint and changes behind it; then the power fails.
  void make_database(const WalOptions& options) {
    LoggedEngine engine(disk_, "/data", options);
    ASSERT_TRUE(engine.start()) << engine.why();
    change_rows(engine);
    ASSERT_TRUE(make_checkpoint(engine));
    change_rows(engine);
    disk_.cut_power();
  }

  // Starts again; false: why_.
  bool restart(const WalOptions& options) {
    disk_.restart();
    Verified verified = verify(disk_, options.log_directories, options.checkpoint_directories);
    LoggedEngine engine(disk_, "/data", options);
    bool started = engine.start();
    why_ = engine.why();
    if (!options.accept_data_loss) compare(verified, started, engine.recovered());
    if (started) {
      EXPECT_EQ(engine.content(), content_);
    }
    disk_.cut_power();
    return started;
  }

  void compare(const Verified& verified, bool started, const RecoveryResult& recovered) {
    EXPECT_EQ(verified.verdict, started ? Verdict::sound : Verdict::damaged);
    EXPECT_EQ(verified.why, why_);
    if (!started || recovered.checkpoint_bytes == 0) return;
    std::string rows = ", " + std::to_string(recovered.checkpoint_rows) + " rows to load\n";
    EXPECT_NE(verified.text.find(rows), std::string::npos) << verified.text << rows;
    std::string log = " would replay " + std::to_string(recovered.log_bytes) + " bytes: ";
    EXPECT_NE(verified.text.find(log), std::string::npos) << verified.text << log;
  }

  // After a cut: the disk is there again.
  std::string file(const std::string& directory) {
    std::vector<std::string> names;
    EXPECT_TRUE(disk_.list(directory, &names).ok());
    for (const std::string& name : names) {
      if (name.ends_with(".checkpoint")) return join_path(directory, name);
    }
    return "";
  }

  SimulatedFileSystem disk_{1};
  Content content_;
  Epoch last_;
  uint64_t version_ = 0;
  std::string why_;
};

TEST_F(CheckpointTest, IsLoadedAndTheLogBehindItReplayed) {
  make_database(options());
  EXPECT_TRUE(restart(options())) << why_;
  disk_.restart();
  LoggedEngine engine(disk_, "/data", options());
  ASSERT_TRUE(engine.start());
  EXPECT_GT(engine.recovered().checkpoint_rows, 0u);
  EXPECT_GT(engine.recovered().entries, 0u);
  EXPECT_FALSE(engine.recovered().new_database);
}

TEST_F(CheckpointTest, OfAnIdleDatabaseNeedsNoLog) {
  {
    LoggedEngine engine(disk_, "/data", options());
    ASSERT_TRUE(engine.start());
    change_rows(engine);
    ASSERT_TRUE(make_checkpoint(engine));
    disk_.cut_power();
  }
  EXPECT_TRUE(restart(options())) << why_;
  disk_.restart();
  LoggedEngine engine(disk_, "/data", options());
  ASSERT_TRUE(engine.start());
  EXPECT_EQ(engine.recovered().entries, 0u);
  EXPECT_EQ(engine.content(), content_);
}

TEST_F(CheckpointTest, ACleanStopMakesOneAndTheNextStartReplaysNothing) {
  WalOptions with_last = options();
  with_last.checkpoint_at_stop = true;
  with_last.log_directories = {"wal", "second"};
  {
    LoggedEngine engine(disk_, "/data", with_last);
    ASSERT_TRUE(engine.start());
    change_rows(engine);
    engine.wal().stop();
  }
  // Nothing in the logs is needed: one of them may be given up.
  with_last.log_directories = {"wal"};
  disk_.restart();
  LoggedEngine engine(disk_, "/data", with_last);
  ASSERT_TRUE(engine.start()) << engine.why();
  EXPECT_TRUE(engine.recovered().clean_shutdown);
  EXPECT_EQ(engine.recovered().log_bytes, 0u);
  EXPECT_EQ(engine.content(), content_);
  // Nothing was written since.
  EXPECT_FALSE(engine.wal().checkpointer().is_due());
}

// Nobody who commits in an epoch before it may still be at it when the walk begins.
TEST_F(CheckpointTest, WaitsForTheCommitsBeforeIt) {
  LoggedEngine engine(disk_, "/data", options());
  ASSERT_TRUE(engine.start());
  change_rows(engine);
  std::optional<CommitSlot> slot(std::in_place, engine.epochs());
  slot->enter();
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(engine.wal().checkpointer().step());
  EXPECT_EQ(file("/data/checkpoint"), "");
  slot->leave();
  EXPECT_TRUE(make_checkpoint(engine));
  EXPECT_NE(file("/data/checkpoint"), "");
}

TEST_F(CheckpointTest, DamagedMissingAndUnreadableFilesRefuseTheStart) {
  make_database(options());
  disk_.restart();
  std::string path = file("/data/checkpoint");
  std::string sound = disk_.content(path);
  for (uint64_t at = 8; at < sound.size(); at += 97) {
    disk_.restart();
    if (sound.at(at) == 0) continue;  // padding is nobody's
    disk_.corrupt(path, at, std::string(1, static_cast<char>(sound.at(at) ^ 0x40)));
    ASSERT_FALSE(restart(options())) << at;
    EXPECT_NE(why_.find(path), std::string::npos) << why_;
    EXPECT_NE(why_.find("damaged at offset"), std::string::npos) << why_;
    disk_.corrupt(path, at, sound.substr(at, 1));
  }
  EXPECT_TRUE(restart(options())) << why_;
  disk_.restart();
  disk_.fail_reads_of(path);
  EXPECT_FALSE(restart(options()));
  EXPECT_NE(why_.find("could not read checkpoint file"), std::string::npos) << why_;
  disk_.restart();
  ASSERT_TRUE(disk_.remove(path).ok());
  EXPECT_FALSE(restart(options()));
  EXPECT_NE(why_.find("could not read checkpoint file"), std::string::npos) << why_;
}

TEST_F(CheckpointTest, AnotherDatabasesFileIsNotTaken) {
  make_database(options());
  disk_.restart();
  std::string path = file("/data/checkpoint");
  content_.clear();
  {
    disk_.restart();
    LoggedEngine other(disk_, "/other", options());
    ASSERT_TRUE(other.start());
    change_rows(other);
    ASSERT_TRUE(make_checkpoint(other));
    disk_.cut_power();
  }
  disk_.restart();
  std::string foreign = disk_.content(file("/other/checkpoint"));
  disk_.corrupt(path, 0, foreign);
  EXPECT_FALSE(restart(options()));
  EXPECT_NE(why_.find("damaged"), std::string::npos) << why_;
}

TEST_F(CheckpointTest, ADirectoryMayMove) {
  make_database(options());
  disk_.restart();
  std::string path = file("/data/checkpoint");
  disk_.restart();
  std::string name = path.substr(path.rfind('/') + 1);
  ASSERT_TRUE(disk_.create_directory("/data/elsewhere").ok());
  std::string bytes = disk_.content(path);
  {
    std::unique_ptr<File> copy;
    ASSERT_TRUE(disk_.open("/data/elsewhere/" + name, {.write = true, .create = true}, &copy).ok());
    ASSERT_TRUE(copy->write_at(bytes.data(), bytes.size(), 0).ok());
    ASSERT_TRUE(copy->sync_data().ok());
  }
  ASSERT_TRUE(disk_.remove(path).ok());
  for (const char* directory : {"/data", "/data/elsewhere", "/data/checkpoint"})
    ASSERT_TRUE(disk_.sync_directory(directory).ok());
  WalOptions moved = options();
  moved.checkpoint_directories = {"elsewhere"};
  EXPECT_TRUE(restart(moved)) << why_;
  EXPECT_TRUE(restart(moved)) << why_;
  EXPECT_FALSE(restart(options()));
}

// On the real file system, for a simulated one takes a name as it is.
TEST_F(CheckpointTest, ADirectoryMayBeSpelledDifferentlyButNotNamedTwice) {
  char name[] = "/tmp/pgsilo_checkpoint_XXXXXX";
  std::string directory = mkdtemp(name);
  std::unique_ptr<FileSystem> files = posix_file_system();
  for (const char* spelled : {"checkpoint", "./checkpoint", "checkpoint/", "checkpoint"}) {
    WalOptions wal = options();
    wal.checkpoint_directories = {spelled};
    LoggedEngine engine(*files, directory, wal);
    ASSERT_TRUE(engine.start()) << spelled << engine.why();
    EXPECT_EQ(engine.content(), content_);
    if (content_.empty()) {
      change_rows(engine);
      ASSERT_TRUE(make_checkpoint(engine));
    }
  }
  WalOptions twice = options();
  twice.checkpoint_directories = {"checkpoint", "./checkpoint"};
  LoggedEngine engine(*files, directory, twice);
  EXPECT_FALSE(engine.start());
  EXPECT_NE(engine.why().find("is named twice"), std::string::npos) << engine.why();
  std::filesystem::remove_all(directory);
}

TEST_F(CheckpointTest, ASecondServerIsKeptAwayFromItsDirectory) {
  WalOptions shared = options();
  shared.checkpoint_directories = {"/shared"};
  LoggedEngine first(disk_, "/data", shared);
  ASSERT_TRUE(first.start());
  LoggedEngine second(disk_, "/elsewhere", shared);
  EXPECT_FALSE(second.start());
  EXPECT_NE(second.why().find("in use by another server"), std::string::npos) << second.why();
}

// Any of its calls may fail: it is given up, work goes on, and what is there afterwards is right.
// Only when nobody can tell which control file the disk has, the process stops.
TEST_F(CheckpointTest, EveryCallMayFail) {
  for (FileResult failure :
       {FileResult{FileStatus::failed, EIO}, FileResult{FileStatus::no_space, ENOSPC}}) {
    uint64_t failed = 0, made = 0, stopped = 0;
    for (uint64_t step = 1; made == 0; ++step) {
      disk_.restart();
      LoggedEngine engine(disk_, "/data", options());
      ASSERT_TRUE(engine.start()) << engine.why();
      change_rows(engine);
      uint64_t before = disk_.steps();
      ASSERT_TRUE(make_checkpoint(engine));
      uint64_t whole = disk_.steps() - before;
      change_rows(engine);
      disk_.fail_at(disk_.steps() + step, failure);
      if (step + 1 == whole) {
        // The sync of the directory behind the control file's rename; the last is the removal of
        // the file before.
        EXPECT_DEATH(make_checkpoint(engine), "which checkpoint counts is uncertain");
        ++stopped;
      } else if (!make_checkpoint(engine)) {
        ++failed;
      } else if (step > whole) {
        ++made;
      }
      disk_.fail_at(0, {});
      change_rows(engine);
      EXPECT_EQ(engine.content(), content_) << step;
      disk_.cut_power();
      ASSERT_TRUE(restart(options())) << "step " << step << ": " << why_;
    }
    EXPECT_GT(failed, 5u);
    EXPECT_EQ(stopped, 1u);
  }
}

// What the control file names is never removed, also where a rename that is said to have failed was
// done.
TEST_F(CheckpointTest, ARenameOfTheControlFileMayBeDoneAndFail) {
  LoggedEngine engine(disk_, "/data", options());
  ASSERT_TRUE(engine.start()) << engine.why();
  change_rows(engine);
  ASSERT_TRUE(make_checkpoint(engine));
  change_rows(engine);
  uint64_t before = disk_.steps();
  ASSERT_TRUE(make_checkpoint(engine));
  uint64_t rename = disk_.steps() - before - 2;  // then come a sync and a removal
  change_rows(engine);
  disk_.fail_late_at(disk_.steps() + rename, {FileStatus::failed, EIO});
  EXPECT_DEATH(make_checkpoint(engine), "which checkpoint counts is uncertain");
  disk_.fail_at(disk_.steps() + rename, {FileStatus::failed, EIO});
  EXPECT_FALSE(make_checkpoint(engine));
  disk_.cut_power();
  EXPECT_TRUE(restart(options())) << why_;
}

// Memory may fail at any of its allocations, once or from there on: given up or complete, never
// without rows.
TEST_F(CheckpointTest, EveryAllocationMayFail) {
  using testing::FailingMemory;
  WalOptions wal = options();
  wal.checkpoint_threads = 2;
  for (auto fails : {FailingMemory::Fails::once, FailingMemory::Fails::for_good}) {
    bool failed = true;
    int given_up = 0;
    for (size_t successes = 0; failed; ++successes) {
      disk_.restart();
      LoggedEngine engine(disk_, "/data", wal);
      ASSERT_TRUE(engine.start()) << engine.why();
      if (content_.empty()) change_rows(engine);
      bool made = false;
      {
        FailingMemory memory(successes, fails);
        made = make_checkpoint(engine);
        failed = memory.has_failed();
      }
      if (!made) ++given_up;
      // Commits go on, and so do checkpoints.
      std::vector<WriteOperation> one{{1, "after", std::to_string(successes)}};
      std::optional<Epoch> epoch = engine.commit(0, one);
      ASSERT_TRUE(epoch.has_value());
      apply_writes(content_, one);
      engine.wal().wait_durable(0, *epoch);
      ASSERT_TRUE(make_checkpoint(engine));
      disk_.cut_power();
      ASSERT_TRUE(restart(wal)) << successes << ": " << why_;
    }
    EXPECT_GT(given_up, 10);
  }
}

// Also if there was no memory to begin it; and for the answer.
TEST_F(CheckpointTest, WhoAskedIsToldWhenMemoryFails) {
  using testing::FailingMemory;
  class NoParker final : public Parker {
   public:
    void park(int64_t) override {}
    void unpark() override { ++unparked; }
    int unparked = 0;
  };
  LoggedEngine engine(disk_, "/data", options());
  ASSERT_TRUE(engine.start()) << engine.why();
  change_rows(engine);
  for (auto fails : {FailingMemory::Fails::once, FailingMemory::Fails::for_good}) {
    NoParker parker;
    CheckpointRequest request(engine.wal().checkpointer(), parker);
    {
      FailingMemory memory(0, fails);
      EXPECT_FALSE(engine.wal().checkpointer().step());
      EXPECT_TRUE(memory.has_failed());
    }
    std::string why;
    EXPECT_EQ(request.outcome(&why), CheckpointOutcome::no_memory);
    EXPECT_EQ(why,
              fails == FailingMemory::Fails::once ? "Cannot allocate memory" : "out of memory");
    EXPECT_EQ(parker.unparked, 1);
    EXPECT_EQ(engine.wal().checkpointer().history().last().failure, why);
    FailingMemory memory(0, fails);
    std::string told;
    EXPECT_FALSE(engine.wal().checkpointer().run_now(CheckpointReason::shutdown, &told));
    EXPECT_EQ(told, why);
  }
  EXPECT_TRUE(make_checkpoint(engine));
}

// What users store may look like a block of another database's log, wherever blocks begin. It is
// found when segments are used again: behind what they hold now.
TEST_F(CheckpointTest, StoredBytesAreNotTakenForAnotherLog) {
  std::string unit(log_format::block_unit, '\0');
  BlockPlace elsewhere{.log = {.high = 77, .low = 88}, .segment = 1, .offset = 0};
  seal_block(unit.data(), elsewhere, BlockHeader{}, 1, nullptr);
  unit.resize(log_format::block_header_bytes + 1);  // coprime to the unit of blocks
  std::string row;
  while (row.size() < 200'000) row += unit;
  {
    LoggedEngine engine(disk_, "/data", options());
    ASSERT_TRUE(engine.start()) << engine.why();
    for (int i = 0; i < 30; ++i) {
      std::vector<WriteOperation> operations{{1, "key" + std::to_string(i % 5), row}};
      std::optional<Epoch> epoch = engine.commit(0, operations);
      ASSERT_TRUE(epoch.has_value());
      apply_writes(content_, operations);
      engine.wal().wait_durable(0, *epoch);
      engine.wal().prepare_segments();
      if (i % 5 == 4) {
        ASSERT_TRUE(make_checkpoint(engine));
      }
    }
    change_rows(engine);
    disk_.cut_power();
  }
  EXPECT_TRUE(restart(options())) << why_;
}

// What changed while it was made is in the logs only. Without that part there is no state to start
// from, whatever losses are accepted.
TEST_F(CheckpointTest, RotInTheLogOfItsOwnTimeIsRefused) {
  std::string path;
  uint64_t offset = 0;
  {
    LoggedEngine engine(disk_, "/data", options());
    ASSERT_TRUE(engine.start());
    change_rows(engine);
    Checkpointer& checkpointer = engine.wal().checkpointer();
    EXPECT_FALSE(checkpointer.step());
    offset = log_format::block_unit + engine.wal().status().bytes_written;
    change_rows(engine);
    ASSERT_TRUE(make_checkpoint(engine));
    change_rows(engine);
    disk_.cut_power();
  }
  disk_.restart();
  disk_.corrupt("/data/wal/0000000000000001.segment", offset + 108, "?");
  WalOptions accepting = options();
  accepting.accept_data_loss = true;
  for (const WalOptions& wal : {options(), accepting}) {
    EXPECT_FALSE(restart(wal));
    EXPECT_NE(why_.find("is damaged at offset " + std::to_string(offset)), std::string::npos)
        << why_;
  }
}

// Behind it losses can be accepted as ever: the state of its end is there.
TEST_F(CheckpointTest, RotBehindItIsALossThatCanBeAccepted) {
  Content before;
  uint64_t offset = 0;
  {
    LoggedEngine engine(disk_, "/data", options());
    ASSERT_TRUE(engine.start());
    change_rows(engine);
    ASSERT_TRUE(make_checkpoint(engine));
    before = content_;
    offset = log_format::block_unit + engine.wal().status().bytes_written;
    change_rows(engine);
    change_rows(engine);
    disk_.cut_power();
  }
  disk_.restart();
  disk_.corrupt("/data/wal/0000000000000001.segment", offset + 108, "?");
  EXPECT_FALSE(restart(options()));
  WalOptions accepting = options();
  accepting.accept_data_loss = true;
  content_ = before;
  EXPECT_TRUE(restart(accepting)) << why_;
}

}  // namespace
}  // namespace pgsilo
