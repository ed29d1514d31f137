// Advisory locks between sessions. What one session sees of its own: tests/sql/advisory_locks.slt.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/protocol/crowd.h"
#include "tests/protocol/monitoring_support.h"

namespace pgsilo::protocol_test {
namespace {

class AdvisoryLockTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (RawClient* client : {&one, &other, &third}) client->start();
    one.ask(query("drop table if exists advisory_test"));
    one.ask(query("create table advisory_test (id int primary key, v int)"));
    one.ask(query("insert into advisory_test values (1, 0), (2, 0)"));
  }
  void TearDown() override {
    for (RawClient* client : {&one, &other, &third}) client->ask(query("rollback"));
    for (RawClient* client : {&one, &other, &third}) client->ask(query("discard all"));
    one.ask(query("drop table if exists advisory_test"));
  }
  // "t" or "f".
  static std::string call(RawClient& client, const std::string& function) {
    return client.first_value("select pg_" + function);
  }
  // Whether somebody else may have it.
  bool is_free(const std::string& key) {
    if (call(third, "try_advisory_lock(" + key + ")") != "t") return false;
    EXPECT_EQ(call(third, "advisory_unlock(" + key + ")"), "t");
    return true;
  }
  void await_wait(const RawClient& client) {
    observer.await(client, "wait_event_type = 'Lock' and wait_event = 'advisory'");
  }

  RawClient one, other, third;
  Observer observer;
};

TEST_F(AdvisoryLockTest, SharedAndExclusive) {
  EXPECT_EQ(call(one, "try_advisory_lock(1)"), "t");
  for (const char* function : {"try_advisory_lock(1)", "try_advisory_lock_shared(1)",
                               "try_advisory_xact_lock(1)", "try_advisory_xact_lock_shared(1)"}) {
    EXPECT_EQ(call(other, function), "f") << function;
  }
  EXPECT_EQ(call(other, "try_advisory_lock(0, 1)"), "t");  // other locks than those of one key
  EXPECT_EQ(call(one, "try_advisory_lock(0, 1)"), "f");
  EXPECT_EQ(call(other, "advisory_unlock(1)"), "f");
  EXPECT_EQ(call(one, "advisory_unlock(1)"), "t");
  EXPECT_EQ(call(one, "try_advisory_lock_shared(1)"), "t");
  EXPECT_EQ(call(other, "try_advisory_lock_shared(1)"), "t");
  EXPECT_EQ(call(other, "try_advisory_lock(1)"), "f");
  EXPECT_EQ(call(one, "advisory_unlock(1)"), "f");  // it has the other kind
  EXPECT_EQ(call(one, "advisory_unlock_shared(1)"), "t");
  EXPECT_EQ(call(other, "try_advisory_lock(1)"), "t");
  EXPECT_EQ(call(one, "try_advisory_lock_shared(1)"), "f");
  EXPECT_EQ(call(other, "advisory_unlock(1)"), "t");
  EXPECT_EQ(call(one, "try_advisory_lock_shared(1)"), "t");  // beside the other's shared one
}

TEST_F(AdvisoryLockTest, UnlockingWhatOneHasNotIsAWarning) {
  one.send(query("select pg_advisory_unlock(1), pg_advisory_unlock_shared(2, 3)"));
  std::vector<Message> answer = one.read_answer();
  std::string warnings;
  for (const Message& message : answer) {
    if (message.type != 'N') continue;
    warnings += field(message, 'S') + " " + field(message, 'C') + " " + field(message, 'M') + "\n";
  }
  EXPECT_EQ(warnings,
            "WARNING 01000 you don't own a lock of type ExclusiveLock\n"
            "WARNING 01000 you don't own a lock of type ShareLock\n");
  EXPECT_EQ(first_column(answer), "f ");
}

TEST_F(AdvisoryLockTest, TheSessionsAreCountedAndOutliveTransactions) {
  one.ask(query("begin"));
  call(one, "advisory_lock(1)");
  one.ask(query("rollback"));
  one.ask(query("begin"));
  call(one, "advisory_lock(1)");
  one.ask(query("commit"));
  EXPECT_FALSE(is_free("1"));
  EXPECT_EQ(call(one, "advisory_unlock(1)"), "t");
  EXPECT_FALSE(is_free("1"));
  EXPECT_EQ(call(one, "advisory_unlock(1)"), "t");
  EXPECT_TRUE(is_free("1"));
  EXPECT_EQ(call(one, "advisory_unlock(1)"), "f");
  // An error after the lock does not take it back.
  EXPECT_EQ(one.ask(query("select pg_advisory_lock(2), 1 / v from advisory_test")), "TE(22012)ZI");
  EXPECT_FALSE(is_free("2"));
  EXPECT_EQ(call(one, "advisory_unlock(2)"), "t");
  EXPECT_TRUE(is_free("2"));
}

