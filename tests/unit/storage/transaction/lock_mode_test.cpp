// Record locks of four strengths: who shares, who waits, who goes first.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <string>
#include <thread>

#include "tests/unit/storage/transaction/test_engine.h"

namespace pgsilo {
namespace {

using testing::TestEngine;
using testing::TestSession;
using enum TransactionStatus;
using enum LockMode;

class LockModeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    main.store(relation, "a", "0");
    main.store(relation, "b", "0");
    a = relation.tree().get("a").record;
    b = relation.tree().get("b").record;
  }
  TransactionStatus lock(TestSession& session, LockMode mode, WaitPolicy policy = WaitPolicy::wait,
                         const char* key = "a") {
    return session.transaction.get(relation, key, session.buffer, &session.row,
                                   ReadPurpose::for_update, {mode, policy});
  }
  TransactionStatus try_lock(TestSession& session, LockMode mode) {
    return lock(session, mode, WaitPolicy::no_wait);
  }
  void wait_for_waiters(Record* record, size_t count) {
    while (engine.locks.waiters(LockTag::of(record)) != count) std::this_thread::yield();
  }

  TestEngine engine;
  TestSession main{engine};
  TestSession other{engine};
  TestSession third{engine};
  Relation& relation = engine.create_relation();
  Record* a = nullptr;
  Record* b = nullptr;
};

TEST_F(LockModeTest, TheTableOfConflictsIsPostgreSQLs) {
  constexpr std::array modes = {key_share, for_share, no_key_update, update};
  constexpr bool conflicts[4][4] = {{false, false, false, true},
                                    {false, false, true, true},
                                    {false, true, true, true},
                                    {true, true, true, true}};
  for (size_t held = 0; held < 4; ++held) {
    for (size_t wanted = 0; wanted < 4; ++wanted) {
      main.begin(TransactionMode::interactive);
      other.begin(TransactionMode::interactive);
      ASSERT_EQ(lock(main, modes[held]), ok);
      EXPECT_EQ(try_lock(other, modes[wanted]), conflicts[held][wanted] ? lock_not_available : ok)
          << held << " " << wanted;
      main.transaction.abort();
      other.transaction.abort();
      EXPECT_FALSE(a->tid_word().load().has_intent());
    }
  }
}

TEST_F(LockModeTest, OneShotsChangeWhatTheLocksOfOthersAllow) {
  main.begin(TransactionMode::interactive);
  ASSERT_EQ(lock(main, key_share), ok);
  other.begin();
  EXPECT_EQ(other.put(relation, "a", "1"), ok);
  EXPECT_EQ(other.commit(), ok);
  other.begin();
  EXPECT_EQ(other.erase(relation, "a"), must_wait);
  other.transaction.abort();
  other.begin();
  ASSERT_EQ(other.get(relation, "a"), ok);
  EXPECT_EQ(other.transaction.update(other.row, "2", update), must_wait);  // of a key
  other.transaction.abort();
  main.transaction.abort();

  main.begin(TransactionMode::interactive);
  ASSERT_EQ(lock(main, for_share), ok);
  other.begin();
  EXPECT_EQ(other.put(relation, "a", "2"), must_wait);
  other.transaction.abort();
  main.transaction.abort();
  EXPECT_EQ(main.peek(relation), "a=1 b=0");
}

TEST_F(LockModeTest, ACommitThatStartedBeforeTheLockStillLooksAtIt) {
  other.begin();
  ASSERT_EQ(other.erase(relation, "a"), ok);
  third.begin();
  ASSERT_EQ(third.put(relation, "b", "1"), ok);
  main.begin(TransactionMode::interactive);
  ASSERT_EQ(lock(main, key_share), ok);
  ASSERT_EQ(lock(main, key_share, WaitPolicy::wait, "b"), ok);
  EXPECT_EQ(other.commit(), must_wait);
  EXPECT_EQ(third.commit(), ok);
  other.transaction.abort();
  main.transaction.abort();
}

