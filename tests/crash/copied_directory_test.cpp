// A data directory copied, as `cp -r` does it. A copy of a database at rest is a database of its
// own. One that is copied while its server writes holds each file as it was at another moment: what
// starts from it is a state that the database once had, with all that was acknowledged before the
// copy was begun, or it is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "base/file_simulated.h"
#include "base/random.h"
#include "tests/crash/directory_copy.h"
#include "tests/crash/logged_engine.h"
#include "wal/checkpoint/checkpointer.h"

namespace pgsilo {
namespace {

class CopiedDirectory : public ::testing::Test {
 protected:
  static WalOptions options(unsigned logs) {
    WalOptions options = LoggedEngine::small_options();
    options.workers = logs;
    options.checkpoint_at_stop = false;
    options.log_directories = LoggedEngine::log_directories(logs);
    return options;
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
    Content now = states_.back();
    apply_writes(now, operations);
    states_.push_back(std::move(now));
  }

  void work(LoggedEngine& engine, uint64_t turns) {
    for (uint64_t i = 0; i < turns; ++i) {
      ASSERT_NO_FATAL_FAILURE(commit(engine));
      if (random_.one_in(3)) engine.wal().checkpointer().step();
    }
  }

  void copy_directory(const std::string& to, const std::function<void()>& between) {
    pgsilo::copy_directory(*disk_, "/data", to, random_, between);
  }

  // Starts what is there; the state it has, or none if it is refused.
  std::optional<Content> start(const std::string& directory, const WalOptions& options) {
    LoggedEngine engine(*disk_, directory, options);
    if (!engine.start()) {
      EXPECT_NE(engine.why(), "");
      return std::nullopt;
    }
    return engine.content();
  }

  std::optional<SimulatedFileSystem> disk_{std::in_place, 5};
  Random random_{17};
  std::vector<Content> states_{Content{}};
};

TEST_F(CopiedDirectory, AtRestIsADatabaseOfItsOwn) {
  WalOptions used = options(2);
  {
    LoggedEngine engine(*disk_, "/data", used);
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(work(engine, 60));
    disk_->cut_power();
  }
  disk_->restart();
  ASSERT_NO_FATAL_FAILURE(copy_directory("/copy", [] {}));
  LoggedEngine original(*disk_, "/data", used);
  LoggedEngine copy(*disk_, "/copy", used);
  ASSERT_TRUE(original.start()) << original.why();
  ASSERT_TRUE(copy.start()) << copy.why();
  EXPECT_EQ(original.content(), states_.back());
  EXPECT_EQ(copy.content(), states_.back());
  ASSERT_NO_FATAL_FAILURE(commit(copy));
  EXPECT_EQ(copy.content(), states_.back());
  EXPECT_EQ(original.content(), states_[states_.size() - 2]);
}

// The copy's control file names logs that lie elsewhere: they stay the original's, which goes on.
TEST_F(CopiedDirectory, WithoutItsLogsIsRefused) {
  WalOptions used = options(1);
  used.log_directories = {"/logs"};
  LoggedEngine engine(*disk_, "/data", used);
  ASSERT_TRUE(engine.start()) << engine.why();
  ASSERT_NO_FATAL_FAILURE(work(engine, 5));
  ASSERT_NO_FATAL_FAILURE(copy_directory("/copy", [] {}));
  LoggedEngine beside(*disk_, "/copy", used);
  EXPECT_FALSE(beside.start());
  EXPECT_NE(beside.why().find("in use"), std::string::npos) << beside.why();
  disk_->cut_power();
  disk_->restart();
  {
    LoggedEngine goes_on(*disk_, "/data", used);
    ASSERT_TRUE(goes_on.start()) << goes_on.why();
    EXPECT_EQ(goes_on.content(), states_.back());
    ASSERT_NO_FATAL_FAILURE(commit(goes_on));
    disk_->cut_power();
  }
  disk_->restart();
  LoggedEngine later(*disk_, "/copy", used);
  EXPECT_FALSE(later.start());
  EXPECT_NE(later.why().find("of which the control file knows nothing"), std::string::npos)
      << later.why();
}

TEST_F(CopiedDirectory, WhileItIsWrittenIsAStateItHadOrRefused) {
  int started = 0;
  int refused = 0;
  for (int round = 0; round < 150; ++round) {
    disk_.emplace(static_cast<uint64_t>(round));
    states_.assign(1, Content{});
    WalOptions used = options(1 + static_cast<unsigned>(round) % 3);
    {
      LoggedEngine engine(*disk_, "/data", used);
      ASSERT_TRUE(engine.start()) << engine.why();
      ASSERT_NO_FATAL_FAILURE(work(engine, random_.below(60)));
      size_t acknowledged = states_.size() - 1;
      uint64_t pause = 1 + random_.below(6);
      ASSERT_NO_FATAL_FAILURE(copy_directory("/copy", [&] { work(engine, random_.below(pause)); }));
      std::optional<Content> found = start("/copy", used);
      ++(found ? started : refused);
      auto first = states_.begin() + static_cast<ptrdiff_t>(acknowledged);
      if (found) {
        ASSERT_NE(std::find(first, states_.end(), *found), states_.end()) << "round " << round;
      }
    }
  }
  EXPECT_GT(started, 20);
  EXPECT_GT(refused, 20);
}

}  // namespace
}  // namespace pgsilo