TEST_F(AdvisoryLockTest, TheTransactionsGoWithIt) {
  for (const char* end : {"commit", "rollback"}) {
    one.ask(query("begin"));
    call(one, "advisory_xact_lock(1)");
    call(one, "advisory_xact_lock(1)");
    EXPECT_FALSE(is_free("1"));
    EXPECT_EQ(call(one, "advisory_unlock(1)"), "f");
    one.ask(query(end));
    EXPECT_TRUE(is_free("1"));
  }
  one.ask(query("begin"));
  call(one, "advisory_xact_lock(1)");
  EXPECT_EQ(one.column("select 1 / 0"), "22012 ");
  EXPECT_TRUE(is_free("1"));
  one.ask(query("rollback"));
  one.ask(query("begin"));
  call(one, "advisory_xact_lock(1)");
  one.ask(query("savepoint a"));
  call(one, "advisory_xact_lock(1)");
  call(one, "advisory_xact_lock(2)");
  EXPECT_EQ(one.column("select 1 / 0"), "22012 ");
  EXPECT_TRUE(is_free("2"));
  EXPECT_FALSE(is_free("1"));
  one.ask(query("rollback to a"));
  call(one, "advisory_xact_lock(3)");
  EXPECT_FALSE(is_free("3"));
  one.ask(query("rollback to a"));
  EXPECT_TRUE(is_free("3"));
  EXPECT_FALSE(is_free("1"));
}

TEST_F(AdvisoryLockTest, OnesOwnNeverConflict) {
  call(one, "advisory_lock(1)");
  other.send(query("select pg_advisory_lock(1)"));
  await_wait(other);
  one.ask(query("begin"));
  for (const char* function : {"advisory_xact_lock(1)", "advisory_xact_lock_shared(1)",
                               "advisory_lock_shared(1)", "advisory_lock(1)"}) {
    EXPECT_EQ(call(one, function), "") << function;
  }
  EXPECT_EQ(call(one, "advisory_unlock_shared(1)"), "t");
  EXPECT_EQ(call(one, "advisory_unlock(1)"), "t");
  EXPECT_EQ(call(one, "advisory_unlock(1)"), "t");
  EXPECT_TRUE(other.is_silent());  // the transaction has it still
  one.ask(query("commit"));
  EXPECT_EQ(other.answer(), "TDCZI");
}

TEST_F(AdvisoryLockTest, TheEndOfASessionAndDiscardAllLetGo) {
  auto gone = std::make_unique<RawClient>();
  gone->start();
  call(*gone, "advisory_lock(1)");
  call(one, "advisory_lock(2)");
  call(one, "advisory_lock(2)");
  one.ask(query("begin"));
  call(one, "advisory_xact_lock(3)");
  call(one, "advisory_unlock_all()");
  EXPECT_TRUE(is_free("2"));
  EXPECT_FALSE(is_free("3"));
  one.ask(query("commit"));
  call(one, "advisory_lock(2)");
  EXPECT_EQ(one.ask(query("discard all")), "CZI");
  EXPECT_TRUE(is_free("2"));
  other.send(query("select pg_advisory_lock(1)"));
  EXPECT_TRUE(other.is_silent());
  gone.reset();
  EXPECT_EQ(other.answer(), "TDCZI");
}

TEST_F(AdvisoryLockTest, WaitsEnd) {
  call(one, "advisory_lock(1)");
  other.ask(query("set lock_timeout = '30ms'"));
  EXPECT_EQ(other.column("select pg_advisory_lock(1)"), "55P03 ");
  EXPECT_EQ(other.column("select pg_advisory_xact_lock_shared(1)"), "55P03 ");
  other.ask(query("set lock_timeout = 0"));
  other.ask(query("set statement_timeout = '30ms'"));
  EXPECT_EQ(other.column("select pg_advisory_lock(1)"), "57014 ");
  other.ask(query("set statement_timeout = 0"));
  other.send(query("select pg_advisory_lock(1)"));
  await_wait(other);
  EXPECT_EQ(observer.client().first_value("select pg_blocking_pids(" +
                                          std::to_string(other.process) + ")"),
            "{" + std::to_string(one.process) + "}");
  EXPECT_EQ(observer.client().column("select concat_ws(' ', mode, objid, granted, fastpath, "
                                     "waitstart is null) from pg_locks where locktype = "
                                     "'advisory' order by granted"),
            "ExclusiveLock 1 f f f ExclusiveLock 1 t f t ");
  EXPECT_EQ(observer.cancel(other), "t");
  EXPECT_EQ(first_column(other.read_answer()), "57014 ");
  other.send(query("select pg_advisory_lock(1)"));
  await_wait(other);
  third.send(query("select pg_advisory_lock_shared(1)"));
  await_wait(third);
  call(one, "advisory_unlock(1)");
  EXPECT_EQ(other.answer(), "TDCZI");
  EXPECT_TRUE(third.is_silent());
  call(other, "advisory_unlock(1)");
  EXPECT_EQ(third.answer(), "TDCZI");
}

