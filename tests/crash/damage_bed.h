// A database on a simulated disk that is damaged between two starts. Before each start
// pgsilo-verify must tell the same.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "base/file_simulated.h"
#include "tests/crash/logged_engine.h"
#include "tests/crash/verified.h"
#include "wal/layout/log_format.h"

namespace pgsilo {

inline constexpr char first_segment[] = "0000000000000001.segment";

class Damage : public ::testing::Test {
 protected:
  WalOptions options(unsigned logs = 1) {
    WalOptions options = LoggedEngine::small_options();
    options.workers = logs;
    options.log_directories = LoggedEngine::log_directories(logs);
    return options;
  }

  // `count` durable transactions, round-robin over the workers, one batch each; the last one may
  // stay undurable.
  void commit(const WalOptions& options, int count, bool last_durable = true) {
    LoggedEngine engine(disk_, "/data", options);
    ASSERT_TRUE(engine.start()) << engine.why();
    for (int i = 0; i < count; ++i) {
      unsigned worker = static_cast<unsigned>(i) % options.workers;
      std::optional<Epoch> epoch =
          engine.commit(worker, {{1, "key" + std::to_string(i), "row" + std::to_string(i)}});
      ASSERT_TRUE(epoch.has_value());
      if (i + 1 < count || last_durable) engine.wal().wait_durable(worker, *epoch);
    }
    disk_.cut_power();
  }

  // Restarts; the number of rows, or -1 with why_.
  int restart(const WalOptions& options) {
    disk_.restart();
    verified_ = verify(disk_, options.log_directories);
    LoggedEngine engine(disk_, "/data", options);
    bool started = engine.start();
    why_ = engine.why();
    data_loss_ = engine.recovered().data_loss;
    if (!options.accept_data_loss && verified_like_start_) compare(started, engine.recovered());
    int rows = started ? static_cast<int>(engine.content().size()) : -1;
    disk_.cut_power();
    return rows;
  }

  void compare(bool started, const RecoveryResult& recovered) {
    EXPECT_EQ(verified_.verdict, started ? Verdict::sound : Verdict::damaged) << verified_.why;
    EXPECT_EQ(verified_.why, why_);
    if (!started) return;
    std::string counts = "would replay " + std::to_string(recovered.log_bytes) +
                         " bytes: " + std::to_string(recovered.records) + " records, " +
                         std::to_string(recovered.entries) + " entries; new epochs begin at " +
                         std::to_string(recovered.first_epoch.value());
    EXPECT_NE(verified_.text.find(counts), std::string::npos) << verified_.text << counts;
  }

  static std::string log_path(unsigned log, const std::string& name = first_segment) {
    return "/data/wal" + std::to_string(log) + "/" + name;
  }
  // Of the one that a transaction wrote, behind the first block of all: a byte that is always 0.
  void damage(uint64_t transaction) {
    disk_.corrupt(log_path(0), (1 + transaction) * log_format::block_unit + 108, "?");
  }

  SimulatedFileSystem disk_{11};
  std::string why_;
  std::string data_loss_;
  Verified verified_;
  bool verified_like_start_ = true;
};

}  // namespace pgsilo