TEST_F(LockModeTest, NobodyOvertakesAWriterThatWaits) {
  main.begin(TransactionMode::interactive);
  ASSERT_EQ(lock(main, for_share), ok);
  std::thread writer([&] {
    other.begin(TransactionMode::interactive);
    EXPECT_EQ(lock(other, update), ok);
    EXPECT_EQ(other.commit(), ok);
  });
  wait_for_waiters(a, 1);
  third.begin(TransactionMode::interactive);
  EXPECT_EQ(try_lock(third, for_share), lock_not_available);
  EXPECT_EQ(lock(main, key_share), ok);  // has it already
  EXPECT_EQ(main.commit(), ok);
  writer.join();
  EXPECT_EQ(try_lock(third, for_share), ok);
  EXPECT_EQ(third.commit(), ok);
}

TEST_F(LockModeTest, AllWhoCanShareAreGrantedAtOnce) {
  main.begin(TransactionMode::interactive);
  ASSERT_EQ(lock(main, update), ok);
  std::atomic<int> granted = 0;
  std::atomic<bool> go_on = false;
  std::vector<std::thread> threads;
  for (LockMode mode : {for_share, key_share, for_share}) {
    threads.emplace_back([&, mode] {
      TestSession session(engine);
      session.begin(TransactionMode::interactive);
      EXPECT_EQ(lock(session, mode), ok);
      ++granted;
      while (!go_on) std::this_thread::yield();
      EXPECT_EQ(session.commit(), ok);
    });
  }
  wait_for_waiters(a, 3);
  EXPECT_EQ(main.commit(), ok);
  while (granted != 3) std::this_thread::yield();
  go_on = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(a->tid_word().load().has_intent());
}

TEST_F(LockModeTest, AWaiterThatGivesUpLetsOthersBehindItIn) {
  main.begin(TransactionMode::interactive);
  ASSERT_EQ(lock(main, for_share), ok);
  other.settings.lock_timeout_us = 20000;
  std::thread writer([&] {
    other.begin(TransactionMode::interactive);
    EXPECT_EQ(lock(other, update), lock_timeout);
    other.transaction.abort();
  });
  wait_for_waiters(a, 1);
  third.begin(TransactionMode::interactive);
  EXPECT_EQ(lock(third, for_share), ok);  // when the writer has gone; main still holds its share
  writer.join();
  EXPECT_EQ(third.commit(), ok);
  EXPECT_EQ(main.commit(), ok);
}

TEST_F(LockModeTest, WhoHoldsALockStrengthensItBeforeThoseWhoHoldNone) {
  main.begin(TransactionMode::interactive);
  third.begin(TransactionMode::interactive);
  ASSERT_EQ(lock(main, for_share), ok);
  ASSERT_EQ(lock(third, for_share), ok);
  std::atomic<int> order = 0;
  std::thread writer([&] {
    other.begin(TransactionMode::interactive);
    EXPECT_EQ(lock(other, update), ok);
    EXPECT_EQ(++order, 2);
    EXPECT_EQ(other.commit(), ok);
  });
  wait_for_waiters(a, 1);
  std::thread stronger([&] {
    EXPECT_EQ(main.put(relation, "a", "main"), ok);
    EXPECT_EQ(++order, 1);
    EXPECT_EQ(main.commit(), ok);
  });
  wait_for_waiters(a, 2);
  EXPECT_EQ(third.commit(), ok);
  stronger.join();
  writer.join();
  EXPECT_EQ(third.peek(relation), "a=main b=0");
}