TEST_F(AdvisoryLockTest, DeadlocksHaveOneVictim) {
  one.ask(query("set deadlock_timeout = '100ms'"));
  other.ask(query("set deadlock_timeout = '1min'"));
  call(one, "advisory_lock(1)");
  call(other, "advisory_lock(2)");
  other.send(query("select pg_advisory_lock(1)"));
  await_wait(other);
  EXPECT_EQ(one.column("select pg_advisory_lock(2)"), "40P01 ");
  EXPECT_TRUE(other.is_silent());  // the victim still has what it had
  call(one, "advisory_unlock(1)");
  EXPECT_EQ(other.answer(), "TDCZI");
}

TEST_F(AdvisoryLockTest, DeadlocksThroughRowsAreFound) {
  one.ask(query("set deadlock_timeout = '100ms'"));
  other.ask(query("set deadlock_timeout = '1min'"));
  // The victim is a statement outside of a block.
  call(one, "advisory_lock(1)");
  other.ask(query("begin"));
  EXPECT_EQ(other.ask(query("update advisory_test set v = 1 where id = 1")), "CZT");
  other.send(query("select pg_advisory_lock(1)"));
  await_wait(other);
  EXPECT_EQ(one.ask(query("update advisory_test set v = 2 where id = 1")), "E(40P01)ZI");
  call(one, "advisory_unlock(1)");
  EXPECT_EQ(other.answer(), "TDCZT");
  EXPECT_EQ(other.ask(query("commit")), "CZI");
  call(other, "advisory_unlock(1)");
  // The victim is a block.
  call(other, "advisory_lock(1)");
  one.ask(query("begin"));
  EXPECT_EQ(one.ask(query("update advisory_test set v = 3 where id = 1")), "CZT");
  other.send(query("update advisory_test set v = 4 where id = 1"));
  EXPECT_TRUE(other.is_silent());
  EXPECT_EQ(one.column("select pg_advisory_xact_lock(1)"), "40P01 ");
  EXPECT_EQ(other.answer(), "CZI");
}

// Statements that meet a conflict while they run, and are run again by the server where it can.
class AdvisoryRetryTest : public AdvisoryLockTest {
 protected:
  // Changes what a statement of `one` has read by now.
  void disturb() {
    observer.await(one, "wait_event is not null and state = 'active'");
    EXPECT_EQ(third.ask(query("update advisory_test set v = v + 1 where id = 1")), "CZI");
  }
  // PostgreSQL shows the rows of when the statement began.
  static std::string fresh(const std::string& value) { return runs_on_postgres() ? "0" : value; }
};

TEST_F(AdvisoryRetryTest, ALockCountsOnce) {
  for (const char* begin : {"", "begin isolation level read committed", "begin"}) {
    third.ask(query("update advisory_test set v = 0"));
    call(other, "advisory_lock(1)");
    if (*begin != '\0') one.ask(query(begin));
    one.send(query("select concat(pg_advisory_lock(1), v) from advisory_test where id = 1"));
    disturb();
    call(other, "advisory_unlock(1)");
    EXPECT_EQ(first_column(one.read_answer()), fresh("1") + " ") << begin;
    EXPECT_FALSE(is_free("1"));
    EXPECT_EQ(call(one, "advisory_unlock(1)"), "t");
    EXPECT_TRUE(is_free("1"));
    EXPECT_EQ(call(one, "advisory_unlock(1)"), "f");
    one.ask(query("commit"));
  }
}

TEST_F(AdvisoryRetryTest, AnUnlockCountsOnce) {
  for (const char* begin : {"", "begin isolation level read committed", "begin"}) {
    third.ask(query("update advisory_test set v = 0"));
    call(one, "advisory_lock(1)");
    if (*begin != '\0') one.ask(query(begin));
    one.send(
        query("select concat(pg_advisory_unlock(1), pg_sleep(0.2), v)"
              " from advisory_test where id = 1"));
    disturb();
    std::vector<Message> answer = one.read_answer();
    EXPECT_EQ(first_column(answer), "t" + fresh("1") + " ") << begin;
    for (const Message& message : answer) EXPECT_NE(message.type, 'N') << begin;
    EXPECT_TRUE(is_free("1"));
    one.ask(query("commit"));
  }
}

