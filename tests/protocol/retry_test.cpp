// One-shots meet each other: whatever runs outside of a block is run again inside the server until
// it succeeds, so that no client sees 40001, and every one counts exactly once.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>

#include "tests/protocol/crowd.h"
#include "tests/protocol/monitoring_support.h"
#include "tests/protocol/raw_client.h"

namespace pgsilo::protocol_test {
namespace {

constexpr int clients = 8;
constexpr int rounds = 60;

class RetryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    control.start();
    control.ask(query("drop table if exists retry_test"));
    ASSERT_EQ(control.ask(query("create table retry_test (id int primary key, v int)")), "CZI");
    ASSERT_EQ(control.ask(query("insert into retry_test values (1, 0), (2, 0)")), "CZI");
  }
  void TearDown() override { control.ask(query("drop table if exists retry_test")); }
  // Every client sends `bytes(client, round)` and must get `answer`.
  void hammer(const std::function<std::string(int, int)>& bytes, const std::string& preparation,
              const std::string& answer) {
    protocol_test::hammer(clients, rounds, [&](RawClient& client, int index, int round) {
      if (round == 0 && !preparation.empty()) client.ask(preparation);
      std::string said = client.ask(bytes(index, round));
      EXPECT_EQ(said, answer);
      return said == answer;
    });
  }
  RawClient control;
};

TEST_F(RetryTest, SimpleUpdatesOfOneRow) {
  hammer([](int, int) { return query("update retry_test set v = v + 1 where id = 1"); }, "", "CZI");
  EXPECT_EQ(control.first_value("select v from retry_test where id = 1"),
            std::to_string(clients * rounds));
}

TEST_F(RetryTest, PreparedUpdatesOfOneRow) {
  hammer([](int, int) { return bind("", "s", {"1"}) + execute() + sync(); },
         parse("s", "update retry_test set v = v + $1 where id = 1") + sync(), "2CZI");
  EXPECT_EQ(control.first_value("select v from retry_test where id = 1"),
            std::to_string(clients * rounds));
}

TEST_F(RetryTest, PipelinesUpToSync) {
  // Parse and a named statement inside of the pipeline: a second run finds what the first one
  // found.
  hammer(
      [](int, int) {
        return parse("n", "update retry_test set v = v + $1 where id = $2 returning v") +
               bind("", "n", {"1", "1"}) + describe('P') + execute() + bind("", "n", {"1", "2"}) +
               execute() + close_message('S', "n") + sync();
      },
      "", "12TDC2DC3ZI");
  EXPECT_EQ(control.first_value("select v from retry_test where id = 1"),
            std::to_string(clients * rounds));
  EXPECT_EQ(control.first_value("select v from retry_test where id = 2"),
            std::to_string(clients * rounds));
}

TEST_F(RetryTest, QueriesOfSeveralStatements) {
  hammer(
      [](int, int) {
        return query(
            "update retry_test set v = v + 1 where id = 1; select v from retry_test where id = 1; "
            "update retry_test set v = v + 1 where id = 2");
      },
      "", "CTDCCZI");
  EXPECT_EQ(control.first_value("select v from retry_test where id = 1"),
            std::to_string(clients * rounds));
}

TEST_F(RetryTest, InsertsOfTheNextNumber) {
  hammer([](int,
            int) { return query("insert into retry_test select max(id) + 1, 0 from retry_test"); },
         "", "CZI");
  EXPECT_EQ(control.first_value("select count(*) from retry_test"),
            std::to_string(clients * rounds + 2));
  EXPECT_EQ(control.first_value("select max(id) from retry_test"),
            std::to_string(clients * rounds + 2));
}

TEST_F(RetryTest, OneShotsBesideABlockWaitForIt) {
  RawClient block;
  block.start();
  ASSERT_EQ(block.ask(query("begin")), "CZT");
  ASSERT_EQ(block.ask(query("update retry_test set v = 100 where id = 1")), "CZT");
  RawClient waiting;
  waiting.start();
  waiting.send(query("update retry_test set v = v + 1 where id = 1"));
  EXPECT_TRUE(waiting.is_silent());
  ASSERT_EQ(block.ask(query("commit")), "CZI");
  EXPECT_EQ(waiting.answer(), "CZI");
  EXPECT_EQ(control.first_value("select v from retry_test where id = 1"), "101");
}

