// An engine beside which backups are taken, what was committed when, and the copy that is started.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/clock.h"
#include "tests/crash/directory_copy.h"
#include "tests/crash/logged_engine.h"
#include "wal/backup/backup.h"
#include "wal/backup/backup_copy.h"
#include "wal/checkpoint/checkpointer.h"
#include "wal/layout/log_format.h"

namespace pgsilo {

inline constexpr char label_path[] = "/copy/backup_label";

class BackupTest : public ::testing::Test {
 protected:
  struct State {
    Epoch epoch;
    Content content;
    uint64_t acknowledged_us = 0;
  };

  static WalOptions options(unsigned logs) {
    WalOptions options = LoggedEngine::small_options();
    options.workers = logs;
    options.checkpoint_at_stop = false;
    options.log_directories = LoggedEngine::log_directories(logs);
    return options;
  }

  void begin(uint64_t seed) {
    disk_.emplace(seed);
    states_.assign(1, {});
  }

  // A durable transaction; states_ gets what there is now.
  void commit(LoggedEngine& engine) {
    auto worker = static_cast<unsigned>(random_.below(engine.wal().workers()));
    std::vector<WriteOperation> operations;
    for (uint32_t relation : {1, 2}) {
      std::string key = "key" + std::to_string(random_.below(60));
      operations.push_back({relation, key, std::string(random_.below(4000), 'r')});
      if (random_.one_in(4)) operations.back().row.reset();
    }
    std::optional<Epoch> epoch = engine.commit(worker, operations);
    ASSERT_TRUE(epoch.has_value());
    engine.wal().wait_durable(worker, *epoch);
    engine.wal().prepare_segments();
    Content now = states_.back().content;
    apply_writes(now, operations);
    states_.push_back({std::max(*epoch, states_.back().epoch), std::move(now),
                       static_cast<uint64_t>(unix_time_us())});
  }

  void work(LoggedEngine& engine, uint64_t turns) {
    for (uint64_t i = 0; i < turns; ++i) {
      ASSERT_NO_FATAL_FAILURE(commit(engine));
      for (uint64_t step = random_.below(4); step > 0; --step) engine.wal().checkpointer().step();
    }
  }

  static void make_checkpoint(LoggedEngine& engine) {
    std::string why;
    ASSERT_TRUE(engine.wal().checkpointer().run_now(CheckpointReason::request, &why)) << why;
  }

  static void stop(LoggedEngine& engine, Backup& backup) {
    backup.ask_stop();
    while (!backup.stopped()) {
      for (unsigned i = 0; i < engine.wal().workers(); ++i) engine.wal().try_step(i);
    }
  }

  // The label of a backup of /data that is copied to /copy, beside work, as pg_backup_start,
  // pg_backup_stop and cp would do it. `*stopped`: how many of states_ there were at the end.
  BackupLabel back_up(LoggedEngine& engine, size_t* stopped) {
    Backup backup(engine.wal().checkpointer(), "test");
    work(engine, 5 + random_.below(20));
    *stopped = states_.size();
    stop(engine, backup);
    uint64_t pause = 1 + random_.below(6);
    copy_directory(*disk_, "/data", "/copy", random_, [&] { work(engine, random_.below(pause)); });
    EXPECT_FALSE(backup.given_up());
    write_test_file(*disk_, label_path, backup.label_file());
    BackupLabel label;
    std::string why;
    EXPECT_TRUE(read_backup_label(backup.label_file(), &label, &why)) << why;
    return label;
  }

  // What a start of /copy finds; empty: it is refused, with why_.
  std::optional<Content> start_copy(const WalOptions& options) {
    LoggedEngine engine(*disk_, "/copy", options);
    if (engine.start()) return engine.content();
    why_ = engine.why();
    return std::nullopt;
  }

  size_t checkpoint_files() {
    std::vector<std::string> names;
    EXPECT_TRUE(disk_->list("/data/checkpoint", &names).ok());
    return static_cast<size_t>(std::ranges::count_if(
        names, [](const std::string& name) { return name.ends_with(".checkpoint"); }));
  }

  // With a checkpoint behind it, and a backup whose copy nothing has touched yet.
  BackupLabel make_copy(uint64_t seed, const WalOptions& used, size_t* stopped) {
    begin(seed);
    LoggedEngine engine(*disk_, "/data", used);
    EXPECT_TRUE(engine.start()) << engine.why();
    work(engine, 30);
    make_checkpoint(engine);
    work(engine, 20);
    BackupLabel label = back_up(engine, stopped);
    disk_->cut_power();
    return label;
  }

  // Of its logs: path behind the data directory -> content.
  std::map<std::string, std::string> segments(const std::string& data, const WalOptions& used) {
    std::map<std::string, std::string> found;
    for (const std::string& log : used.log_directories) {
      std::vector<std::string> names;
      EXPECT_TRUE(disk_->list(join_path(data, log), &names).ok());
      for (const std::string& name : names) {
        std::string path = join_path(log, name);
        if (parse_segment_name(name)) found[path] = disk_->content(join_path(data, path));
      }
    }
    return found;
  }

  // A start, some work, and a power failure; the work's states are in states_.
  void live_on(const std::string& directory, const WalOptions& used) {
    {
      LoggedEngine engine(*disk_, directory, used);
      ASSERT_TRUE(engine.start()) << engine.why();
      states_.assign(1, {.epoch = {}, .content = engine.content(), .acknowledged_us = 0});
      work(engine, 8);
      disk_->cut_power();
    }
    disk_->restart();
  }

  std::optional<SimulatedFileSystem> disk_;
  Random random_{29};
  std::vector<State> states_;
  std::string why_;
};

}  // namespace pgsilo
