// Errands of the segment keeper: each is run, and none keeps it from the log's segments.
#include "wal/log/segment_keeper.h"

#include <gtest/gtest.h>

#include <chrono>

namespace pgsilo {
namespace {

class Errand final : public KeeperErrand {
 public:
  explicit Errand(SegmentKeeper& keeper) : keeper_(keeper) {}
  void run() noexcept override {
    ++runs;
    if (runs < times) keeper_.ask(*this);
  }

  int times = 1;  // it asks for itself again until it has been run so often
  int runs = 0;

 private:
  SegmentKeeper& keeper_;
};

TEST(SegmentKeeperTest, WhoAsksMeanwhileComesBehindTheSegments) {
  SegmentKeeper keeper({});
  Errand errand(keeper);
  errand.times = 100;
  keeper.ask(errand);
  for (int round = 1; round <= 3; ++round) {
    EXPECT_TRUE(keeper.run_once());
    EXPECT_EQ(errand.runs, round);
  }
}

// Asks for an errand when the others of a round have been run, and gives the owner time to stop.
class LateListener final : public LogGrowthListener {
 public:
  LateListener(SegmentKeeper& keeper, Errand& errand) : keeper_(keeper), errand_(errand) {}
  void log_has_grown() override {
    if (asked.exchange(true)) return;
    keeper_.ask(errand_);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }

  std::atomic<bool> asked{false};

 private:
  SegmentKeeper& keeper_;
  Errand& errand_;
};

TEST(SegmentKeeperTest, WhatIsAskedForBeforeItStopsIsRun) {
  SegmentKeeper keeper({});
  Errand errand(keeper);
  LateListener listener(keeper, errand);
  keeper.set_listener(&listener);
  keeper.start();
  while (!listener.asked) std::this_thread::yield();
  keeper.stop();
  EXPECT_EQ(errand.runs, 1);
}

}  // namespace
}  // namespace pgsilo
