// A copy of a server that runs on, restored to try that, is archived by mistake: where it had
// logged nothing the server goes on in its archive, and where it had nobody does.
#include "tests/crash/archive_bed.h"

namespace pgsilo {
namespace {

class ArchivedDrillTest : public ArchiveEndsTest {
 protected:
  // What the server does before it is archived again: its work, and starts that log something.
  struct Goes {
    uint64_t turns = 0;
    int starts = 0;
  };
  // What a copy does that logs no records.
  enum class Makes { nothing, checkpoints, backup };

  void start_server(const WalOptions& used) {
    server_.emplace(*disk_, data_, used);
    ASSERT_TRUE(server_->start()) << server_->why();
  }
  void restart_server(const WalOptions& used) {
    server_->wal().stop();
    server_.reset();
    ASSERT_NO_FATAL_FAILURE(start_server(used));
  }
  void TearDown() override { server_.reset(); }

  // One with an archive, which was restored of another one's, or not.
  void begin_server(uint64_t seed, bool restored, WalOptions* used) {
    server_.reset();
    begin(seed);
    data_ = "/data";
    ASSERT_NO_FATAL_FAILURE(begin_archive(*used));
    if (restored) {
      data_ = "/server";
      ASSERT_NO_FATAL_FAILURE(restore_archived(data_, used));
    }
    ASSERT_NO_FATAL_FAILURE(start_server(*used));
    ASSERT_NO_FATAL_FAILURE(work(*server_, 10));
    ASSERT_TRUE(archive_of(*server_, *used, data_)) << why_;
  }

  bool archive_of(LoggedEngine& engine, const WalOptions& used, const std::string& data) {
    if (slots(engine).status().empty()) {
      EXPECT_EQ(slots(engine).create("archive", true, 0).outcome, SlotOutcome::ok);
    }
    LogArchive archiver(*disk_, "/archive");
    const Epoch durable = engine.wal().status().recorded_epoch;
    const LogSlot slot = slots(engine).status().front().slot;
    const bool done =
        archiver.open(&why_) && archiver.copy(running(used, data), slot, &why_, durable);
    told_ = archiver.take_left();
    if (done && durable > slot.restart) {
      EXPECT_EQ(slots(engine).advance("archive", durable, 1).outcome, SlotOutcome::ok);
    }
    return done;
  }

  // Starts of a copy, each archived, of which the last one logs to one of its logs, or none does.
  void live_copy(const std::string& data, int starts, bool one_more, std::optional<unsigned> logs,
                 Makes makes = Makes::nothing) {
    WalOptions used = options(2);
    ASSERT_NO_FATAL_FAILURE(restore_archived(data, &used));
    if (one_more) used.log_directories.insert(used.log_directories.begin(), "another");
    ASSERT_NO_FATAL_FAILURE(run_copy(data, used, starts, logs, makes));
  }
  void run_copy(const std::string& data, WalOptions used, int starts, std::optional<unsigned> logs,
                Makes makes) {
    used.workers = static_cast<unsigned>(used.log_directories.size());
    const std::vector<State> states = states_;
    for (int start = 1; start <= starts; ++start) {
      LoggedEngine engine(*disk_, data, used);
      ASSERT_TRUE(engine.start()) << engine.why();
      if (logs && start == starts) {
        ASSERT_NO_FATAL_FAILURE(log_to_one(engine, *logs));
      }
      if (makes == Makes::checkpoints) {
        ASSERT_NO_FATAL_FAILURE(cover_all(engine));
      }
      if (makes == Makes::backup) {
        Backup backup(engine.wal().checkpointer(), "test");
        ASSERT_NO_FATAL_FAILURE(stop(engine, backup));
      }
      ASSERT_TRUE(archive_of(engine, used, data)) << why_;
      engine.wal().stop();
    }
    states_ = states;
  }

  void go_on(const Goes& goes, const WalOptions& used) {
    ASSERT_NO_FATAL_FAILURE(work(*server_, goes.turns));
    for (int start = 0; start < goes.starts; ++start) {
      ASSERT_NO_FATAL_FAILURE(restart_server(used));
      ASSERT_NO_FATAL_FAILURE(work(*server_, 3));
    }
  }

