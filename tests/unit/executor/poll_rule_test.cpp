#include "executor/worker/poll_rule.h"

#include <gtest/gtest.h>

#include "executor/worker/runnable_threads.h"

namespace pgsilo {
namespace {

constexpr int64_t poll_us = 50;
constexpr int64_t start_us = 1'000'000;

TEST(PollRuleTest, CountsThreadsAtOnceAndAgain) {
  PollRule rule(poll_us, 2);
  ASSERT_TRUE(rule.may_begin(start_us));
  EXPECT_EQ(rule.begin(start_us), start_us + poll_us);
  EXPECT_TRUE(rule.counts(start_us));
  EXPECT_TRUE(rule.goes_on(start_us, 2));
  EXPECT_FALSE(rule.counts(start_us + PollRule::count_every_us - 1));
  EXPECT_TRUE(rule.counts(start_us + PollRule::count_every_us));
}

TEST(PollRuleTest, LeavesTheCpuToWhoWantsIt) {
  PollRule rule(poll_us, 2);
  rule.begin(start_us);
  EXPECT_FALSE(rule.goes_on(start_us, 3));
  EXPECT_FALSE(rule.may_begin(start_us + PollRule::first_pause_us - 1));
  EXPECT_TRUE(rule.may_begin(start_us + PollRule::first_pause_us));
  EXPECT_FALSE(rule.goes_on(start_us, 3));
  EXPECT_FALSE(rule.may_begin(start_us + 2 * PollRule::first_pause_us - 1));
  EXPECT_TRUE(rule.may_begin(start_us + 2 * PollRule::first_pause_us));
}

TEST(PollRuleTest, LooksLessOftenWhereNothingComes) {
  PollRule rule(poll_us, 2);
  int64_t now_us = start_us;
  for (int64_t pause_us = PollRule::first_pause_us; pause_us < 4 * PollRule::longest_pause_us;
       pause_us *= 2) {
    int64_t expected_us = std::min(pause_us, PollRule::longest_pause_us);
    rule.found_nothing(now_us);
    EXPECT_FALSE(rule.may_begin(now_us + expected_us - 1));
    now_us += expected_us;
    EXPECT_TRUE(rule.may_begin(now_us));
  }
  rule.found_work();
  rule.found_nothing(now_us);
  EXPECT_TRUE(rule.may_begin(now_us + PollRule::first_pause_us));
}

TEST(PollRuleTest, NeverBeginsWhereItIsNotWanted) {
  EXPECT_FALSE(PollRule(0, 2).may_begin(start_us));
}

TEST(RunnableThreadsTest, ReadsWhatTheKernelWrites) {
  EXPECT_EQ(RunnableThreads::parse("0.05 0.10 0.15 3/250 1234\n"), 3);
  EXPECT_EQ(RunnableThreads::parse("12.05 0.10 0.15 17/2500 99"), 17);
  EXPECT_EQ(RunnableThreads::parse(""), std::nullopt);
  EXPECT_EQ(RunnableThreads::parse("3/250"), std::nullopt);
  EXPECT_EQ(RunnableThreads::parse("0.05 0.10 0.15 x/250 1234\n"), std::nullopt);
  EXPECT_EQ(RunnableThreads::parse("0.05 0.10 0.15 /250 1234\n"), std::nullopt);
  EXPECT_GE(RunnableThreads().count().value_or(1), 1);
}

}  // namespace
}  // namespace pgsilo
