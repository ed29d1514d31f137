#include "executor/worker/batch_rule.h"

#include <gtest/gtest.h>

namespace pgsilo {
namespace {

class BatchRuleTest : public ::testing::Test {
 protected:
  // A window in which the thread ran and waited so long, in so many turns.
  bool leaves_behind(int64_t ran_us, int64_t waited_us, int64_t turns) {
    now_us_ += BatchRule::window_us;
    times_.ran_us += ran_us;
    times_.waited_us += waited_us;
    times_.turns += turns;
    done_ += 100;
    EXPECT_TRUE(rule_.is_due(now_us_));
    return rule_.leaves_cpu(now_us_, times_, done_);
  }
  // The trial, in which the server does so many times what it did; whether it leaves the CPU then.
  bool leaves_behind_trial(double factor) {
    EXPECT_FALSE(rule_.is_due(now_us_ + BatchRule::trial_us - 1));
    now_us_ += BatchRule::trial_us;
    EXPECT_TRUE(rule_.is_due(now_us_));
    done_ += static_cast<uint64_t>(factor * 100 * BatchRule::trial_us / BatchRule::window_us);
    return rule_.leaves_cpu(now_us_, times_, done_);
  }
  // For how many first pauses it stays at that.
  int64_t pauses() {
    int64_t began_us = now_us_;
    while (!rule_.is_due(now_us_)) now_us_ += BatchRule::first_pause_us / 10;
    EXPECT_TRUE(rule_.leaves_cpu(now_us_, times_, done_));
    return (now_us_ - began_us) / BatchRule::first_pause_us;
  }

  BatchRule rule_;
  ThreadTimes times_;
  uint64_t done_ = 0;
  int64_t now_us_ = 0;
};

// Clients on the same CPU: it runs about as long as it waits, or is soon on.
TEST_F(BatchRuleTest, LeavesTheCpuToClients) {
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(leaves_behind(9'000, 11'000, 100));
    EXPECT_TRUE(leaves_behind(8'000, 12'000, 5));  // hundreds of them: long rounds, long waits
    EXPECT_TRUE(leaves_behind(100, 4'000, 40));
  }
}

TEST_F(BatchRuleTest, LooksAtNothingWhereItHardlyWoke) {
  EXPECT_TRUE(leaves_behind(10, 9'000, BatchRule::fewest_turns - 1));
}

TEST_F(BatchRuleTest, PreemptsWhereThatHelps) {
  EXPECT_FALSE(leaves_behind(400, 18'000, 7));
  EXPECT_FALSE(leaves_behind_trial(5));
  EXPECT_EQ(pauses(), 1);
}

// A client that other workers keep busy: to preempt it at each of its sends costs them more.
TEST_F(BatchRuleTest, LeavesTheCpuWhereThatDoesNotHelp) {
  for (double factor : {0.5, 1.0, 1.1}) {
    EXPECT_FALSE(leaves_behind(400, 18'000, 7));
    EXPECT_TRUE(leaves_behind_trial(factor)) << factor;
    pauses();
  }
}

TEST_F(BatchRuleTest, TriesAgainLessAndLessOften) {
  for (bool helps : {true, false}) {
    for (int64_t expected : {1, 2, 4, 8, 16, 32, 64, 64}) {
      EXPECT_FALSE(leaves_behind(400, 18'000, 7));
      EXPECT_EQ(leaves_behind_trial(helps ? 2 : 1), !helps);
      EXPECT_EQ(pauses(), expected);
    }
    EXPECT_TRUE(leaves_behind(9'000, 9'000, 100));
  }
}

}  // namespace
}  // namespace pgsilo