  void expect_goes_on(const WalOptions& used) {
    ASSERT_TRUE(archive_of(*server_, used, data_)) << why_;
    ASSERT_NO_FATAL_FAILURE(expect_last_state());
    ASSERT_NO_FATAL_FAILURE(work(*server_, 80));
    ASSERT_TRUE(archive_of(*server_, used, data_)) << why_;
    ASSERT_NO_FATAL_FAILURE(restart_server(used));
    ASSERT_NO_FATAL_FAILURE(work(*server_, 5));
    ASSERT_TRUE(archive_of(*server_, used, data_)) << why_;
    ASSERT_NO_FATAL_FAILURE(expect_last_state());
  }
  void expect_refused(const WalOptions& used) {
    for (int start = 0; start < 2; ++start) {
      const auto before = files_of("/archive");
      EXPECT_FALSE(archive_of(*server_, used, data_));
      EXPECT_NE(why_.find("is not the one that was archived"), std::string::npos) << why_;
      EXPECT_TRUE(files_of("/archive") == before);
      EXPECT_TRUE(told_.empty());
      ASSERT_NO_FATAL_FAILURE(restart_server(used));
      ASSERT_NO_FATAL_FAILURE(work(*server_, 3));
    }
  }

  void expect_last_state() {
    std::optional<Content> found =
        last_archived(options(3), "/read_back" + std::to_string(++read_back_));
    ASSERT_TRUE(found) << why_;
    EXPECT_TRUE(*found == states_.back().content);
  }

