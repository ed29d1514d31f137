// The marks of progress that a server's own thread writes, without anybody's asking: when a segment
// is begun, and when nobody writes for a moment (docs/log_format.md).
#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <thread>

#include "base/clock.h"
#include "base/file_simulated.h"
#include "tests/crash/logged_engine.h"
#include "wal/layout/control_file.h"
#include "wal/layout/progress_file.h"

namespace pgsilo {
namespace {

class ProgressMarksTest : public ::testing::Test {
 protected:
  static WalOptions options() {
    WalOptions options = LoggedEngine::small_options();
    options.workers = 1;
    options.checkpoints.max_log_bytes = size_t{1} << 30;  // none comes by itself
    return options;
  }

  // The engine's own way to wait for room would do what the thread should.
  static void commit(LoggedEngine& engine, int key) {
    while (engine.wal().status().logs[0].space == "preparing")
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::optional<Epoch> epoch =
        engine.commit(0, {{1, "key" + std::to_string(key), std::string(15'000, 'r')}});
    ASSERT_TRUE(epoch.has_value());
    engine.wal().wait_durable(0, *epoch);
  }

  // What the newest mark says of the log.
  LogProgress marked() {
    ControlFile control;
    EXPECT_EQ(read_control_file(disk_, "/data", &control), ControlRead::ok);
    std::vector<ProgressMark> marks;
    FileResult failure;
    EXPECT_EQ(read_progress(disk_, "/data", control.database, &marks, &failure), ProgressRead::ok);
    return marks.empty() || marks[0].logs.empty() ? LogProgress{} : marks[0].logs[0];
  }

  SimulatedFileSystem disk_{31};
};

// More of them than the moments that may be taken for quiet ones, of which there are five a second.
TEST_F(ProgressMarksTest, BegunSegmentsAreMarkedBesideWriters) {
  LoggedEngine engine(disk_, "/data", options());
  ASSERT_TRUE(engine.start()) << engine.why();
  engine.wal().start_threads();
  std::set<uint64_t> seen;
  int64_t started_us = monotonic_us();
  uint64_t quiet = 0;
  for (int key = 0; seen.size() <= quiet && key < 3000; ++key) {
    ASSERT_NO_FATAL_FAILURE(commit(engine, key));
    seen.insert(marked().segment);
    quiet = 3 + static_cast<uint64_t>(monotonic_us() - started_us) / 200'000;
  }
  EXPECT_GT(seen.size(), quiet);
}

TEST_F(ProgressMarksTest, AQuietMomentIsMarked) {
  LoggedEngine engine(disk_, "/data", options());
  ASSERT_TRUE(engine.start()) << engine.why();
  engine.wal().start_threads();
  for (uint64_t turn = 1; turn <= 3; ++turn) {
    ASSERT_NO_FATAL_FAILURE(commit(engine, static_cast<int>(turn)));
    // The begin block, and one for each commit at least.
    for (int tries = 0; marked().blocks < turn + 1 && tries < 1000; ++tries)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_GE(marked().blocks, turn + 1);
  }
}

}  // namespace
}  // namespace pgsilo