TEST_F(LockModeTest, OfTwoSharersWhoBothWantToWriteOneIsTheVictim) {
  std::atomic<int> victims = 0, sharing = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      TestSession session(engine);
      session.settings.deadlock_timeout_us = 2000;
      session.begin(TransactionMode::interactive);
      ASSERT_EQ(lock(session, for_share), ok);
      ++sharing;
      while (sharing != 2) std::this_thread::yield();
      TransactionStatus status = session.transaction.update(session.row, "x");
      if (status == ok) {
        EXPECT_EQ(session.commit(), ok);
      } else {
        EXPECT_EQ(status, deadlock);
        ++victims;
        session.transaction.abort();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(victims, 1);
}

// main shares a and waits for b; other waits to change a; third holds b and waits behind other for
// what it could share with main.
TEST_F(LockModeTest, ACycleThroughTheOrderOfWaitingHasNoVictim) {
  for (TestSession* session : {&main, &other, &third}) session->settings.deadlock_timeout_us = 2000;
  main.begin(TransactionMode::interactive);
  ASSERT_EQ(lock(main, for_share), ok);
  third.begin(TransactionMode::interactive);
  ASSERT_EQ(lock(third, update, WaitPolicy::wait, "b"), ok);
  std::thread writer([&] {
    other.begin(TransactionMode::interactive);
    EXPECT_EQ(lock(other, update), ok);
    EXPECT_EQ(other.commit(), ok);
  });
  wait_for_waiters(a, 1);
  std::thread sharer([&] {
    EXPECT_EQ(lock(third, for_share), ok);
    EXPECT_EQ(third.commit(), ok);
  });
  wait_for_waiters(a, 2);
  EXPECT_EQ(lock(main, update, WaitPolicy::wait, "b"), ok);
  EXPECT_EQ(main.commit(), ok);
  sharer.join();
  writer.join();
}

TEST_F(LockModeTest, ADeleteOfARowOnesOwnUpdateHasLockedTakesTheStrongerLock) {
  main.begin(TransactionMode::interactive);
  ASSERT_EQ(lock(main, no_key_update), ok);
  ASSERT_EQ(main.transaction.update(main.row, "1"), ok);
  other.begin(TransactionMode::interactive);
  EXPECT_EQ(try_lock(other, key_share), ok);
  other.transaction.abort();
  main.statement();
  EXPECT_EQ(main.erase(relation, "a"), ok);
  other.begin(TransactionMode::interactive);
  EXPECT_EQ(try_lock(other, key_share), lock_not_available);
  other.transaction.abort();
  EXPECT_EQ(main.commit(), ok);
}

TEST_F(LockModeTest, NoWaitDoesNotFailForARowThatNobodySees) {
  main.begin(TransactionMode::interactive);
  ASSERT_EQ(main.insert(relation, "c", "main"), ok);
  other.begin(TransactionMode::interactive);
  EXPECT_EQ(lock(other, update, WaitPolicy::no_wait, "c"), not_found);
  EXPECT_EQ(other.commit(), ok);
  EXPECT_EQ(main.commit(), ok);
}

TEST_F(LockModeTest, ADuplicateIsReportedWhileAnotherChangesTheRow) {
  main.begin(TransactionMode::interactive);
  ASSERT_EQ(lock(main, no_key_update), ok);
  ASSERT_EQ(main.transaction.update(main.row, "1"), ok);
  other.begin(TransactionMode::interactive);
  EXPECT_EQ(other.insert(relation, "a", "other"), duplicate_key);
  other.transaction.abort();
  main.transaction.abort();
}

// The way out of a deadlock: what was only strengthened since the mark is weakened.
TEST_F(LockModeTest, WhatAMarkFoundWeakerBecomesWeakerAgain) {
  main.begin(TransactionMode::interactive);
  ASSERT_EQ(lock(main, key_share), ok);
  Transaction::Mark mark = main.transaction.mark();
  main.statement();
  ASSERT_EQ(lock(main, for_share), ok);
  ASSERT_EQ(main.erase(relation, "a"), ok);
  main.transaction.rollback_to(mark);
  other.begin(TransactionMode::interactive);
  EXPECT_EQ(try_lock(other, key_share), lock_not_available);
  main.transaction.release_locks_since(mark);
  EXPECT_EQ(try_lock(other, no_key_update), ok);
  EXPECT_EQ(try_lock(other, update), lock_not_available);
  other.transaction.abort();
  EXPECT_EQ(main.commit(), ok);
  EXPECT_FALSE(a->tid_word().load().has_intent());
}

TEST_F(LockModeTest, AWriteAfterThatTakesItsLockAnew) {
  main.begin(TransactionMode::interactive);
  ASSERT_EQ(main.get(relation, "a"), ok);
  ASSERT_EQ(main.transaction.update(main.row, "1"), ok);
  Transaction::Mark mark = main.transaction.mark();
  main.statement();
  ASSERT_EQ(main.erase(relation, "a"), ok);
  main.transaction.rollback_to(mark);
  main.transaction.release_locks_since(mark);
  other.begin(TransactionMode::interactive);
  EXPECT_EQ(try_lock(other, key_share), ok);
  main.settings.lock_timeout_us = 2000;
  main.statement();
  EXPECT_EQ(main.erase(relation, "a"), lock_timeout);
  main.transaction.rollback_to(mark);
  EXPECT_EQ(main.commit(), ok);  // as an update, which the other's lock admits
  other.transaction.abort();
  EXPECT_EQ(main.peek(relation), "a=1 b=0");
}

}  // namespace
}  // namespace pgsilo
