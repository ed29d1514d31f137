// The last resort of who is beaten again and again: nobody else writes the relation meanwhile.
#include <gtest/gtest.h>

#include <thread>

#include "tests/unit/storage/transaction/two_sessions.h"

namespace pgsilo {
namespace {

using testing::TwoSessionsTest;
using enum TransactionStatus;

class KeepWritersOutTest : public TwoSessionsTest {
 protected:
  void SetUp() override {
    main.store(relation, "a", "0");
    main.store(second, "a", "0");
  }
  // The memory that it may look at, relations of others' included, stays there.
  bool is_pinned() { return main.worker.reclaimer().oldest_pin() != nullptr; }
  static bool is_closed(Relation& relation) {
    return relation.gate().stops(LockMode::row_exclusive);
  }

  Relation& relation = engine.create_relation();
  Relation& second = engine.create_relation();
};

TEST_F(KeepWritersOutTest, WritersWaitAndReadersDoNot) {
  other.begin();
  ASSERT_EQ(other.put(relation, "a", "1"), ok);
  main.begin(TransactionMode::interactive);
  ASSERT_EQ(main.transaction.keep_writers_out(relation), ok);
  EXPECT_TRUE(main.transaction.keeps_writers_out());
  EXPECT_EQ(other.commit(), must_wait);
  other.begin();
  EXPECT_EQ(other.transaction.share_relation(relation), must_wait);
  EXPECT_EQ(other.transaction.lock_relation(relation, LockMode::access_share), ok);
  EXPECT_EQ(other.read(relation, "a"), "0");
  other.transaction.abort();
  EXPECT_EQ(main.scan(relation), "a=0");
  EXPECT_EQ(main.put(relation, "a", "2"), ok);
  EXPECT_EQ(main.commit(), ok);
  EXPECT_FALSE(is_closed(relation));
  EXPECT_EQ(uses(relation), 0u);
}

// What others had under way when the relation was closed may still beat the run that closed it.
TEST_F(KeepWritersOutTest, TheyStayOutForTheRunThatFollows) {
  for (bool ends_in_commit : {true, false}) {
    main.begin(TransactionMode::interactive);
    ASSERT_EQ(main.transaction.keep_writers_out(relation), ok);
    ASSERT_EQ(main.put(relation, "a", "1"), ok);
    main.read(second, "a");
    other.store(second, "a", "1");
    if (ends_in_commit) {
      EXPECT_EQ(main.commit(), conflict_record);
    } else {
      EXPECT_EQ(main.transaction.validate(), conflict_record);
    }
    EXPECT_TRUE(is_pinned());
    main.transaction.abort_to_run_again();
    EXPECT_TRUE(is_closed(relation));
    EXPECT_TRUE(is_pinned());
    EXPECT_EQ(uses(relation), 1u);
    main.begin(TransactionMode::interactive);
    ASSERT_EQ(main.transaction.keep_writers_out(relation), ok);
    ASSERT_EQ(main.put(relation, "a", "1"), ok);
    EXPECT_EQ(main.commit(), ok);
    EXPECT_FALSE(is_closed(relation));
  }
}

TEST_F(KeepWritersOutTest, WhoDoesNotRunAgainLetsThemIn) {
  for (bool aborts : {true, false}) {
    main.begin(TransactionMode::interactive);
    ASSERT_EQ(main.transaction.keep_writers_out(relation), ok);
    main.transaction.abort_to_run_again();
    EXPECT_TRUE(is_closed(relation));
    EXPECT_TRUE(is_pinned());
    aborts ? main.transaction.abort() : main.transaction.let_writers_in();
    EXPECT_FALSE(is_closed(relation));
    EXPECT_FALSE(is_pinned());
    EXPECT_FALSE(main.transaction.keeps_writers_out());
  }
}

// Who is at it already is waited for shortly: newcomers wait behind us.
TEST_F(KeepWritersOutTest, AWriterThatDoesNotEndIsNotWaitedForLong) {
  other.begin(TransactionMode::interactive);
  ASSERT_EQ(other.transaction.share_relation(relation), ok);
  main.begin(TransactionMode::interactive);
  EXPECT_EQ(main.transaction.keep_writers_out(relation), ok);
  EXPECT_FALSE(main.transaction.keeps_writers_out());
  EXPECT_FALSE(is_closed(relation));
  EXPECT_EQ(main.put(relation, "a", "1"), ok);
  EXPECT_EQ(main.commit(), ok);
  EXPECT_EQ(other.commit(), ok);
}

// That wait ends by itself: nobody who waits for us meanwhile is the victim of a deadlock.
TEST_F(KeepWritersOutTest, ThatWaitIsNoPartOfADeadlock) {
  other.settings.deadlock_timeout_us = 2000;
  main.settings.deadlock_timeout_us = 2000;
  main.begin(TransactionMode::interactive);
  ASSERT_EQ(main.put(second, "a", "1"), ok);
  other.begin(TransactionMode::interactive);
  ASSERT_EQ(other.transaction.share_relation(relation), ok);
  std::thread thread([&] {
    EXPECT_EQ(other.put(second, "a", "2"), ok);
    EXPECT_EQ(other.commit(), ok);
  });
  EXPECT_EQ(main.transaction.keep_writers_out(relation), ok);
  EXPECT_EQ(main.commit(), ok);
  thread.join();
  EXPECT_EQ(main.peek(second), "a=2");
}

// Before it waits for anybody: he may wait for what is kept from him.
TEST_F(KeepWritersOutTest, WhoHasToWaitLetsThemIn) {
  main.settings.deadlock_timeout_us = other.settings.deadlock_timeout_us = 2000;
  other.begin(TransactionMode::interactive);
  ASSERT_EQ(other.put(second, "a", "1"), ok);
  main.begin(TransactionMode::interactive);
  ASSERT_EQ(main.transaction.keep_writers_out(relation), ok);
  std::thread thread([&] {
    EXPECT_EQ(main.put(second, "a", "2"), ok);
    EXPECT_EQ(main.commit(), ok);
  });
  EXPECT_EQ(other.transaction.share_relation(relation), ok);
  EXPECT_EQ(other.put(relation, "a", "1"), ok);
  EXPECT_EQ(other.commit(), ok);
  thread.join();
  EXPECT_EQ(main.peek(second), "a=2");
}

TEST_F(KeepWritersOutTest, OtherLocksStayWhereSavepointsLookForThem) {
  main.begin(TransactionMode::interactive);
  ASSERT_EQ(main.transaction.share_relation(second), ok);
  Transaction::Mark mark = main.transaction.mark();
  ASSERT_EQ(main.transaction.keep_writers_out(relation), ok);
  ASSERT_EQ(main.transaction.share_relation(relation), ok);
  EXPECT_EQ(uses(relation), 2u);
  main.transaction.let_writers_in();
  EXPECT_EQ(uses(relation), 1u);
  EXPECT_FALSE(is_closed(relation));
  main.transaction.rollback_to(mark);
  main.transaction.release_locks_since(mark);
  EXPECT_EQ(uses(relation), 0u);
  EXPECT_EQ(uses(second), 1u);
  EXPECT_EQ(main.commit(), ok);
}

// INSERT ... ON CONFLICT marks each row: a mark counts none of what goes earlier than it.
TEST_F(KeepWritersOutTest, AMarkDoesNotLetThemIn) {
  Relation& third = engine.create_relation();
  for (bool goes_earlier : {true, false}) {
    main.begin(TransactionMode::interactive);
    ASSERT_EQ(main.transaction.keep_writers_out(relation), ok);
    ASSERT_EQ(main.transaction.share_relation(second), ok);
    Transaction::Mark mark = main.transaction.mark();
    EXPECT_TRUE(is_closed(relation));
    ASSERT_EQ(main.transaction.share_relation(third), ok);
    if (goes_earlier) main.transaction.let_writers_in();
    main.transaction.rollback_to(mark);
    main.transaction.release_locks_since(mark);
    EXPECT_FALSE(is_closed(relation));
    EXPECT_EQ(uses(second), 1u);
    EXPECT_EQ(uses(third), 0u);
    EXPECT_EQ(main.commit(), ok);
  }
}

TEST_F(KeepWritersOutTest, ALockOfTheSameModeStays) {
  main.begin(TransactionMode::interactive);
  ASSERT_EQ(main.transaction.keep_writers_out(relation), ok);
  ASSERT_EQ(main.transaction.lock_relation(relation, LockMode::share_row_exclusive), ok);
  main.transaction.let_writers_in();
  EXPECT_TRUE(is_closed(relation));
  EXPECT_EQ(main.commit(), ok);
  EXPECT_FALSE(is_closed(relation));
}

}  // namespace
}  // namespace pgsilo