  std::string data_;
  std::optional<LoggedEngine> server_;
  std::vector<std::string> told_;
  int read_back_ = 0;
};

TEST_F(ArchivedDrillTest, LeavesTheServerItsArchive) {
  uint64_t seed = 400;
  for (bool restored : {false, true}) {
    for (bool one_more : {false, true}) {
      for (int starts : {1, 2}) {
        for (const Goes& goes :
             {Goes{3, 0}, Goes{200, 0}, Goes{0, 0}, Goes{0, 1}, Goes{3, 1}, Goes{3, 2}}) {
          SCOPED_TRACE(std::to_string(restored) + std::to_string(one_more) +
                       std::to_string(starts) + " " + std::to_string(goes.turns) + " " +
                       std::to_string(goes.starts));
          WalOptions used = options(2);
          ASSERT_NO_FATAL_FAILURE(begin_server(++seed, restored, &used));
          ASSERT_NO_FATAL_FAILURE(live_copy("/drill", starts, one_more, std::nullopt));
          ASSERT_NO_FATAL_FAILURE(go_on(goes, used));
          ASSERT_NO_FATAL_FAILURE(expect_goes_on(used));
        }
      }
    }
  }
}

// Its next start rests on the one that made its checkpoint.
TEST_F(ArchivedDrillTest, LeavesItBehindCheckpoints) {
  uint64_t seed = 440;
  for (bool restored : {false, true}) {
    for (int starts : {1, 2, 3}) {
      for (const Goes& goes : {Goes{3, 0}, Goes{0, 1}, Goes{3, 2}}) {
        SCOPED_TRACE(std::to_string(restored) + std::to_string(starts) + " " +
                     std::to_string(goes.turns) + " " + std::to_string(goes.starts));
        WalOptions used = options(2);
        ASSERT_NO_FATAL_FAILURE(begin_server(++seed, restored, &used));
        ASSERT_NO_FATAL_FAILURE(
            live_copy("/drill", starts, /*one_more=*/true, std::nullopt, Makes::checkpoints));
        ASSERT_NO_FATAL_FAILURE(go_on(goes, used));
        ASSERT_NO_FATAL_FAILURE(expect_goes_on(used));
      }
    }
  }
}

// A backup ends with a batch without records, so that its end is in the log.
TEST_F(ArchivedDrillTest, LeavesItBehindBackups) {
  uint64_t seed = 480;
  for (bool restored : {false, true}) {
    for (bool one_more : {false, true}) {
      for (int starts : {1, 2}) {
        for (const Goes& goes : {Goes{0, 0}, Goes{3, 0}, Goes{0, 1}, Goes{3, 2}}) {
          SCOPED_TRACE(std::to_string(restored) + std::to_string(one_more) +
                       std::to_string(starts) + " " + std::to_string(goes.turns) + " " +
                       std::to_string(goes.starts));
          WalOptions used = options(2);
          ASSERT_NO_FATAL_FAILURE(begin_server(++seed, restored, &used));
          ASSERT_NO_FATAL_FAILURE(
              live_copy("/drill", starts, one_more, std::nullopt, Makes::backup));
          ASSERT_NO_FATAL_FAILURE(go_on(goes, used));
          ASSERT_NO_FATAL_FAILURE(expect_goes_on(used));
        }
      }
    }
  }
}

// Of a copy by hand in a log of its own.
TEST_F(ArchivedDrillTest, LeavesItFromALogOfItsOwn) {
  for (Makes makes : {Makes::nothing, Makes::checkpoints, Makes::backup}) {
    SCOPED_TRACE(static_cast<int>(makes));
    WalOptions used = options(2);
    ASSERT_NO_FATAL_FAILURE(begin_server(496, /*restored=*/false, &used));
    stop_with_nothing_to_replay(*server_);
    server_.reset();
    for (const auto& [path, content] : files_of("/data"))
      ASSERT_NO_FATAL_FAILURE(write_test_file(*disk_, "/drill" + path.substr(5), content));
    WalOptions copys = options(1);
    copys.log_directories = {"own"};
    ASSERT_NO_FATAL_FAILURE(run_copy("/drill", copys, 2, std::nullopt, makes));
    ASSERT_NO_FATAL_FAILURE(start_server(used));
    ASSERT_NO_FATAL_FAILURE(work(*server_, 3));
    ASSERT_NO_FATAL_FAILURE(expect_goes_on(used));
  }
}

// What it told epochs of was not the server's, which gives them too.
TEST_F(ArchivedDrillTest, HasNothingForTheServer) {
  for (Makes makes : {Makes::nothing, Makes::checkpoints, Makes::backup}) {
    for (int starts : {1, 3}) {
      SCOPED_TRACE(std::to_string(static_cast<int>(makes)) + std::to_string(starts));
      WalOptions used = options(1);
      ASSERT_NO_FATAL_FAILURE(begin_server(497, /*restored=*/false, &used));
      ASSERT_NO_FATAL_FAILURE(live_copy("/drill", starts, false, std::nullopt, makes));
      ASSERT_NO_FATAL_FAILURE(work(*server_, 3));
      stop_with_nothing_to_replay(*server_);
      server_.reset();
      used.log_directories = {"another"};
      ASSERT_NO_FATAL_FAILURE(start_server(used));
      ASSERT_NO_FATAL_FAILURE(work(*server_, 3));
      for (int turn = 0; turn < 2; ++turn) EXPECT_FALSE(archive_of(*server_, used, data_));
    }
  }
}

// What the server has logged since lies where the copy's starts did, and rests on that.
TEST_F(ArchivedDrillTest, LeavesItANewLog) {
  for (bool restored : {false, true}) {
    for (int starts : {1, 3}) {
      SCOPED_TRACE(std::to_string(restored) + std::to_string(starts));
      WalOptions used = options(2);
      ASSERT_NO_FATAL_FAILURE(begin_server(498, restored, &used));
      ASSERT_NO_FATAL_FAILURE(
          live_copy("/drill", starts, /*one_more=*/false, std::nullopt, Makes::checkpoints));
      ASSERT_NO_FATAL_FAILURE(go_on({3, 1}, used));
      used.log_directories.insert(used.log_directories.begin(), "new");
      ++used.workers;
      ASSERT_NO_FATAL_FAILURE(restart_server(used));
      ASSERT_NO_FATAL_FAILURE(expect_goes_on(used));
    }
  }
}

// One drill after the other, each of all that is archived, and behind a start that logged nothing.
TEST_F(ArchivedDrillTest, LeavesItSeveralTimes) {
  for (bool idle : {false, true}) {
    WalOptions used = options(2);
    ASSERT_NO_FATAL_FAILURE(begin_server(450, /*restored=*/false, &used));
    if (idle) {
      ASSERT_NO_FATAL_FAILURE(restart_server(used));
      ASSERT_TRUE(archive_of(*server_, used, data_)) << why_;
    }
    for (const char* drill : {"/drill", "/drill2"})
      ASSERT_NO_FATAL_FAILURE(live_copy(drill, 1, /*one_more=*/true, std::nullopt));
    ASSERT_NO_FATAL_FAILURE(work(*server_, 3));
    ASSERT_NO_FATAL_FAILURE(expect_goes_on(used));
  }
}

// What it had archived is there yet, and is told.
TEST_F(ArchivedDrillTest, IsSetAside) {
  WalOptions used = options(2);
  ASSERT_NO_FATAL_FAILURE(begin_server(451, /*restored=*/false, &used));
  ASSERT_NO_FATAL_FAILURE(live_copy("/drill", 1, /*one_more=*/true, std::nullopt));
  const auto before = files_of("/archive");
  ASSERT_NO_FATAL_FAILURE(work(*server_, 3));
  ASSERT_TRUE(archive_of(*server_, used, data_)) << why_;
  EXPECT_EQ(told_.size(), 3U);
  for (const auto& [path, content] : files_of("/archive")) {
    if (!path.ends_with(".left")) continue;
    const size_t end = path.find(".segment") + std::string(".segment").size();
    EXPECT_TRUE(before.at(path.substr(0, end)) == content) << path;
    EXPECT_TRUE(std::ranges::any_of(
        told_, [&](const std::string& each) { return each.find(path) != std::string::npos; }));
  }
}

// Whichever of its logs, and whether or not its archiver came to write that down.
TEST_F(ArchivedDrillTest, ThatLoggedSomethingKeepsTheServerOut) {
  uint64_t seed = 460;
  const std::string path = join_path("/archive", archive_progress_name);
  for (bool restored : {false, true}) {
    for (int starts : {1, 2}) {
      for (unsigned log : {0, 1, 2}) {
        for (bool noted : {true, false}) {
          const uint64_t turns = noted ? 3 : 100;
          SCOPED_TRACE(std::to_string(restored) + std::to_string(starts) + std::to_string(log) +
                       std::to_string(noted));
          WalOptions used = options(2);
          ASSERT_NO_FATAL_FAILURE(begin_server(++seed, restored, &used));
          const std::string notes = disk_->content(path);
          ASSERT_NO_FATAL_FAILURE(live_copy("/drill", starts, /*one_more=*/true, log));
          if (!noted) {
            ASSERT_TRUE(disk_->remove(path).ok());
            ASSERT_NO_FATAL_FAILURE(write_test_file(*disk_, path, notes));
          }
          ASSERT_NO_FATAL_FAILURE(work(*server_, turns));
          ASSERT_NO_FATAL_FAILURE(expect_refused(used));
        }
      }
    }
  }
}

// Nor where what the copy went on from was pruned before the server was archived again.
TEST_F(ArchivedDrillTest, LeavesItWithoutItsBeginning) {
  WalOptions used = options(2);
  ASSERT_NO_FATAL_FAILURE(begin_server(97, /*restored=*/false, &used));
  ASSERT_NO_FATAL_FAILURE(live_copy("/copy", 2, /*one_more=*/false, {}, Makes::backup));
  ASSERT_NO_FATAL_FAILURE(go_on({.turns = 10, .starts = 2}, used));
  ASSERT_NO_FATAL_FAILURE(cover_all(*server_));
  ASSERT_NO_FATAL_FAILURE(take_newer_backup(*server_, used));
  for (const char* log : {"/archive/wal", "/archive/wal2"}) ASSERT_NO_FATAL_FAILURE(prune(log));
  ASSERT_NO_FATAL_FAILURE(expect_goes_on(used));
}

// Nor where it is ahead of all segments that the server has prepared.
TEST_F(ArchivedDrillTest, LeavesItFarAhead) {
  WalOptions used = options(2);
  ASSERT_NO_FATAL_FAILURE(begin_server(98, /*restored=*/false, &used));
  ASSERT_NO_FATAL_FAILURE(live_copy("/copy", 16, /*one_more=*/false, {}, Makes::backup));
  ASSERT_NO_FATAL_FAILURE(expect_goes_on(used));
}

}  // namespace
}  // namespace pgsilo
