// A server that is lost, restored of its archive, and archived on into it: what an archiver that
// was killed had copied of a start in part is nobody's then.
#include <cerrno>

#include "tests/crash/archive_bed.h"
#include "tests/crash/counting_files.h"

namespace pgsilo {
namespace {

class RestoredArchiveTest : public ArchiveEndsTest {
 protected:
  // What a start that is killed does, and how much of it is archived before its archiver's end.
  struct Life {
    bool logs_one_more = false;   // has a log that is new with it, named first
    bool archived_empty = false;  // its begin blocks were archived for good
    uint64_t turns = 0;           // of work
  };

  static WalOptions of_life(const WalOptions& used, const Life& life) {
    WalOptions now = used;
    if (!life.logs_one_more) return now;
    now.log_directories.insert(now.log_directories.begin(), "another");
    ++now.workers;
    return now;
  }

  // The archiver's device fails at a call of its own. `*killed`: there was one so late.
  void live_and_be_lost(const WalOptions& used, const Life& life, uint64_t call, bool* killed) {
    const WalOptions now = of_life(used, life);
    {
      LoggedEngine engine(*disk_, "/data", now);
      ASSERT_TRUE(engine.start()) << engine.why();
      if (life.archived_empty) {
        ASSERT_NO_FATAL_FAILURE(archive_now(engine, now));
      }
      kept_ = states_.size();
      ASSERT_NO_FATAL_FAILURE(work(engine, life.turns));
      for (unsigned worker = 0; worker < now.workers; ++worker)
        ASSERT_NO_FATAL_FAILURE(log_to_one(engine, worker));
      LogArchive archiver(*disk_, "/archive");
      ASSERT_TRUE(archiver.open(&why_)) << why_;
      disk_->fail_at(disk_->steps() + call, {FileStatus::failed, EIO});
      *killed = !archiver.copy(running(now), slots(engine).status().front().slot, &why_,
                               engine.wal().durable_epoch());
      disk_->fail_at(0, {});
      disk_->cut_power();
    }
    disk_->restart();
  }

  // It holds a state from the last that was archived for good on.
  void take_for_present(const Content& content) {
    auto found = std::ranges::find(states_.begin() + static_cast<ptrdiff_t>(kept_) - 1,
                                   states_.end(), content, &State::content);
    ASSERT_TRUE(found != states_.end());
    states_.erase(found + 1, states_.end());
  }

  bool archive_of(LoggedEngine& engine, const WalOptions& used, const std::string& data) {
    if (slots(engine).status().empty()) {
      EXPECT_EQ(slots(engine).create("archive", true, 0).outcome, SlotOutcome::ok);
    }
    LogArchive archiver(*disk_, "/archive");
    Epoch durable = engine.wal().status().recorded_epoch;
    if (!archiver.open(&why_) ||
        !archiver.copy(running(used, data), slots(engine).status().front().slot, &why_, durable)) {
      return false;
    }
    EXPECT_EQ(slots(engine).advance("archive", durable, 1).outcome, SlotOutcome::ok);
    return true;
  }

  // It lives `starts` times before it is archived, and goes on.
  void live_restored(const std::string& data, const WalOptions& used, int starts) {
    for (int start = 1; start <= starts; ++start) {
      {
        LoggedEngine engine(*disk_, data, used);
        ASSERT_TRUE(engine.start()) << engine.why();
        if (start == 1) {
          ASSERT_NO_FATAL_FAILURE(take_for_present(engine.content()));
        }
        if (start == starts) {
          ASSERT_NO_FATAL_FAILURE(work(engine, 5));
        }
        for (int turn = 0; start == starts && turn < 2; ++turn) {
          ASSERT_TRUE(archive_of(engine, used, data)) << why_;
          ASSERT_NO_FATAL_FAILURE(expect_last_state());
          ASSERT_NO_FATAL_FAILURE(work(engine, 60));
        }
        ASSERT_TRUE(start < starts || archive_of(engine, used, data)) << why_;
        disk_->cut_power();
      }
      disk_->restart();
    }
    ASSERT_NO_FATAL_FAILURE(expect_last_state());
  }

  void expect_last_state() {
    std::optional<Content> found =
        last_archived(options(3), "/read_back" + std::to_string(++read_back_));
    ASSERT_TRUE(found) << why_;
    EXPECT_TRUE(*found == states_.back().content);
  }

  void expect_refused(const WalOptions& copys) {
    LoggedEngine engine(*disk_, "/copy", copys);
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(work(engine, 3));
    const auto before = files_of("/archive");
    EXPECT_FALSE(archive_of(engine, copys, "/copy"));
    EXPECT_NE(why_.find("is not the one that was archived"), std::string::npos) << why_;
    EXPECT_TRUE(files_of("/archive") == before);
  }

