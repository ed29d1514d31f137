// Intent locks and the waiting for them.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>

#include "tests/unit/storage/transaction/test_engine.h"

namespace pgsilo {
namespace {

using testing::TestEngine;
using testing::TestSession;
using enum TransactionStatus;

class LockTest : public ::testing::Test {
 protected:
  void SetUp() override {
    main.store(relation, "a", "0");
    main.store(relation, "b", "0");
    main.begin();
    ASSERT_EQ(main.get(relation, "a"), ok);
    a = main.row.record;
    ASSERT_EQ(main.get(relation, "b"), ok);
    b = main.row.record;
    ASSERT_EQ(main.commit(), ok);
  }
  void wait_for_waiters(Record* record, size_t count) {
    while (engine.locks.waiters(LockTag::of(record)) != count) std::this_thread::yield();
  }

  TestEngine engine;
  TestSession main{engine};
  TestSession other{engine};
  Relation& relation = engine.create_relation();
  Record* a = nullptr;
  Record* b = nullptr;
};

TEST_F(LockTest, AnInteractiveWriterHoldsTheIntentUntilItsEnd) {
  main.begin(TransactionMode::interactive);
  EXPECT_EQ(main.put(relation, "a", "1"), ok);
  EXPECT_TRUE(a->tid_word().load().has_intent());
  EXPECT_EQ(main.commit(), ok);
  EXPECT_FALSE(a->tid_word().load().has_intent());
  main.begin(TransactionMode::interactive);
  EXPECT_EQ(main.erase(relation, "a"), ok);
  EXPECT_TRUE(a->tid_word().load().has_intent());
  main.transaction.abort();
  EXPECT_FALSE(a->tid_word().load().has_intent());
  EXPECT_EQ(main.peek(relation), "a=1 b=0");
}

TEST_F(LockTest, InstallKeepsTheIntentOfAnother) {
  // A one-shot that locked the record before the intent was raised installs under it.
  LockOwner& owner = engine.locks.take_owner();
  TidWord seen;
  ASSERT_TRUE(a->tid_word().try_lock(LockPurpose::update, seen));
  ASSERT_EQ(engine.locks.acquire(owner, a, LockMode::update, WaitPolicy::no_wait, {}), ok);
  ASSERT_EQ(a->install("1", Tid(engine.epochs.current(), 99), nullptr), nullptr);
  EXPECT_TRUE(a->tid_word().load().has_intent());
  other.begin();
  EXPECT_EQ(other.put(relation, "a", "2"), must_wait);
  other.transaction.abort();
  engine.locks.release_locks(owner);
  engine.locks.return_owner(owner);
}

// What is read with caution is locked as what is written, and let go of when that was all; what has
// been written, or locked for another reason, stays.
TEST_F(LockTest, CautiousLocksAreLetGoOf) {
  const RowLock cautious{.mode = LockMode::no_key_update, .is_cautious = true};
  auto read = [&](const char* key, const RowLock& lock) {
    return main.transaction.get(relation, key, main.buffer, &main.row, ReadPurpose::for_update,
                                lock);
  };
  for (bool is_written : {false, true}) {
    main.begin(TransactionMode::interactive);
    ASSERT_EQ(read("a", cautious), ok);
    if (is_written) {
      ASSERT_EQ(main.transaction.update(main.row, "1"), ok);
    }
    ASSERT_EQ(read("b", {}), ok);
    ASSERT_EQ(read("b", cautious), ok);
    other.begin();
    EXPECT_EQ(other.put(relation, "a", "2"), must_wait);
    other.transaction.abort();
    main.transaction.let_go_of_caution();
    EXPECT_EQ(a->tid_word().load().has_intent(), is_written);
    EXPECT_TRUE(b->tid_word().load().has_intent());
    if (!is_written) other.store(relation, "a", "2");
    EXPECT_EQ(main.commit(), is_written ? ok : conflict_record);
    EXPECT_FALSE(a->tid_word().load().has_intent());
    EXPECT_FALSE(b->tid_word().load().has_intent());
  }
  EXPECT_EQ(main.peek(relation), "a=1 b=0");
}

TEST_F(LockTest, WhoWaitsForACautiousLockGetsItWhenThatIsLetGoOf) {
  main.begin(TransactionMode::interactive);
  ASSERT_EQ(main.transaction.get(relation, "a", main.buffer, &main.row, ReadPurpose::for_update,
                                 {.mode = LockMode::no_key_update, .is_cautious = true}),
            ok);
  std::thread waiter([&] {
    other.begin(TransactionMode::interactive);
    EXPECT_EQ(other.put(relation, "a", "1"), ok);
    EXPECT_EQ(other.commit(), ok);
  });
  wait_for_waiters(a, 1);
  main.transaction.let_go_of_caution();
  waiter.join();
  EXPECT_EQ(main.commit(), conflict_record);
}

// One of the records has somebody's intent, the other the lock of a commit that goes on: what the
// commit reports tells which it tried first.
TEST_F(LockTest, ACommitLocksInTheOrderOfAddresses) {
  Record* low = std::min(a, b);
  Record* high = std::max(a, b);
  for (std::string_view first : {"a", "b"}) {
    for (Record* with_intent : {low, high}) {
      Record* locked = with_intent == low ? high : low;
      other.begin();
      ASSERT_EQ(other.put(relation, first, "1"), ok);
      ASSERT_EQ(other.put(relation, first == "a" ? "b" : "a", "1"), ok);
      LockOwner& owner = engine.locks.take_owner();
      TidWord seen;
      ASSERT_EQ(engine.locks.acquire(owner, with_intent, LockMode::update, WaitPolicy::no_wait, {}),
                ok);
      ASSERT_TRUE(locked->tid_word().try_lock(LockPurpose::update, seen));
      EXPECT_EQ(other.commit(), with_intent == low ? must_wait : conflict_lock) << first;
      other.transaction.abort();
      EXPECT_FALSE(with_intent->tid_word().load().is_locked());
      locked->tid_word().unlock();
      engine.locks.release_locks(owner);
      engine.locks.return_owner(owner);
    }
  }
}

TEST_F(LockTest, AOneShotThatMeetsAnIntentWaitsInItsQueueAndKeepsTheLock) {
  main.begin(TransactionMode::interactive);
  ASSERT_EQ(main.put(relation, "a", "main"), ok);
  std::thread thread([&] {
    other.begin();
    EXPECT_EQ(other.put(relation, "b", "1"), ok);
    ASSERT_EQ(other.put(relation, "a", "other"), must_wait);
    ASSERT_EQ(other.transaction.wait_for_intent(), ok);
    EXPECT_TRUE(a->tid_word().load().has_intent());
    other.begin();
    EXPECT_EQ(other.read(relation, "a"), "main");
    EXPECT_EQ(other.put(relation, "a", "other"), ok);
    EXPECT_EQ(other.commit(), ok);
  });
  wait_for_waiters(a, 1);
  EXPECT_EQ(main.commit(), ok);
  thread.join();
  EXPECT_FALSE(a->tid_word().load().has_intent());
  EXPECT_EQ(main.peek(relation), "a=other b=0");
}

TEST_F(LockTest, AOneShotThatMeetsAnIntentAtCommitWaitsToo) {
  other.begin();
  ASSERT_EQ(other.put(relation, "a", "other"), ok);
  main.begin(TransactionMode::interactive);
  ASSERT_EQ(main.get(relation, "a", ReadPurpose::for_update), ok);
  EXPECT_EQ(other.commit(), must_wait);
  std::thread thread([&] {
    ASSERT_EQ(other.transaction.wait_for_intent(), ok);
    other.begin();
    EXPECT_EQ(other.put(relation, "a", "other"), ok);
    EXPECT_EQ(other.commit(), ok);
  });
  wait_for_waiters(a, 1);
  main.transaction.abort();
  thread.join();
  EXPECT_EQ(main.peek(relation), "a=other b=0");
}

TEST_F(LockTest, WritersOfAHotRecordQueueUpInsteadOfFailing) {
  constexpr int threads = 4, rounds = 200;
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([&] {
      TestSession session(engine);
      for (int round = 0; round < rounds; ++round) {
        session.begin(TransactionMode::interactive);
        ASSERT_EQ(session.get(relation, "a", ReadPurpose::for_update), ok);
        int value = std::stoi(std::string(session.row.row));
        ASSERT_EQ(session.transaction.update(session.row, std::to_string(value + 1)), ok);
        ASSERT_EQ(session.transaction.end_statement(), ok);
        session.statement();
        ASSERT_EQ(session.insert(relation, "h" + std::to_string(value), ""), ok);
        ASSERT_EQ(session.transaction.end_statement(), ok);
        ASSERT_EQ(session.commit(), ok);  // never 40001
      }
    });
  }
  for (std::thread& thread : running) thread.join();
  main.begin();
  EXPECT_EQ(main.read(relation, "a"), std::to_string(threads * rounds));
}

TEST_F(LockTest, WaitersAreServedInOrder) {
  constexpr int count = 6;
  main.begin(TransactionMode::interactive);
  ASSERT_EQ(main.put(relation, "a", "main"), ok);
  std::string order;  // guarded by the lock on `a`
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      TestSession session(engine);
      if (i % 2 == 0) {
        session.begin(TransactionMode::interactive);
        ASSERT_EQ(session.get(relation, "a", ReadPurpose::for_update), ok);
      } else {  // one-shots wait in the same queue
        session.begin();
        ASSERT_EQ(session.put(relation, "a", "x"), must_wait);
        ASSERT_EQ(session.transaction.wait_for_intent(), ok);
        session.begin();
        ASSERT_EQ(session.get(relation, "a"), ok);
      }
      order += static_cast<char>('0' + i);
      ASSERT_EQ(session.transaction.update(session.row, "x"), ok);
      ASSERT_EQ(session.commit(), ok);
    });
    wait_for_waiters(a, static_cast<size_t>(i) + 1);
  }
  ASSERT_EQ(main.commit(), ok);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(order, "012345");
}