TEST_F(RetryTest, AWaitForALockMayBeCancelledOrLimited) {
  RawClient block;
  block.start();
  ASSERT_EQ(block.ask(query("begin; update retry_test set v = 100 where id = 1")), "CCZT");
  RawClient waiting;
  waiting.start();
  ASSERT_EQ(waiting.ask(query("set lock_timeout = '30ms'")), "CZI");
  EXPECT_EQ(waiting.ask(query("update retry_test set v = v + 1 where id = 1")), "E(55P03)ZI");
  ASSERT_EQ(waiting.ask(query("set lock_timeout = 0; set statement_timeout = '30ms'")), "CCZI");
  EXPECT_EQ(waiting.ask(query("update retry_test set v = v + 1 where id = 1")), "E(57014)ZI");
  ASSERT_EQ(waiting.ask(query("set statement_timeout = 0")), "CZI");
  waiting.send(query("update retry_test set v = v + 1 where id = 1"));
  EXPECT_TRUE(waiting.is_silent());
  RawClient canceller;
  canceller.send(int32(16) + int32(80877102) + int32(waiting.process) + int32(waiting.secret));
  EXPECT_EQ(waiting.answer(), "E(57014)ZI");
  EXPECT_EQ(waiting.ask(query("select 1")), "TDCZI");
  ASSERT_EQ(block.ask(query("rollback")), "CZI");
}

std::string extended(const std::string& sql) {
  return parse("", sql) + bind("", "", {}) + execute();
}

// A block inside of a pipeline, and a statement behind it. What has been answered as committed does
// not run again, whatever the statement behind it meets.
TEST_F(RetryTest, ABlockOfAPipelineRunsOnce) {
  std::atomic<int> blocks = 0;
  protocol_test::hammer(clients, rounds, [&blocks](RawClient& client, int, int) {
    std::string said =
        client.ask(extended("begin") + extended("select v from retry_test where id = 2") +
                   extended("update retry_test set v = v + 1 where id = 1") + extended("commit") +
                   extended("update retry_test set v = v + 1 where id = 2") + sync());
    if (said == "12C12DC12C12C12CZI") {
      ++blocks;
      return true;
    }
    // The block failed, at its COMMIT or before.
    if (said.ends_with("E(40001)ZE")) said = client.ask(query("rollback"));
    bool failed = said == "CZI" || said.ends_with("E(40001)ZI");
    EXPECT_TRUE(failed) << said;
    return failed;
  });
  EXPECT_GT(blocks, 0);
  EXPECT_EQ(control.first_value("select v from retry_test where id = 1"), std::to_string(blocks));
  EXPECT_EQ(control.first_value("select v from retry_test where id = 2"), std::to_string(blocks));
}

// Write skew: each block changes what the other has read. The second COMMIT fails, once, and says
// so.
TEST_F(RetryTest, AConflictMetByCommitIsToldAndEndsTheBlock) {
  const std::string commits[] = {query("commit"),
                                 parse("", "commit") + bind("", "", {}) + execute() + sync()};
  const std::string answers[] = {"E(40001)ZI", "12E(40001)ZI"};
  for (int i = 0; i < 2; ++i) {
    RawClient first, second;
    first.start();
    second.start();
    ASSERT_EQ(first.ask(query("begin isolation level serializable")), "CZT");
    ASSERT_EQ(first.ask(query("select v from retry_test where id = 1")), "TDCZT");
    ASSERT_EQ(first.ask(query("update retry_test set v = 7 where id = 2")), "CZT");
    ASSERT_EQ(second.ask(query("begin isolation level serializable")), "CZT");
    ASSERT_EQ(second.ask(query("select v from retry_test where id = 2")), "TDCZT");
    ASSERT_EQ(second.ask(query("update retry_test set v = 8 where id = 1")), "CZT");
    ASSERT_EQ(second.ask(query("commit")), "CZI");
    EXPECT_EQ(first.ask(commits[i]), answers[i]);
    EXPECT_TRUE(first.is_silent());
    EXPECT_EQ(first.ask(query("select 1")), "TDCZI");
    EXPECT_EQ(control.first_value("select v from retry_test where id = 2"), "0");
  }
}