  // A start in one log, a newer backup at its end, and others in another log alone, all archived.
  void archive_another_history(int starts) {
    ASSERT_NO_FATAL_FAILURE(archive_first_start());
    for (int start = 0; start < starts; ++start) ASSERT_NO_FATAL_FAILURE(live_of_one(with(2)));
  }

  // A start that makes a checkpoint and logs nothing, and one in another log. All is archived.
  void archive_start_behind_empty_one() {
    ASSERT_NO_FATAL_FAILURE(archive_first_start());
    {
      LoggedEngine engine(*disk_, "/data", with(1));
      ASSERT_TRUE(engine.start()) << engine.why();
      ASSERT_NO_FATAL_FAILURE(cover_all(engine));
      ASSERT_NO_FATAL_FAILURE(archive_now(engine, with(1)));
      engine.wal().stop();
    }
    ASSERT_NO_FATAL_FAILURE(live_of_one(with(2)));
    kept_ = states_.size();
  }

  // What a turn costs, a start after one of whose logs another was taken out.
  uint64_t calls_of_a_turn(int starts) {
    begin(260);
    begin_archive(with(1));
    WalOptions used = options(1);
    restore_archived("/server", &used);
    WalOptions both = of_life(used, {.logs_one_more = true});
    for (int start = 0; start <= starts; ++start) {
      const WalOptions& now = start == 0 ? both : used;
      LoggedEngine engine(*disk_, "/server", now);
      EXPECT_TRUE(engine.start()) << engine.why();
      log_to_one(engine, now.workers - 1);
      EXPECT_TRUE(archive_of(engine, now, "/server")) << why_;
      stop_with_nothing_to_replay(engine);
    }
    LoggedEngine engine(*disk_, "/server", used);
    EXPECT_TRUE(engine.start()) << engine.why();
    CountingFiles files(*disk_);
    LogArchive archiver(files, "/archive");
    EXPECT_TRUE(archiver.open(&why_)) << why_;
    const LogSlot slot = slots(engine).status().front().slot;
    EXPECT_TRUE(archiver.copy(running(used, "/server"), slot, &why_)) << why_;
    log_to_one(engine);
    files.calls = 0;
    EXPECT_TRUE(archiver.copy(running(used, "/server"), slot, &why_)) << why_;
    return files.calls;
  }

