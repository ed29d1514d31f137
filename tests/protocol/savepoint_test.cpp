// What savepoints do to portals and to locks. What they do to rows, tables and settings:
// tests/sql/savepoints.slt.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "tests/protocol/raw_client.h"

namespace pgsilo::protocol_test {
namespace {

TEST(SavepointTest, PortalsFromBeforeItStay) {
  RawClient client;
  client.start();
  EXPECT_EQ(client.ask(query("begin")), "CZT");
  client.ask(parse("numbers", "select n from generate_series(1, 9) n") + bind("outer", "numbers") +
             execute("outer", 3) + sync());
  EXPECT_EQ(client.ask(query("savepoint a")), "CZT");
  client.send(bind("inner", "numbers") + execute("inner", 2) + execute("outer", 2) + sync());
  EXPECT_EQ(first_column(client.read_answer()), "1 2 4 5 ");
  EXPECT_EQ(client.ask(query("select nosuch")), "E(42703)ZE");
  // Not in a failed block.
  EXPECT_EQ(client.ask(execute("outer", 1) + sync()), "E(25P02)ZE");
  EXPECT_EQ(client.ask(query("rollback to a")), "CZT");
  client.send(execute("outer", 3) + sync());
  EXPECT_EQ(first_column(client.read_answer()), "6 7 8 ");
  EXPECT_EQ(client.ask(execute("inner", 1) + sync()), "E(34000)ZE");
  EXPECT_EQ(client.ask(query("rollback to a")), "CZT");
  EXPECT_EQ(client.ask(query("release a")), "CZT");
  client.send(execute("outer", 3) + sync());
  EXPECT_EQ(first_column(client.read_answer()), "9 ");
  EXPECT_EQ(client.ask(query("commit")), "CZI");
}

// A portal sees the rows of when it was opened, whatever was unwound since.
TEST(SavepointTest, PortalsSeeTheRowsOfTheirTime) {
  RawClient client;
  client.start();
  client.ask(query("drop table if exists savepoint_test"));
  client.ask(query("create table savepoint_test (id int primary key)"));
  client.ask(query("insert into savepoint_test values (1), (3)"));
  client.ask(query("begin"));
  client.ask(query("insert into savepoint_test values (2), (4)"));
  client.ask(parse("rows", "select id from savepoint_test order by id") + bind("outer", "rows") +
             execute("outer", 1) + sync());
  client.ask(query("savepoint a"));
  client.ask(query("delete from savepoint_test where id > 2"));
  client.ask(query("insert into savepoint_test values (5)"));
  client.ask(query("rollback to a"));
  client.ask(query("delete from savepoint_test where id = 4"));
  client.send(execute("outer") + sync());
  EXPECT_EQ(first_column(client.read_answer()), "2 3 4 ");
  EXPECT_EQ(client.ask(query("commit")), "CZI");
  client.ask(query("drop table savepoint_test"));
}

// What a statement that fails has read was never looked at: the next one must not rest on it.
TEST(SavepointTest, WhatIsReadBehindAFailedStatementFitsTogetherWithAllBefore) {
  RawClient client, other, holder;
  for (RawClient* each : {&client, &other, &holder}) each->start();
  client.ask(query("drop table if exists savepoint_test"));
  client.ask(query("create table savepoint_test (id int primary key)"));
  client.ask(query("insert into savepoint_test select generate_series(1, 1000)"));
  holder.ask(query("begin; select 1 from savepoint_test where id = 25 for update"));
  client.ask(query("begin isolation level serializable"));
  EXPECT_EQ(client.column("select id from savepoint_test where id = 20"), "20 ");
  EXPECT_EQ(other.ask(query("delete from savepoint_test where id = 20")), "CZI");
  std::this_thread::sleep_for(std::chrono::milliseconds(300));  // until its record has gone
  client.ask(query("savepoint a"));
  std::string failed =
      client.ask(query("select id from savepoint_test where id between 15 and 25 "
                       "for update nowait"));
  EXPECT_TRUE(failed.ends_with("E(55P03)ZE") || failed.ends_with("E(40001)ZE")) << failed;
  client.ask(query("rollback to a"));
  std::string again = client.column("select id from savepoint_test where id = 20");
  EXPECT_TRUE(again == "20 " || again == "40001 ") << again;
  for (RawClient* each : {&client, &holder}) each->ask(query("rollback"));
  client.ask(query("drop table savepoint_test"));
}

// Two rows, and two sessions of which one will be the victim.
class SavepointDeadlockTest : public ::testing::Test {
 protected:
  void SetUp() override {
    victim.start();
    other.start();
    victim.ask(query("drop table if exists savepoint_test"));
    victim.ask(query("create table savepoint_test (id int primary key, n int)"));
    victim.ask(query("insert into savepoint_test values (1, 0), (2, 0)"));
    victim.ask(query("set deadlock_timeout = '100ms'"));
    other.ask(query("set deadlock_timeout = '1min'"));
  }
  void TearDown() override { other.ask(query("drop table savepoint_test")); }
  std::string rows() {
    other.send(query("select n from savepoint_test order by id"));
    return first_column(other.read_answer());
  }

  RawClient victim, other;
};

TEST_F(SavepointDeadlockTest, EndsADeadlock) {
  victim.ask(query("begin"));
  victim.ask(query("savepoint a"));
  EXPECT_EQ(victim.ask(query("update savepoint_test set n = 1 where id = 1")), "CZT");
  other.ask(query("begin"));
  EXPECT_EQ(other.ask(query("update savepoint_test set n = 2 where id = 2")), "CZT");
  other.send(query("update savepoint_test set n = 2 where id = 1"));
  EXPECT_TRUE(other.is_silent());
  EXPECT_EQ(victim.ask(query("update savepoint_test set n = 1 where id = 2")), "E(40P01)ZE");
  // Before the victim's client has said anything.
  ASSERT_FALSE(other.is_silent(2000));
  EXPECT_EQ(other.answer(), "CZT");
  EXPECT_EQ(victim.ask(query("rollback to a")), "CZT");
  EXPECT_EQ(victim.ask(query("commit")), "CZI");
  EXPECT_EQ(other.ask(query("commit")), "CZI");
  EXPECT_EQ(rows(), "2 2 ");
}

// A lock from before the savepoint that was only strengthened since.
TEST_F(SavepointDeadlockTest, WeakensWhatWasStrengthened) {
  victim.ask(query("begin"));
  victim.ask(query("select from savepoint_test where id = 1 for key share"));
  victim.ask(query("savepoint a"));
  EXPECT_EQ(victim.ask(query("delete from savepoint_test where id = 1")), "CZT");
  other.ask(query("begin"));
  EXPECT_EQ(other.ask(query("update savepoint_test set n = 2 where id = 2")), "CZT");
  other.send(query("update savepoint_test set n = 2 where id = 1"));
  EXPECT_TRUE(other.is_silent());
  EXPECT_EQ(victim.ask(query("update savepoint_test set n = 1 where id = 2")), "E(40P01)ZE");
  ASSERT_FALSE(other.is_silent(2000));
  EXPECT_EQ(other.answer(), "CZT");
  EXPECT_EQ(victim.ask(query("rollback to a")), "CZT");
  // The one from before is still there.
  other.ask(query("commit"));
  other.ask(query("set lock_timeout = '20ms'"));
  EXPECT_EQ(other.ask(query("delete from savepoint_test where id = 1")), "E(55P03)ZI");
  victim.ask(query("rollback"));
  EXPECT_EQ(rows(), "2 2 ");
}

}  // namespace
}  // namespace pgsilo::protocol_test
