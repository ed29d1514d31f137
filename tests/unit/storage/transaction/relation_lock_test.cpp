// Relation locks: definitions against the transactions that use the relation.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/unit/storage/transaction/two_sessions.h"

namespace pgsilo {
namespace {

using testing::TestSession;
using testing::TwoSessionsTest;
using enum TransactionStatus;

class RelationLockTest : public TwoSessionsTest {
 protected:
  void SetUp() override {
    main.store(relation, "a", "0");
    main.store(relation, "b", "0");
  }

  Relation& relation = engine.create_relation();
};

TEST_F(RelationLockTest, AOneShotThatBecomesInteractiveTakesThem) {
  main.begin();
  ASSERT_EQ(main.transaction.share_relation(relation), ok);
  EXPECT_EQ(uses(relation), 0u);
  ASSERT_EQ(main.transaction.become_interactive(), ok);
  EXPECT_EQ(uses(relation), 1u);
  EXPECT_EQ(main.commit(), ok);
  EXPECT_EQ(uses(relation), 0u);
}

// It may hold what the other one waits for, and has nothing that it could not do again.
TEST_F(RelationLockTest, AOneShotThatBecomesInteractiveWaitsAsAOneShot) {
  main.begin();
  ASSERT_EQ(main.transaction.share_relation(relation), ok);
  other.begin(TransactionMode::interactive);
  ASSERT_EQ(other.transaction.lock_relation(relation, LockMode::share), ok);
  EXPECT_EQ(main.transaction.become_interactive(), must_wait);
  std::thread waiter([&] { EXPECT_EQ(main.transaction.wait_for_intent(), ok); });
  while (engine.locks.waiters(LockTag::of(relation)) == 0) std::this_thread::yield();
  EXPECT_EQ(other.commit(), ok);
  waiter.join();
  main.transaction.abort();
}

// Of the table that it writes, the lock keeps all that others must not change, so what they may
// change does not disturb it; before the lock was there it did.
TEST_F(RelationLockTest, AOneShotThatBecomesInteractiveRestsOnTheLock) {
  Relation& catalog = engine.create_relation();
  auto descriptor = [&](std::string_view key) {
    TestSession reader(engine);
    reader.begin();
    EXPECT_EQ(reader.get(catalog, key), ok);
    return CatalogVersion{reader.row.record, reader.row.tid};
  };
  enum class Changed { row, type, row_before };
  for (Changed changed : {Changed::row, Changed::type, Changed::row_before}) {
    main.store(catalog, "row", "0");
    main.store(catalog, "type", "0");
    main.begin();
    ASSERT_EQ(main.transaction.use_written_descriptor(descriptor("row"), descriptor("type")), ok);
    ASSERT_EQ(main.transaction.share_relation(relation), ok);
    ASSERT_EQ(main.put(relation, "a", "1"), ok);
    if (changed == Changed::row_before) {
      other.store(catalog, "row", "1");
      EXPECT_EQ(main.transaction.become_interactive(), conflict_record);
      main.transaction.abort();
      continue;
    }
    ASSERT_EQ(main.transaction.become_interactive(), ok);
    other.store(catalog, changed == Changed::row ? "row" : "type", "1");
    EXPECT_EQ(main.commit(), changed == Changed::row ? ok : conflict_record);
  }
}

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
  while (!relation.gate().stops(LockMode::access_share)) std::this_thread::yield();
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
  EXPECT_EQ(uses(relation), 0u);
}

TEST_F(RelationLockTest, SharesSinceAMarkGoWithTheLocks) {
  Relation& earlier = engine.create_relation();
  main.begin(TransactionMode::interactive);
  ASSERT_EQ(main.transaction.share_relation(earlier), ok);
  Transaction::Mark mark = main.transaction.mark();
  ASSERT_EQ(main.transaction.share_relation(relation), ok);
  ASSERT_EQ(main.transaction.share_relation(earlier), ok);
  main.transaction.rollback_to(mark);
  EXPECT_EQ(uses(relation), 1u);
  main.transaction.release_locks_since(mark);
  EXPECT_EQ(uses(relation), 0u);
  EXPECT_EQ(uses(earlier), 1u);
  ASSERT_EQ(main.transaction.share_relation(relation), ok);
  EXPECT_EQ(uses(relation), 1u);
  EXPECT_EQ(main.commit(), ok);
  EXPECT_EQ(uses(relation) + uses(earlier), 0u);
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
  EXPECT_FALSE(relation.gate().stops(LockMode::row_exclusive));
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
  EXPECT_FALSE(relation.gate().stops(LockMode::row_exclusive));
  EXPECT_EQ(main.commit(), ok);
}

TEST_F(RelationLockTest, TheTableOfConflictsIsPostgreSQLs) {
  using enum LockMode;
  // Of each mode the first that it conflicts with.
  constexpr LockMode first[] = {access_exclusive, exclusive,     share,     share_update_exclusive,
                                row_exclusive,    row_exclusive, row_share, access_share};
  for (int held = 1; held <= 8; ++held) {
    for (int wanted = 1; wanted <= 8; ++wanted) {
      auto one = static_cast<LockMode>(held), two = static_cast<LockMode>(wanted);
      bool conflicts = two >= first[held - 1] && !(one == share && two == share);
      main.begin(TransactionMode::interactive);
      other.begin(TransactionMode::interactive);
      ASSERT_EQ(main.transaction.lock_relation(relation, one), ok);
      EXPECT_EQ(other.transaction.lock_relation(relation, two, WaitPolicy::no_wait),
                conflicts ? lock_not_available : ok)
          << held << " " << wanted;
      main.transaction.abort();
      other.transaction.abort();
    }
  }
  EXPECT_EQ(uses(relation), 0u);
}

// What a commit reads of a gate that is raised while it runs depends on the moment.
TEST_F(RelationLockTest, CommitsThatMayNotHaveSeenTheGateAreWaitedFor) {
  main.settings.lock_timeout_us = 2000;
  other.worker.slot().enter();
  for (int mode = 1; mode <= 8; ++mode) {
    main.begin(TransactionMode::interactive);
    EXPECT_EQ(main.transaction.lock_relation(relation, static_cast<LockMode>(mode)),
              mode < static_cast<int>(LockMode::share) ? ok : lock_timeout);
    main.transaction.abort();
    EXPECT_EQ(uses(relation), 0u);
  }
  other.worker.slot().leave();
  main.begin(TransactionMode::interactive);
  EXPECT_EQ(main.transaction.lock_relation(relation, LockMode::share), ok);
  main.transaction.abort();
}

TEST_F(RelationLockTest, WhoIsWaitedForGoesOn) {
  main.begin(TransactionMode::interactive);
  ASSERT_EQ(main.transaction.lock_relation(relation, LockMode::access_share), ok);
  std::thread ddl([&] {
    other.begin(TransactionMode::interactive);
    EXPECT_EQ(other.transaction.lock_relation_exclusively(relation), ok);
    other.transaction.abort();
  });
  while (!relation.gate().stops(LockMode::access_share)) std::this_thread::yield();
  EXPECT_EQ(main.transaction.lock_relation(relation, LockMode::row_exclusive), ok);
  EXPECT_EQ(main.put(relation, "a", "1"), ok);
  EXPECT_EQ(main.commit(), ok);
  ddl.join();
  EXPECT_EQ(main.peek(relation), "a=1 b=0");
}

TEST_F(RelationLockTest, WhatIsExcludedStaysWhenLocksAreLetGo) {
  Relation& second = engine.create_relation();
  main.begin(TransactionMode::interactive);
  Transaction::Mark mark = main.transaction.mark();
  ASSERT_EQ(main.transaction.lock_relation(second, LockMode::share), ok);
  ASSERT_EQ(main.transaction.share_relation(relation), ok);
  ASSERT_EQ(main.transaction.lock_relation_exclusively(relation), ok);
  ASSERT_EQ(main.transaction.share_relation(second), ok);
  main.transaction.rollback_to(mark);
  EXPECT_EQ(uses(second), 2u);
  main.transaction.release_locks_since(mark);
  EXPECT_EQ(uses(second), 0u);
  EXPECT_EQ(uses(relation), 2u);
  other.begin();
  EXPECT_EQ(other.transaction.lock_relation(relation, LockMode::access_share), must_wait);
  other.transaction.abort();
  EXPECT_EQ(main.commit(), ok);
  EXPECT_EQ(uses(relation), 0u);
}

// One that waited has its turn before those who came later.
TEST_F(RelationLockTest, AOneShotKeepsTheLockItWaitedForInItsNextRun) {
  TestSession third(engine);
  main.begin(TransactionMode::interactive);
  ASSERT_EQ(main.transaction.lock_relation(relation, LockMode::exclusive), ok);
  other.begin();
  ASSERT_EQ(other.transaction.share_relation(relation), must_wait);
  std::thread thread([&] { EXPECT_EQ(other.transaction.wait_for_intent(), ok); });
  while (uses(relation) != 2) std::this_thread::yield();
  main.transaction.abort();
  thread.join();
  third.begin(TransactionMode::interactive);
  EXPECT_EQ(third.transaction.lock_relation(relation, LockMode::share, WaitPolicy::no_wait),
            lock_not_available);
  other.begin();
  EXPECT_EQ(other.transaction.share_relation(relation), ok);
  EXPECT_EQ(other.put(relation, "a", "1"), ok);
  EXPECT_EQ(other.commit(), ok);
  EXPECT_EQ(third.transaction.lock_relation(relation, LockMode::share, WaitPolicy::no_wait), ok);
  third.transaction.abort();
}

}  // namespace
}  // namespace pgsilo
