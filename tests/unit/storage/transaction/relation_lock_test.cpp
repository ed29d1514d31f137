// Relation locks: definitions against the transactions that use the relation.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/unit/storage/transaction/test_engine.h"

namespace pgsilo {
namespace {

using testing::TestEngine;
using testing::TestSession;
using enum TransactionStatus;

class RelationLockTest : public ::testing::Test {
 protected:
  void SetUp() override {
    main.store(relation, "a", "0");
    main.store(relation, "b", "0");
  }

  TestEngine engine;
  TestSession main{engine};
  TestSession other{engine};
  Relation& relation = engine.create_relation();
};

TEST_F(RelationLockTest, DdlWaitsForSharersAndKeepsNewOnesOut) {
  main.begin(TransactionMode::interactive);
  ASSERT_EQ(main.transaction.share_relation(relation), ok);
  ASSERT_EQ(main.transaction.share_relation(relation), ok);
  std::atomic<bool> excluded = false;
  std::thread ddl([&] {
    other.begin();
    ASSERT_EQ(other.transaction.lock_relation_exclusively(relation), ok);
    excluded = true;
    ASSERT_EQ(other.put(relation, "a", "ddl"), ok);
    ASSERT_EQ(other.commit(), ok);
  });
  while (relation.gate().owner() == nullptr) std::this_thread::yield();
  TestSession late(engine);
  late.begin();
  EXPECT_EQ(late.transaction.share_relation(relation), must_wait);
  late.transaction.abort();
  EXPECT_FALSE(excluded);
  EXPECT_EQ(main.commit(), ok);
  late.begin(TransactionMode::interactive);
  EXPECT_EQ(late.transaction.share_relation(relation), ok);  // waits until DDL is done
  EXPECT_EQ(late.read(relation, "a"), "ddl");
  EXPECT_EQ(late.commit(), ok);
  ddl.join();
  EXPECT_EQ(relation.gate().shares(), 0u);
}

TEST_F(RelationLockTest, SharesSinceAMarkGoWithTheLocks) {
  Relation& earlier = engine.create_relation();
  main.begin(TransactionMode::interactive);
  ASSERT_EQ(main.transaction.share_relation(earlier), ok);
  Transaction::Mark mark = main.transaction.mark();
  ASSERT_EQ(main.transaction.share_relation(relation), ok);
  ASSERT_EQ(main.transaction.share_relation(earlier), ok);
  main.transaction.rollback_to(mark);
  EXPECT_EQ(relation.gate().shares(), 1u);
  main.transaction.release_locks_since(mark);
  EXPECT_EQ(relation.gate().shares(), 0u);
  EXPECT_EQ(earlier.gate().shares(), 1u);
  ASSERT_EQ(main.transaction.share_relation(relation), ok);
  EXPECT_EQ(relation.gate().shares(), 1u);
  EXPECT_EQ(main.commit(), ok);
  EXPECT_EQ(relation.gate().shares() + earlier.gate().shares(), 0u);
}

TEST_F(RelationLockTest, AGatedRelationTakesNoCommitsOfOneShots) {
  other.begin();
  ASSERT_EQ(other.put(relation, "a", "late"), ok);
  main.begin();
  ASSERT_EQ(main.transaction.lock_relation_exclusively(relation), ok);
  EXPECT_EQ(other.commit(), must_wait);
  std::thread thread([&] {
    ASSERT_EQ(other.transaction.wait_for_intent(), ok);
    other.store(relation, "a", "late");
  });
  EXPECT_EQ(main.scan(relation), "a=0 b=0");
  EXPECT_EQ(main.put(relation, "a", "ddl"), ok);
  EXPECT_EQ(main.commit(), ok);
  thread.join();
  EXPECT_EQ(main.peek(relation), "a=late b=0");
}

TEST_F(RelationLockTest, TwoUpgradesOfOneRelationAreADeadlock) {
  main.settings.deadlock_timeout_us = other.settings.deadlock_timeout_us = 2000;
  main.begin(TransactionMode::interactive);
  other.begin(TransactionMode::interactive);
  ASSERT_EQ(main.transaction.share_relation(relation), ok);
  ASSERT_EQ(other.transaction.share_relation(relation), ok);
  TransactionStatus others = ok;
  std::thread thread([&] {
    others = other.transaction.lock_relation_exclusively(relation);
    other.transaction.abort();
  });
  TransactionStatus mains = main.transaction.lock_relation_exclusively(relation);
  main.transaction.abort();
  thread.join();
  EXPECT_TRUE((mains == ok && others == deadlock) || (mains == deadlock && others == ok))
      << name_of(mains) << " " << name_of(others);
  EXPECT_EQ(relation.gate().owner(), nullptr);
}

TEST_F(RelationLockTest, ADeadlockThroughRecordAndRelationIsFound) {
  main.settings.deadlock_timeout_us = other.settings.deadlock_timeout_us = 2000;
  Relation& second = engine.create_relation();
  main.begin(TransactionMode::interactive);
  other.begin(TransactionMode::interactive);
  ASSERT_EQ(main.transaction.share_relation(second), ok);
  ASSERT_EQ(other.put(relation, "a", "other"), ok);
  TransactionStatus others = ok;
  std::thread thread([&] {
    others = other.transaction.lock_relation_exclusively(second);
    other.transaction.abort();
  });
  TransactionStatus mains = main.put(relation, "a", "main");
  main.transaction.abort();
  thread.join();
  EXPECT_TRUE((mains == ok && others == deadlock) || (mains == deadlock && others == ok))
      << name_of(mains) << " " << name_of(others);
}

TEST_F(RelationLockTest, DdlGivesUpAfterLockTimeout) {
  main.begin(TransactionMode::interactive);
  ASSERT_EQ(main.transaction.share_relation(relation), ok);
  other.settings.lock_timeout_us = 3000;
  other.begin();
  EXPECT_EQ(other.transaction.lock_relation_exclusively(relation), lock_timeout);
  other.transaction.abort();
  EXPECT_EQ(relation.gate().owner(), nullptr);
  EXPECT_EQ(main.commit(), ok);
}

}  // namespace
}  // namespace pgsilo