TEST_F(AdvisoryRetryTest, TheTransactionsAreTakenAgain) {
  one.ask(query("begin isolation level read committed"));
  one.send(
      query("select concat(pg_advisory_xact_lock(1), pg_sleep(0.2), v)"
            " from advisory_test where id = 1"));
  disturb();
  EXPECT_EQ(first_column(one.read_answer()), fresh("1") + " ");
  EXPECT_FALSE(is_free("1"));
  one.ask(query("commit"));
  EXPECT_TRUE(is_free("1"));
}

// A block that came whole, and may run again whole when its COMMIT meets a conflict.
TEST_F(AdvisoryRetryTest, WhatABlockDidIsDoneOnce) {
  auto block = [&](const std::string& call) {
    one.send(
        query("begin isolation level serializable; select v from advisory_test where id = 1; "
              "select pg_" +
              call +
              "; select pg_sleep(0.3); update advisory_test set v = v + 1 where id = 2; "
              "commit"));
    disturb();
    one.read_answer();
  };
  block("advisory_lock(1)");
  EXPECT_EQ(call(one, "advisory_unlock(1)"), "t");
  EXPECT_EQ(call(one, "advisory_unlock(1)"), "f");
  for (int i = 0; i < 2; ++i) call(one, "advisory_lock(1)");
  block("advisory_unlock(1)");
  EXPECT_FALSE(is_free("1"));
  EXPECT_EQ(call(one, "advisory_unlock(1)"), "t");
  EXPECT_TRUE(is_free("1"));
}

// They are evaluated before the statement runs, and not again with it.
TEST_F(AdvisoryRetryTest, WhatTheArgumentsOfExecuteTookStays) {
  one.ask(query("set default_transaction_isolation = 'read committed'"));
  EXPECT_EQ(one.ask(query("prepare p (text) as select concat($1, pg_sleep(0.2), (select b.v from "
                          "advisory_test b where b.id = a.id)) from advisory_test a where id = 1")),
            "CZI");
  one.send(query("execute p(pg_try_advisory_lock(1)::text); select 1"));
  disturb();
  EXPECT_EQ(first_column(one.read_answer()), "true" + fresh("1") + " 1 ");
  EXPECT_FALSE(is_free("1"));
  EXPECT_EQ(call(one, "advisory_unlock(1)"), "t");
}

// Nobody is kept from what is let go of by one who waits for another lock. What others may have by
// then cannot be had back.
TEST_F(AdvisoryRetryTest, AnUnlockBeforeAWaitStands) {
  call(one, "advisory_lock(1)");
  call(other, "advisory_lock(2)");
  one.send(
      query("select concat(pg_advisory_unlock(1), pg_advisory_lock(2), v)"
            " from advisory_test where id = 1"));
  await_wait(one);
  EXPECT_TRUE(is_free("1"));
  disturb();
  call(other, "advisory_unlock(2)");
  EXPECT_EQ(first_column(one.read_answer()), runs_on_postgres() ? "t0 " : "40001 ");
  EXPECT_FALSE(is_free("2"));
  EXPECT_EQ(call(one, "advisory_unlock(2)"), "t");
  EXPECT_TRUE(is_free("2"));
}

// Of several sessions with conflicts of all kinds: the lock makes a critical section.
TEST_F(AdvisoryRetryTest, OneAtATime) {
  constexpr int clients = 6, rounds = 40;
  hammer(clients, rounds, [](RawClient& client, int, int round) {
    bool in_block = round % 3 == 0;
    std::string lock = in_block ? "pg_advisory_xact_lock(9)" : "pg_advisory_lock(9)";
    if (in_block) client.ask(query("begin isolation level read committed"));
    // It reads what the others change.
    client.first_value("select concat(" + lock + ") from advisory_test where id = 2");
    std::string v = client.first_value("select v from advisory_test where id = 2");
    std::string next = std::to_string(std::stoi(v) + 1);
    std::string said = client.ask(query("update advisory_test set v = " + next + " where id = 2"));
    bool is_done = said == (in_block ? "CZT" : "CZI");
    EXPECT_TRUE(is_done) << said;
    if (in_block) {
      client.ask(query("commit"));
    } else {
      EXPECT_EQ(call(client, "advisory_unlock(9)"), "t") << "not held";
    }
    return is_done;
  });
  EXPECT_EQ(one.first_value("select v from advisory_test where id = 2"),
            std::to_string(clients * rounds));
  EXPECT_EQ(one.first_value("select count(*) from pg_locks where locktype = 'advisory'"), "0");
}

}  // namespace
}  // namespace pgsilo::protocol_test
