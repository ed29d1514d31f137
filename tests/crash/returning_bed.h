// Log directories that are taken out of the server and come back, and what is archived meanwhile.
#pragma once

#include "tests/crash/nameless_bed.h"

namespace pgsilo {

// A life of some logs, each of which gets something, archived; it stops in good order.
class ReturningLogTest : public NamelessBed {
 protected:
  void log_to_all(LoggedEngine& engine) {
    for (unsigned worker = 0; worker < engine.wal().workers(); ++worker)
      ASSERT_NO_FATAL_FAILURE(log_to_one(engine, worker));
  }

  void live(unsigned logs, bool backed_up = false, bool checkpoint_first = false) {
    LoggedEngine engine(*disk_, "/data", with(logs));
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(log_to_all(engine));
    if (checkpoint_first) {
      ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
    }
    if (backed_up) {
      ASSERT_NO_FATAL_FAILURE(take_backup(engine, with(logs)));
    }
    if (!slots(engine).status().empty()) {
      ASSERT_NO_FATAL_FAILURE(archive_now(engine, with(logs)));
    }
    ASSERT_NO_FATAL_FAILURE(stop_with_nothing_to_replay(engine));
  }

  // A newer backup, and of the archive no more than that needs.
  void live_and_prune(unsigned logs, const std::vector<std::string>& pruned) {
    LoggedEngine engine(*disk_, "/data", with(logs));
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(log_to_all(engine));
    ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
    ASSERT_NO_FATAL_FAILURE(log_to_all(engine));
    ASSERT_NO_FATAL_FAILURE(archive_now(engine, with(logs)));
    ASSERT_NO_FATAL_FAILURE(take_newer_backup(engine, with(logs)));
    for (const std::string& log : pruned) ASSERT_NO_FATAL_FAILURE(prune(log));
    ASSERT_NO_FATAL_FAILURE(archive_now(engine, with(logs)));
    ASSERT_NO_FATAL_FAILURE(stop_with_nothing_to_replay(engine));
  }

  // Logs nothing but what a backup writes, is archived, and makes a checkpoint, or not.
  void live_idle(const WalOptions& used, bool backed_up = false, bool makes_checkpoint = true) {
    LoggedEngine engine(*disk_, "/data", used);
    ASSERT_TRUE(engine.start()) << engine.why();
    if (makes_checkpoint) {
      ASSERT_NO_FATAL_FAILURE(cover_all(engine));
    }
    if (backed_up) {
      ASSERT_NO_FATAL_FAILURE(take_newer_backup(engine, used));
    }
    ASSERT_NO_FATAL_FAILURE(archive_now(engine, used));
    engine.wal().stop();
  }

  // The machine is lost; what can be restored is there from then on.
  void lose_and_restore(WalOptions* used) {
    const std::string found = "/found" + std::to_string(++restored_);
    ASSERT_NO_FATAL_FAILURE(restore_archived(found, used));
    for (const auto& [path, content] : files_of("/data")) ASSERT_TRUE(disk_->remove(path).ok());
    for (const auto& [path, content] : files_of(found))
      ASSERT_NO_FATAL_FAILURE(
          write_test_file(*disk_, "/data" + path.substr(found.size()), content));
    used->workers = static_cast<unsigned>(used->log_directories.size());
  }

  void expect_last_state() {
    std::optional<Content> found =
        last_archived(with(all_logs), "/restored" + std::to_string(++restored_));
    ASSERT_TRUE(found) << why_;
    EXPECT_TRUE(*found == states_.back().content);
  }

  // All logs go on, and what is damaged at the end of that start is told.
  void expect_soundness_is_checked() {
    ASSERT_NO_FATAL_FAILURE(live(all_logs));
    ASSERT_NO_FATAL_FAILURE(expect_last_state());
    {
      LoggedEngine engine(*disk_, "/data", with(all_logs));
      ASSERT_TRUE(engine.start()) << engine.why();
      ASSERT_NO_FATAL_FAILURE(log_to_all(engine));
      disk_->cut_power();
    }
    disk_->restart();
    End damaged = end_of("/data/wal1");
    LoggedEngine engine(*disk_, "/data", with(all_logs));
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(log_to_all(engine));
    damage(damaged.path, damaged.last + 20);
    LogArchive archiver(*disk_, "/archive");
    ASSERT_TRUE(archiver.open(&why_)) << why_;
    ASSERT_FALSE(archive(engine, with(all_logs), archiver));
    EXPECT_FALSE(archiver.may_be_tried_again());
    EXPECT_NE(why_.find("at offset " + std::to_string(damaged.last)), std::string::npos) << why_;
    damage(damaged.path, damaged.last + 20);
    ASSERT_TRUE(archive(engine, with(all_logs), archiver)) << why_;
    ASSERT_NO_FATAL_FAILURE(expect_last_state());
  }

  int restored_ = 0;
};

}  // namespace pgsilo
