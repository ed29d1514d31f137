#include "executor/worker/yield_rule.h"

#include <gtest/gtest.h>

namespace pgsilo {
namespace {

// Runs until it is due; for how long.
int64_t run(const YieldRule& rule, int64_t& now_us) {
  int64_t began_us = now_us;
  while (!rule.is_due(now_us)) now_us += 100;
  return now_us - began_us;
}

void give_way(YieldRule& rule, int64_t& now_us, int64_t took_us) {
  rule.gave_way(now_us, now_us + took_us);
  now_us += took_us;
}

TEST(YieldRuleTest, IsDueWhereItDoesNotSleep) {
  YieldRule rule;
  int64_t now_us = 1'000'000;
  rule.woke(now_us);
  EXPECT_FALSE(rule.is_due(now_us + YieldRule::longest_run_us - 1));
  EXPECT_TRUE(rule.is_due(now_us + YieldRule::longest_run_us));
  rule.woke(now_us + YieldRule::longest_run_us);
  EXPECT_FALSE(rule.is_due(now_us + YieldRule::longest_run_us));
}

TEST(YieldRuleTest, GoesOnBesideAnotherWorker) {
  YieldRule rule;
  int64_t now_us = 1'000'000;
  rule.woke(now_us);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(run(rule, now_us), YieldRule::longest_run_us);
    give_way(rule, now_us, 250);
  }
}

TEST(YieldRuleTest, RestsBesideWhoKeepsTheCpu) {
  YieldRule rule;
  int64_t now_us = 1'000'000;
  rule.woke(now_us);
  run(rule, now_us);
  for (int64_t pauses : {1, 2, 4, 8, 16, 16}) {
    give_way(rule, now_us, 4'000);
    EXPECT_EQ(run(rule, now_us), pauses * YieldRule::first_pause_us);
  }
  give_way(rule, now_us, 1);
  EXPECT_EQ(run(rule, now_us), YieldRule::longest_run_us);
  give_way(rule, now_us, 4'000);
  EXPECT_EQ(run(rule, now_us), YieldRule::first_pause_us);
}

}  // namespace
}  // namespace pgsilo
