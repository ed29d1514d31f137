#include "executor/worker/retry_policy.h"

#include <gtest/gtest.h>

namespace pgsilo {
namespace {

TEST(RetryPolicyTest, BacksOffWithinItsBounds) {
  RetryPolicy policy(7);
  for (uint32_t i = 0; i < RetryPolicy::immediate_retries; ++i) {
    EXPECT_EQ(policy.next_delay_us(TransactionStatus::must_wait), 0);
  }
  for (int i = 0; i < 100; ++i) {
    int64_t delay_us = policy.next_delay_us(TransactionStatus::must_wait);
    EXPECT_GT(delay_us, 0);
    EXPECT_LE(delay_us, RetryPolicy::longest_delay_us);
  }
  policy.reset();
  EXPECT_EQ(policy.next_delay_us(TransactionStatus::must_wait), 0);
}

TEST(RetryPolicyTest, TakesIntentsAfterManyFailuresOrALargeOne) {
  RetryPolicy policy(7);
  for (uint32_t i = 0; i < RetryPolicy::failures_before_intents; ++i) {
    EXPECT_FALSE(policy.takes_intents());
    policy.note_lost(RetryPolicy::large_run_records - 1);
    policy.next_delay_us(TransactionStatus::conflict_record);
  }
  EXPECT_TRUE(policy.takes_intents());
  policy.reset();
  EXPECT_FALSE(policy.takes_intents());
  policy.note_lost(RetryPolicy::large_run_records);
  policy.next_delay_us(TransactionStatus::conflict_record);
  EXPECT_TRUE(policy.takes_intents());
  // Also if it is beaten early when it runs again.
  policy.note_lost(0);
  policy.next_delay_us(TransactionStatus::conflict_record);
  EXPECT_TRUE(policy.takes_intents());
  policy.reset();
  EXPECT_FALSE(policy.takes_intents());
}

// Waits for locks are no reason, however many; and it ends, though it did not help.
TEST(RetryPolicyTest, WhoseReadsAreBeatenKeepsWritersOutForSomeRuns) {
  RetryPolicy policy(7);
  for (int i = 0; i < 100; ++i) policy.next_delay_us(TransactionStatus::must_wait);
  for (uint32_t i = 1; i < RetryPolicy::beaten_before_exclusion; ++i) {
    policy.next_delay_us(TransactionStatus::conflict_node);
    EXPECT_FALSE(policy.keeps_writers_out());
  }
  for (int round = 0; round < 3; ++round) {
    for (uint32_t i = 0; i < RetryPolicy::exclusive_runs; ++i) {
      EXPECT_EQ(policy.next_delay_us(TransactionStatus::conflict_record), 0);
      EXPECT_TRUE(policy.keeps_writers_out());
    }
    for (uint32_t i = 0; i < RetryPolicy::exclusive_runs; ++i) {
      EXPECT_GT(policy.next_delay_us(TransactionStatus::conflict_unique), 0);
      EXPECT_FALSE(policy.keeps_writers_out());
    }
  }
  policy.reset();
  EXPECT_FALSE(policy.keeps_writers_out());
}

// However long somebody waits for others, that is no reason; being beaten for ever is one.
TEST(RetryPolicyTest, IsExhaustedInTheEnd) {
  for (LastResort last_resort : {LastResort::none, LastResort::keep_writers_out}) {
    RetryPolicy policy(7, last_resort);
    for (uint32_t i = 0; i < RetryPolicy::most_conflicts; ++i) {
      EXPECT_FALSE(policy.is_exhausted());
      policy.next_delay_us(TransactionStatus::must_wait);
      policy.next_delay_us(TransactionStatus::deadlock);
      policy.next_delay_us(i % 2 == 0 ? TransactionStatus::conflict_unique
                                      : TransactionStatus::conflict_relation);
    }
    EXPECT_TRUE(policy.is_exhausted());
    policy.reset();
    EXPECT_FALSE(policy.is_exhausted());
    for (uint32_t i = 1; i < RetryPolicy::most_failures; ++i)
      policy.next_delay_us(TransactionStatus::must_wait);
    EXPECT_FALSE(policy.is_exhausted());
    policy.next_delay_us(TransactionStatus::must_wait);
    EXPECT_TRUE(policy.is_exhausted());
  }
}

// An index build lets writers write: it has nothing but pauses.
TEST(RetryPolicyTest, WithoutALastResortItAlwaysPauses) {
  RetryPolicy policy(7, LastResort::none);
  for (uint32_t i = 0; i < RetryPolicy::immediate_retries; ++i)
    policy.next_delay_us(TransactionStatus::conflict_record);
  for (int i = 0; i < 100; ++i) {
    EXPECT_GT(policy.next_delay_us(TransactionStatus::conflict_record), 0);
    EXPECT_FALSE(policy.keeps_writers_out());
  }
}

}  // namespace
}  // namespace pgsilo