TEST_F(RetryTest, BlocksOnOneRowQueueUp) {
  protocol_test::hammer(clients, rounds, [](RawClient& client, int, int) {
    client.ask(query("begin"));
    std::string said = client.ask(query("update retry_test set v = v + 1 where id = 1"));
    said += client.ask(query("commit"));
    EXPECT_EQ(said, "CZTCZI");
    return said == "CZTCZI";
  });
  EXPECT_EQ(control.first_value("select v from retry_test where id = 1"),
            std::to_string(clients * rounds));
}

// The statements have run and their answers are ready, then the commit meets a lock and waits. What
// ends the wait ends the transaction: of those answers nothing may be heard.
TEST_F(RetryTest, WhatEndsBeforeItsCommitIsAnsweredByTheErrorAlone) {
  if (runs_on_postgres()) GTEST_SKIP() << "an update locks its row at once there";
  std::string update = "update retry_test set v = v + 1 where id = 1 returning v";
  std::string sleep = "select pg_sleep(0.3)";
  for (const std::string& bytes :
       {query(update + "; " + sleep), parse("", update) + bind("", "") + execute() +
                                          parse("", sleep) + bind("", "") + execute() + sync()}) {
    for (bool ends : {false, true}) {
      RawClient one, other;
      Observer observer;
      one.start();
      other.start();
      one.send(bytes);
      observer.await(one, "wait_event = 'PgSleep'");
      EXPECT_EQ(other.ask(query("begin; update retry_test set v = 7 where id = 1")), "CCZT");
      observer.await(one, "wait_event_type = 'Lock'");
      EXPECT_EQ(ends ? observer.terminate(one) : observer.cancel(one), "t");
      EXPECT_EQ(one.answer(), ends ? "E(57P01)(end)" : "E(57014)ZI");
      if (!ends) {
        EXPECT_EQ(one.ask(query("select 1")), "TDCZI");
      }
      EXPECT_EQ(other.ask(query("rollback")), "CZI");
    }
  }
  EXPECT_EQ(control.first_value("select v from retry_test where id = 1"), "0");
}

// What it waited for has changed hands meanwhile, so that what it has read is not true any more.
// That does not matter to who is told that a wait has ended.
TEST_F(RetryTest, AWaitThatEndsIsToldAsThat) {
  for (const char* limit : {"lock_timeout", "statement_timeout", "cancel"}) {
    RawClient one, two, three;
    Observer observer;
    bool cancels = limit == std::string("cancel");
    for (RawClient* each : {&one, &two, &three}) {
      each->start();
      each->ask(query("begin isolation level read committed"));
    }
    ASSERT_EQ(one.ask(query("update retry_test set v = v where id = 1")), "CZT");
    two.send(query("delete from retry_test"));
    observer.await(two, "wait_event_type = 'Lock'");
    if (!cancels) three.ask(query(std::string("set local ") + limit + " = 700"));
    three.send(query("delete from retry_test"));
    observer.await(three, "wait_event_type = 'Lock'");
    ASSERT_EQ(one.ask(query("commit")), "CZI");
    EXPECT_EQ(two.answer(), "CZT");
    if (cancels) {
      EXPECT_EQ(observer.cancel(three), "t");
    }
    EXPECT_EQ(three.answer(), limit == std::string("lock_timeout") ? "E(55P03)ZE" : "E(57014)ZE");
    two.ask(query("rollback"));
    three.ask(query("rollback"));
  }
}

}  // namespace
}  // namespace pgsilo::protocol_test