TEST_F(LockTest, ADeadlockHasOneVictim) {
  main.settings.deadlock_timeout_us = other.settings.deadlock_timeout_us = 1000;
  main.begin(TransactionMode::interactive);
  other.begin(TransactionMode::interactive);
  ASSERT_EQ(main.put(relation, "a", "main"), ok);
  ASSERT_EQ(other.put(relation, "b", "other"), ok);
  auto finish = [&](TestSession& session, std::string_view key) {
    TransactionStatus status = session.put(relation, key, "crossed");
    if (status == ok) return session.commit();
    session.transaction.abort();
    return status;
  };
  TransactionStatus others = ok;
  std::thread thread([&] { others = finish(other, "a"); });
  TransactionStatus mains = finish(main, "b");
  thread.join();
  EXPECT_TRUE((mains == ok && others == deadlock) || (mains == deadlock && others == ok))
      << name_of(mains) << " " << name_of(others);
  std::string survivor = mains == ok ? "a=main b=crossed" : "a=crossed b=other";
  EXPECT_EQ(main.peek(relation), survivor);
}

TEST_F(LockTest, ARingOfManyIsADeadlock) {
  constexpr int count = 5;
  for (int i = 0; i < count; ++i) main.store(relation, "ring" + std::to_string(i), "");
  std::atomic<int> holding = 0, victims = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      TestSession session(engine);
      session.settings.deadlock_timeout_us = 1000 + 500 * i;
      session.begin(TransactionMode::interactive);
      ASSERT_EQ(session.put(relation, "ring" + std::to_string(i), "mine"), ok);
      ++holding;
      while (holding != count) std::this_thread::yield();
      TransactionStatus status =
          session.put(relation, "ring" + std::to_string((i + 1) % count), "next");
      if (status == ok) {
        // Our own record's next one was written by a neighbour: validation holds all the same.
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

TEST_F(LockTest, WaitingEndsByTimeoutNoWaitAndCancellation) {
  main.begin(TransactionMode::interactive);
  ASSERT_EQ(main.put(relation, "a", "main"), ok);

  other.begin(TransactionMode::interactive);
  EXPECT_EQ(other.transaction.get(relation, "a", other.buffer, &other.row, ReadPurpose::for_update,
                                  {LockMode::update, WaitPolicy::no_wait}),
            lock_not_available);
  EXPECT_EQ(other.read(relation, "b"), "0");  // and goes on
  other.settings.lock_timeout_us = 2000;
  EXPECT_EQ(other.get(relation, "a", ReadPurpose::for_update), lock_timeout);
  other.transaction.abort();

  std::atomic<bool> cancel = false;
  other.settings = {&other.parker, &cancel};
  std::thread thread([&] {
    other.begin(TransactionMode::interactive);
    EXPECT_EQ(other.get(relation, "a", ReadPurpose::for_update), cancelled);
    other.transaction.abort();
  });
  wait_for_waiters(a, 1);
  cancel = true;
  other.parker.unpark();
  thread.join();
  EXPECT_EQ(engine.locks.waiters(LockTag::of(a)), 0u);
  EXPECT_EQ(main.commit(), ok);
}

TEST_F(LockTest, ARowChangedBetweenReadAndLockIsReadAgain) {
  main.begin(TransactionMode::interactive);
  ASSERT_EQ(main.get(relation, "a"), ok);
  other.store(relation, "a", "1");
  EXPECT_EQ(main.transaction.lock_row(&main.row, main.buffer), row_changed);
  EXPECT_EQ(main.row.row, "1");
  EXPECT_EQ(main.transaction.update(main.row, "2"), ok);
  EXPECT_EQ(main.transaction.end_statement(), ok);
  EXPECT_EQ(main.commit(), ok);

  main.begin(TransactionMode::interactive);
  ASSERT_EQ(main.get(relation, "a"), ok);
  other.drop(relation, "a");
  EXPECT_EQ(main.transaction.lock_row(&main.row, main.buffer), not_found);
  EXPECT_EQ(main.transaction.end_statement(), ok);
  EXPECT_EQ(main.commit(), ok);

  main.begin(TransactionMode::interactive);
  ASSERT_EQ(main.get(relation, "b"), ok);
  EXPECT_EQ(main.transaction.lock_row(&main.row, main.buffer), ok);
  EXPECT_EQ(main.row.row, "0");
  main.transaction.abort();
}

// Though all was found true together before (a portal's earlier pieces, a statement that gave way).
TEST_F(LockTest, ARowThatIsReadAgainIsJudgedWithAllOthers) {
  main.begin(TransactionMode::interactive);
  EXPECT_EQ(main.read(relation, "b"), "0");
  ASSERT_EQ(main.get(relation, "a"), ok);
  ASSERT_EQ(main.transaction.validate(), ok);
  other.store(relation, "b", "1");
  other.store(relation, "a", "1");
  EXPECT_EQ(main.transaction.lock_row(&main.row, main.buffer), row_changed);
  EXPECT_EQ(main.transaction.end_statement(), conflict_record);
  main.transaction.abort();
}

TEST_F(LockTest, ARowChangedSinceAnEarlierStatementIsAConflict) {
  main.begin(TransactionMode::interactive);
  ASSERT_EQ(main.get(relation, "a"), ok);
  RowRef earlier = main.row;
  ASSERT_EQ(main.transaction.end_statement(), ok);
  main.statement();
  other.store(relation, "a", "1");
  EXPECT_EQ(main.transaction.lock_row(&earlier, main.buffer), conflict_record);
  main.transaction.abort();

  main.begin(TransactionMode::interactive);
  EXPECT_EQ(main.read(relation, "a"), "1");
  ASSERT_EQ(main.transaction.end_statement(), ok);
  main.statement();
  other.store(relation, "a", "2");
  EXPECT_EQ(main.put(relation, "a", "3"), ok);  // the new read does not replace the old one:
  EXPECT_EQ(main.transaction.end_statement(), conflict_record);
  main.transaction.abort();
}

TEST_F(LockTest, AnInteractiveStatementValidatesAtItsEnd) {
  main.begin(TransactionMode::interactive);
  EXPECT_EQ(main.read(relation, "a"), "0");
  EXPECT_EQ(main.transaction.end_statement(), ok);
  main.statement();
  other.begin();
  EXPECT_EQ(other.put(relation, "a", "1"), ok);
  EXPECT_EQ(other.put(relation, "b", "1"), ok);
  EXPECT_EQ(other.commit(), ok);
  EXPECT_EQ(main.read(relation, "b"), "1");
  EXPECT_EQ(main.transaction.end_statement(), conflict_record);
}

// A row that was there when the transaction validated is deleted and unhooked, and its key is being
// inserted again: the placeholder has no epoch, and does not show that the row was absent then.
TEST_F(LockTest, AnInsertInProgressIsNoProofOfAnOldAbsence) {
  engine.epochs.advance();
  main.begin(TransactionMode::interactive);
  EXPECT_EQ(main.scan(relation), "a=0 b=0");
  ASSERT_EQ(main.transaction.end_statement(), ok);
  main.statement();
  other.store(relation, "a", "1");
  other.drop(relation, "b");
  engine.make_durable();
  other.worker.housekeep();
  TestSession third(engine);
  third.begin(TransactionMode::interactive);
  ASSERT_EQ(third.insert(relation, "b", "2"), ok);
  EXPECT_EQ(main.read(relation, "b"), "<not_found>");
  EXPECT_NE(main.transaction.end_statement(), ok);
  main.transaction.abort();
  third.transaction.abort();
}

TEST_F(LockTest, OldVersionsNeedNoSecondValidation) {
  engine.epochs.advance();
  main.begin(TransactionMode::interactive);
  EXPECT_EQ(main.scan(relation), "a=0 b=0");
  EXPECT_EQ(main.transaction.end_statement(),
            ok);  // validates at an epoch after that of b's version
  main.statement();
  other.store(relation, "a", "1");
  EXPECT_EQ(main.read(relation, "b"), "0");
  // Both reads were true at the first statement's end: no conflict yet.
  EXPECT_EQ(main.transaction.end_statement(), ok);
  main.statement();
  EXPECT_EQ(main.read(relation, "a"), "1");
  EXPECT_EQ(main.transaction.end_statement(), conflict_record);
}

TEST_F(LockTest, InsertsOfOneKeyWaitForEachOther) {
  main.begin(TransactionMode::interactive);
  ASSERT_EQ(main.insert(relation, "c", "main"), ok);
  Record* c = relation.tree().get("c").record;
  TransactionStatus second = ok;
  std::thread thread([&] {
    other.begin(TransactionMode::interactive);
    second = other.insert(relation, "c", "other");
    other.transaction.abort();
  });
  wait_for_waiters(c, 1);
  ASSERT_EQ(main.commit(), ok);
  thread.join();
  EXPECT_EQ(second, duplicate_key);

  main.begin(TransactionMode::interactive);
  ASSERT_EQ(main.insert(relation, "d", "main"), ok);
  Record* d = relation.tree().get("d").record;
  std::thread adopter([&] {
    other.begin(TransactionMode::interactive);
    EXPECT_EQ(other.insert(relation, "d", "other"), ok);
    EXPECT_EQ(other.commit(), ok);
  });
  wait_for_waiters(d, 1);
  main.transaction.abort();  // cannot unhook: the adopter has the intent by the time it is tried,
                             // or adopts afterwards
  adopter.join();
  EXPECT_EQ(main.peek(relation), "a=0 b=0 c=main d=other");
  engine.make_durable();
  main.worker.housekeep();
  EXPECT_EQ(main.peek(relation), "a=0 b=0 c=main d=other");
}

TEST_F(LockTest, APlaceholderUnderAForeignIntentIsUnhookedLater) {
  main.begin(TransactionMode::interactive);
  ASSERT_EQ(main.insert(relation, "c", "main"), ok);
  Record* c = relation.tree().get("c").record;
  std::thread thread([&] {
    other.begin();
    ASSERT_EQ(other.insert(relation, "c", "other"), must_wait);
    ASSERT_EQ(other.transaction.wait_for_intent(), ok);
    other.transaction.abort();
  });
  wait_for_waiters(c, 1);
  main.transaction.abort();
  thread.join();
  main.worker.housekeep();
  EXPECT_EQ(relation.tree().get("c").record, nullptr);
}

TEST_F(LockTest, HousekeepingDoesNotSpinOnABusyRecord) {
  other.drop(relation, "a");
  engine.make_durable();
  LockOwner& owner = engine.locks.take_owner();
  ASSERT_EQ(engine.locks.acquire(owner, a, LockMode::update, WaitPolicy::no_wait, {}), ok);
  EXPECT_FALSE(other.worker.housekeep());
  EXPECT_EQ(other.worker.unhooks().size(), 1u);
  {
    Pin pin(other.worker.reclaimer());
    engine.locks.release_locks(owner);
  }
  EXPECT_TRUE(other.worker.housekeep());
  EXPECT_EQ(relation.tree().get("a").record, nullptr);
  engine.locks.return_owner(owner);
}

TEST_F(LockTest, AOneShotThatBecomesInteractiveLocksWhatItWrote) {
  main.begin();
  ASSERT_EQ(main.put(relation, "a", "1"), ok);
  EXPECT_FALSE(a->tid_word().load().has_intent());
  EXPECT_EQ(main.transaction.become_interactive(), ok);
  EXPECT_TRUE(a->tid_word().load().has_intent());
  EXPECT_EQ(main.commit(), ok);
}

// ---- relations ----

}  // namespace
}  // namespace pgsilo