  size_t kept_ = 0;
  int read_back_ = 0;
};

TEST_F(RestoredArchiveTest, GoesOnWhereAnArchiverWasKilled) {
  uint64_t seed = 150;
  for (bool one_more : {false, true}) {
    for (bool archived_empty : {false, true}) {
      for (uint64_t turns : {0, 150}) {
        const Life life = {one_more, archived_empty, turns};
        bool killed = true;
        for (uint64_t call = 1; killed; call += turns == 0 ? 1 : 3) {
          begin(++seed);
          const WalOptions used = options(2);
          ASSERT_NO_FATAL_FAILURE(begin_archive(used));
          ASSERT_NO_FATAL_FAILURE(live_and_be_lost(used, life, call, &killed));
          WalOptions restored = used;
          ASSERT_NO_FATAL_FAILURE(restore_archived("/server", &restored));
          restored.workers = static_cast<unsigned>(restored.log_directories.size());
          ASSERT_NO_FATAL_FAILURE(live_restored("/server", restored, 1 + call % 3))
              << one_more << archived_empty << turns << " call " << call;
        }
      }
    }
  }
}

// The archiver that takes back what is there in part is cut short by a power failure.
TEST_F(RestoredArchiveTest, IsCutShortAnywhere) {
  for (bool one_more : {false, true}) {
    for (uint64_t steps = 1; steps < 40; ++steps) {
      begin(200 + steps);
      const WalOptions used = options(2);
      bool killed = false;
      ASSERT_NO_FATAL_FAILURE(begin_archive(used));
      const Life life = {one_more, /*archived_empty=*/true, 150};
      ASSERT_NO_FATAL_FAILURE(live_and_be_lost(used, life, 12, &killed));
      ASSERT_TRUE(killed);
      WalOptions restored = used;
      ASSERT_NO_FATAL_FAILURE(restore_archived("/server", &restored));
      {
        LoggedEngine engine(*disk_, "/server", restored);
        ASSERT_TRUE(engine.start()) << engine.why();
        ASSERT_NO_FATAL_FAILURE(take_for_present(engine.content()));
        ASSERT_EQ(slots(engine).create("archive", true, 0).outcome, SlotOutcome::ok);
        disk_->cut_power_at(disk_->steps() + steps);
        try {
          ASSERT_TRUE(archive_of(engine, restored, "/server")) << why_;
          disk_->cut_power_at(0);
          disk_->cut_power();
        } catch (const SimulatedPowerCut&) {
        }
      }
      disk_->restart();
      ASSERT_NO_FATAL_FAILURE(expect_last_state()) << one_more << steps;
      ASSERT_NO_FATAL_FAILURE(live_restored("/server", restored, 1)) << one_more << steps;
    }
  }
}

// Nothing is lost with starts that logged nothing, before it is restored or later.
TEST_F(RestoredArchiveTest, GoesOnBehindIdleStarts) {
  for (int idle : {1, 2}) {
    for (int starts : {1, 2, 3}) {
      begin(180);
      const WalOptions used = options(2);
      ASSERT_NO_FATAL_FAILURE(begin_archive(used));
      for (int start = 0; start <= idle; ++start) {
        LoggedEngine engine(*disk_, "/data", used);
        ASSERT_TRUE(engine.start()) << engine.why();
        if (start == 0) {
          ASSERT_NO_FATAL_FAILURE(log_to_one(engine));
        }
        ASSERT_NO_FATAL_FAILURE(archive_now(engine, used));
        engine.wal().stop();
      }
      kept_ = states_.size();
      WalOptions restored = used;
      ASSERT_NO_FATAL_FAILURE(restore_archived("/server", &restored));
      for (int start = 1; start < starts; ++start) {
        LoggedEngine engine(*disk_, "/server", restored);
        ASSERT_TRUE(engine.start()) << engine.why();
        ASSERT_TRUE(archive_of(engine, restored, "/server")) << why_;
        engine.wal().stop();
      }
      ASSERT_NO_FATAL_FAILURE(live_restored("/server", restored, 2)) << idle << starts;
    }
  }
}

// A copy of the state before a start of which the archive has all.
TEST_F(RestoredArchiveTest, IsNoCopyOfAnEarlierState) {
  for (bool noted : {true, false}) {
    begin(250);
    const WalOptions used = options(2);
    ASSERT_NO_FATAL_FAILURE(begin_archive(used));
    const Epoch before = states_.back().epoch;
    const std::string path = join_path("/archive", archive_progress_name);
    const std::string notes = disk_->content(path);
    {
      LoggedEngine engine(*disk_, "/data", used);
      ASSERT_TRUE(engine.start()) << engine.why();
      ASSERT_NO_FATAL_FAILURE(work(engine, 20));
      ASSERT_NO_FATAL_FAILURE(archive_now(engine, used));
      disk_->cut_power();
    }
    disk_->restart();
    if (!noted) {
      ASSERT_TRUE(disk_->remove(path).ok());
      ASSERT_NO_FATAL_FAILURE(write_test_file(*disk_, path, notes));
    }
    WalOptions copys = used;
    ASSERT_NO_FATAL_FAILURE(restore_archived("/copy", &copys, before));
    ASSERT_NO_FATAL_FAILURE(expect_refused(copys)) << noted;
  }
}

// Of which the archive has a whole start in a log that the copy has not.
TEST_F(RestoredArchiveTest, IsNoCopyBesideAnotherLog) {
  for (int starts : {1, 2, 3}) {
    begin(255);
    ASSERT_NO_FATAL_FAILURE(archive_another_history(starts));
    WalOptions copys = options(1);
    ASSERT_NO_FATAL_FAILURE(restore_copy(&copys));
    const std::vector<State> archived = states_;
    for (int turn = 0; turn < 3; ++turn) ASSERT_NO_FATAL_FAILURE(expect_refused(copys)) << starts;
    states_ = archived;
    ASSERT_NO_FATAL_FAILURE(expect_last_state()) << starts;
  }
}

// Also when a log ends with a start that has fallen out of the control file's list.
TEST_F(RestoredArchiveTest, IsLookedAtOnce) {
  const uint64_t few = calls_of_a_turn(1);
  ASSERT_FALSE(HasFailure());
  for (int starts : {8, static_cast<int>(most_own_starts) + 1})
    EXPECT_LE(calls_of_a_turn(starts), few) << starts;
}

// Which may be written over: nobody goes on from there.
TEST_F(RestoredArchiveTest, NeedsNoEmptyStart) {
  for (int starts : {1, 2, 3}) {
    SCOPED_TRACE(starts);
    begin(265);
    ASSERT_NO_FATAL_FAILURE(archive_start_behind_empty_one());
    ASSERT_NO_FATAL_FAILURE(expect_last_state());
    WalOptions restored = options(2);
    ASSERT_NO_FATAL_FAILURE(restore_archived("/server", &restored));
    ASSERT_NO_FATAL_FAILURE(live_restored("/server", restored, starts));
    for (const std::vector<std::string>& logs : {restored.log_directories, {"wal2"}, {"wal"}}) {
      WalOptions now = options(static_cast<unsigned>(logs.size()));
      now.log_directories = logs;
      LoggedEngine engine(*disk_, "/server", now);
      ASSERT_TRUE(engine.start()) << engine.why();
      ASSERT_NO_FATAL_FAILURE(log_to_one(engine));
      ASSERT_TRUE(archive_of(engine, now, "/server")) << why_;
      ASSERT_NO_FATAL_FAILURE(stop_with_nothing_to_replay(engine));
      ASSERT_NO_FATAL_FAILURE(expect_last_state());
    }
  }
}

// Of what it has logged since, though its archiver was killed before it noted that.
TEST_F(RestoredArchiveTest, IsNoCopyOfItsOwn) {
  begin(267);
  ASSERT_NO_FATAL_FAILURE(archive_first_start());
  kept_ = states_.size();
  WalOptions restored = options(1);
  ASSERT_NO_FATAL_FAILURE(restore_archived("/server", &restored));
  ASSERT_NO_FATAL_FAILURE(live_restored("/server", restored, 1));
  {
    LoggedEngine engine(*disk_, "/server", restored);
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_TRUE(archive_of(engine, restored, "/server")) << why_;
    ASSERT_NO_FATAL_FAILURE(stop_with_nothing_to_replay(engine));
  }
  for (const auto& [path, content] : files_of("/server"))
    ASSERT_NO_FATAL_FAILURE(
        write_test_file(*disk_, "/copy" + path.substr(std::string("/server").size()), content));
  const std::string notes = join_path("/archive", archive_progress_name);
  const std::string before = disk_->content(notes);
  WalOptions now = restored;
  now.log_directories = {"another"};
  {
    LoggedEngine engine(*disk_, "/server", now);
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(log_to_one(engine));
    ASSERT_TRUE(archive_of(engine, now, "/server")) << why_;
    engine.wal().stop();
  }
  ASSERT_TRUE(disk_->remove(notes).ok());
  ASSERT_NO_FATAL_FAILURE(write_test_file(*disk_, notes, before));
  {
    const std::vector<State> archived = states_;
    now.log_directories = {"third"};
    LoggedEngine engine(*disk_, "/copy", now);
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(log_to_one(engine));
    EXPECT_FALSE(archive_of(engine, now, "/copy"));
    EXPECT_NE(why_.find("another history went on from there"), std::string::npos) << why_;
    engine.wal().stop();
    states_ = archived;
  }
  ASSERT_NO_FATAL_FAILURE(expect_last_state());
}

// Nobody can tell a copy that is archived by mistake, so the original's part is there yet.
TEST_F(RestoredArchiveTest, DestroysNothing) {
  begin(270);
  const WalOptions used = options(2);
  bool killed = false;
  ASSERT_NO_FATAL_FAILURE(begin_archive(used));
  const Life life = {.logs_one_more = true, .archived_empty = false, .turns = 150};
  ASSERT_NO_FATAL_FAILURE(live_and_be_lost(used, life, 12, &killed));
  ASSERT_TRUE(killed);
  const auto before = files_of("/archive");
  WalOptions restored = used;
  ASSERT_NO_FATAL_FAILURE(restore_archived("/server", &restored));
  LoggedEngine engine(*disk_, "/server", restored);
  ASSERT_TRUE(engine.start()) << engine.why();
  ASSERT_EQ(slots(engine).create("archive", true, 0).outcome, SlotOutcome::ok);
  LogArchive archiver(*disk_, "/archive");
  ASSERT_TRUE(archiver.open(&why_)) << why_;
  ASSERT_TRUE(
      archiver.copy(running(restored, "/server"), slots(engine).status().front().slot, &why_))
      << why_;
  const auto after = files_of("/archive");
  size_t aside = 0;
  for (const auto& [path, content] : after) {
    if (!path.ends_with(".left")) continue;
    ++aside;
    const size_t end = path.find(".segment") + std::string(".segment").size();
    EXPECT_TRUE(before.at(path.substr(0, end)) == content) << path;
  }
  EXPECT_GT(aside, 0U);
  const std::vector<std::string> told = archiver.take_left();
  EXPECT_EQ(told.size(), aside);
  for (const auto& [path, content] : after) {
    if (path.ends_with(".left")) {
      EXPECT_TRUE(std::ranges::any_of(
          told, [&](const std::string& each) { return each.find(path) != std::string::npos; }));
    }
  }
  EXPECT_TRUE(archiver.take_left().empty());
}

}  // namespace
}  // namespace pgsilo
