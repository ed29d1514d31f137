// One row that many change at once: who changes other columns disturbs nobody
// (docs/hot_records.md).
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/protocol/crowd.h"
#include "tests/protocol/monitoring_support.h"

namespace pgsilo::protocol_test {
namespace {

std::string call(const std::string& sql) { return parse("", sql) + bind("", "") + execute(); }

class HotRecordTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (RawClient* client : {&slow, &other}) client->start();
    other.ask(query("drop table if exists hot_test"));
    ASSERT_EQ(other.ask(query("create table hot_test (id int primary key, small smallint, n int, "
                              "big bigint, name text, limited int check (limited < 1000), k int)")),
              "CZI");
    ASSERT_EQ(other.ask(query("create index on hot_test (k)")), "CZI");
    ASSERT_EQ(other.ask(query("insert into hot_test values (1, 1, 1, 1, 'one', 1, 1)")), "CZI");
  }
  void TearDown() override { other.ask(query("drop table if exists hot_test")); }

  static std::string paused_update(const std::string& assignments,
                                   const std::string& where = "id = 1") {
    return "update hot_test set " + assignments + ", small = case when " + pause +
           " is not null then 5 end where " + where;
  }
  // Runs it with a pause in its middle, in which the row is changed. Whether it ran more than once.
  bool is_beaten(const std::string& assignments, const std::string& change,
                 const std::string& where = "id = 1") {
    if (!runs_on_postgres()) other.first_value("select pg_stat_reset()");
    while_paused(slow, query(paused_update(assignments, where)),
                 [&] { EXPECT_EQ(other.ask(query(change)), "CZI") << change; });
    EXPECT_EQ(slow.answer(), "CZI") << assignments;
    return other.first_value(
               "select sum(retries) > 0 from pgsilo_stat_statements where query "
               "like 'update hot_test set %small%'") == "t";
  }
  std::string row() {
    return other.first_value(
        "select concat_ws(' ', small, n, big, name, limited, k) from hot_test where id = 1");
  }
  RawClient slow, other;
  Observer observer;
};

TEST_F(HotRecordTest, ChangesOfOtherColumns) {
  if (runs_on_postgres()) GTEST_SKIP() << "it has no such statistics, and locks the row";
  EXPECT_FALSE(is_beaten("n = n + 10", "update hot_test set big = 5, name = 'two' where id = 1"));
  EXPECT_EQ(row(), "5 11 5 two 1 1");
  EXPECT_FALSE(is_beaten("big = n", "update hot_test set limited = 7 where id = 1"));
  EXPECT_EQ(row(), "5 11 11 two 7 1");
  EXPECT_FALSE(is_beaten("n = 3", "update hot_test set name = 'six' where id = 1",
                         "id = 1 and limited = 7"));
  EXPECT_EQ(row(), "5 3 11 six 7 1");
}

// A block that has read some columns does not mind who changes others.
TEST_F(HotRecordTest, BlocksRestOnWhatTheyRead) {
  if (runs_on_postgres()) GTEST_SKIP() << "at this level it reads a snapshot";
  other.ask(
      query("insert into hot_test select i, i, i, i, 'row', 1, i from generate_series(2, 9) i"));
  auto commits = [&](const std::string& read, const std::string& change) {
    slow.ask(query("discard all"));  // what was beaten before makes it careful
    slow.ask(query("begin isolation level serializable"));
    EXPECT_EQ(slow.ask(query(read)).find('E'), std::string::npos);
    EXPECT_EQ(other.ask(query(change)), "CZI") << change;
    std::string insert = slow.ask(query("insert into hot_test select max(id) + 1 from hot_test"));
    bool committed = insert == "CZT" && slow.ask(query("commit")) == "CZI";
    if (!committed) slow.ask(query("rollback"));
    return committed;
  };
  const std::string n = "update hot_test set n = n + 1 where id = 3";
  EXPECT_TRUE(commits("select name, k from hot_test where id = 3", n));
  EXPECT_TRUE(commits("select name from hot_test where k = 3", n));
  EXPECT_TRUE(commits("select name from hot_test where id < 5 and big > 1", n));
  EXPECT_TRUE(commits(
      "select a.name, b.n from hot_test a, hot_test b where a.id = 3 and b.id = a.k + 1", n));
  EXPECT_TRUE(commits("select count(*) from hot_test", n));
  EXPECT_TRUE(commits("select 1 from hot_test where id = 3", n));
  EXPECT_FALSE(commits("select n from hot_test where id = 3", n));
  EXPECT_FALSE(commits("select name from hot_test where id < 5 and n > 1", n));
  EXPECT_FALSE(commits("select * from hot_test where id = 3", n));
  EXPECT_FALSE(commits("select name from hot_test where id = 3",
                       "update hot_test set name = 'longer' where id = 3"));
  EXPECT_FALSE(commits("select name from hot_test where id = 3",
                       "update hot_test set name = null where id = 3"));
  EXPECT_FALSE(commits("select 1 from hot_test where id = 4", "delete from hot_test where id = 4"));
}

TEST_F(HotRecordTest, SumsGrowTogether) {
  if (runs_on_postgres()) GTEST_SKIP() << "it has no such statistics, and locks the row";
  EXPECT_FALSE(is_beaten("n = n + 10", "update hot_test set n = n + 5 where id = 1"));
  EXPECT_FALSE(is_beaten("n = 100 + n", "update hot_test set n = n - 1 where id = 1"));
  EXPECT_FALSE(is_beaten("big = big - 7::smallint", "update hot_test set big = 50 where id = 1"));
  EXPECT_EQ(row(), "5 115 43 one 1 1");
}

// What it uses, however it does.
TEST_F(HotRecordTest, ChangesOfWhatIsUsed) {
  if (runs_on_postgres()) GTEST_SKIP() << "it has no such statistics, and locks the row";
  const std::string change = "update hot_test set n = 9, limited = 8, name = 'new' where id = 1";
  EXPECT_TRUE(is_beaten("big = n", change));
  EXPECT_EQ(row(), "5 9 9 new 8 1");
  other.ask(query("update hot_test set n = 1, limited = 1"));
  EXPECT_TRUE(is_beaten("n = n * 2", change));
  EXPECT_EQ(row(), "5 18 9 new 8 1");
  other.ask(query("update hot_test set n = 1, limited = 1"));
  EXPECT_TRUE(is_beaten("n = n + n", change));
  EXPECT_EQ(row(), "5 18 9 new 8 1");
  other.ask(query("update hot_test set n = 1, limited = 1"));
  EXPECT_TRUE(is_beaten("limited = limited + 1", change));  // for its CHECK
  EXPECT_EQ(row(), "5 9 9 new 9 1");
  EXPECT_TRUE(is_beaten("n = 4", "update hot_test set limited = 2", "id = 1 and limited > 1"));
  EXPECT_EQ(row(), "5 4 9 new 2 1");
  EXPECT_TRUE(is_beaten("k = k + 1", "update hot_test set n = 1"));  // for its index
  EXPECT_EQ(row(), "5 1 9 new 2 2");
  EXPECT_TRUE(is_beaten("n = n + 1", "update hot_test set big = null"));  // for the null
  EXPECT_EQ(row(), "5 2 new 2 2");
  EXPECT_TRUE(is_beaten("n = n + 1", "update hot_test set name = 'longer'"));  // for the size
  EXPECT_EQ(row(), "5 3 longer 2 2");
}

TEST_F(HotRecordTest, ASumThatOverflowsByThen) {
  if (runs_on_postgres()) GTEST_SKIP() << "it locks the row";
  while_paused(slow, query(paused_update("n = n + 10")), [&] {
    EXPECT_EQ(other.ask(query("update hot_test set n = 2147483640 where id = 1")), "CZI");
  });
  EXPECT_EQ(slow.answer(), "E(22003)ZI");
  EXPECT_EQ(row(), "1 2147483640 1 one 1 1");
}

// In the answers of subqueries too.
TEST_F(HotRecordTest, WhatSubqueriesUse) {
  if (runs_on_postgres()) GTEST_SKIP() << "it has no such statistics, and locks the row";
  other.ask(query("drop table if exists hot_other"));
  other.ask(query("create table hot_other (id int primary key, v int)"));
  other.ask(query("insert into hot_other values (1, 100), (2, 200)"));
  const std::string set = "big = (select v from hot_other o where o.id = hot_test.n)";
  EXPECT_FALSE(is_beaten(set, "update hot_test set limited = 2 where id = 1"));
  EXPECT_EQ(row(), "5 1 100 one 2 1");
  EXPECT_TRUE(is_beaten(set, "update hot_test set n = 2 where id = 1"));
  EXPECT_EQ(row(), "5 2 200 one 2 1");
  const std::string where =
      "id = 1 and (select v from hot_other o where o.id = hot_test.limited) = 200";
  EXPECT_FALSE(is_beaten("n = 3", "update hot_test set big = 7 where id = 1", where));
  EXPECT_EQ(row(), "5 3 7 one 2 1");
  EXPECT_TRUE(is_beaten("n = 4", "update hot_test set limited = 1 where id = 1", where));
  EXPECT_EQ(row(), "5 3 7 one 1 1");
  // The row itself, found once more.
  EXPECT_TRUE(is_beaten("big = (select h.n from hot_test h where h.id = 1)",
                        "update hot_test set n = 8 where id = 1"));
  EXPECT_EQ(row(), "5 8 8 one 1 1");
  other.ask(query("drop table hot_other"));
}

// It has fewer columns until somebody writes it.
TEST_F(HotRecordTest, ARowOlderThanAColumn) {
  if (runs_on_postgres()) GTEST_SKIP() << "it has no such statistics, and locks the row";
  ASSERT_EQ(other.ask(query("alter table hot_test add late int default 3")), "CZI");
  const std::string change = "update hot_test set big = 7 where id = 1";
  EXPECT_TRUE(is_beaten("n = n + 1, late = late + 1", change));
  EXPECT_EQ(row(), "5 2 7 one 1 1");
  EXPECT_FALSE(is_beaten("n = n + 1, late = late + 1", change));
  EXPECT_EQ(row(), "5 3 7 one 1 1");
  EXPECT_EQ(other.first_value("select late from hot_test"), "5");
  ASSERT_EQ(other.ask(query("alter table hot_test add later int default 4")), "CZI");
  EXPECT_TRUE(is_beaten("n = later", "update hot_test set later = 9 where id = 1"));
  EXPECT_EQ(row(), "5 9 7 one 1 1");
}

TEST_F(HotRecordTest, ByASecondUniqueKey) {
  if (runs_on_postgres()) GTEST_SKIP() << "it has no such statistics, and locks the row";
  ASSERT_EQ(other.ask(query("create unique index on hot_test (limited)")), "CZI");
  EXPECT_FALSE(is_beaten("n = n + 10", "update hot_test set n = n + 5, big = 7 where limited = 1",
                         "limited = 1"));
  EXPECT_EQ(row(), "5 16 7 one 1 1");
  // It is not its key any more.
  EXPECT_TRUE(
      is_beaten("n = n + 10", "update hot_test set limited = 2 where id = 1", "limited = 1"));
  EXPECT_EQ(row(), "5 16 7 one 2 1");
}

TEST_F(HotRecordTest, WithForeignKeys) {
  if (runs_on_postgres()) GTEST_SKIP() << "it has no such statistics, and locks the row";
  other.ask(query("drop table if exists hot_other"));
  other.ask(query("create table hot_other (id int primary key)"));
  other.ask(query("insert into hot_other values (1), (2)"));
  ASSERT_EQ(other.ask(query("alter table hot_test add foreign key (limited) references hot_other")),
            "CZI");
  // It refers to another row by then, or to none.
  EXPECT_TRUE(is_beaten("n = n + 10", "update hot_test set limited = 2 where id = 1"));
  EXPECT_EQ(row(), "5 11 1 one 2 1");
  EXPECT_EQ(other.ask(query("delete from hot_other where id = 2")), "E(23503)ZI");
  EXPECT_TRUE(is_beaten("limited = k", "update hot_test set k = 2 where id = 1"));
  EXPECT_EQ(row(), "5 11 1 one 2 2");
  // That it is referred to does not matter: that is its key.
  other.ask(
      query("alter table hot_test drop constraint hot_test_limited_fkey; drop table "
            "hot_other; create table hot_other (id int references hot_test)"));
  EXPECT_FALSE(is_beaten("n = n + 10", "update hot_test set big = 7 where id = 1"));
  EXPECT_EQ(row(), "5 21 7 one 2 2");
  EXPECT_FALSE(is_beaten("n = n + 10", "insert into hot_other values (1)"));
  EXPECT_EQ(row(), "5 31 7 one 2 2");
  other.ask(query("drop table hot_other"));
}

// It is the row that is installed.
TEST_F(HotRecordTest, WhatIsReturned) {
  if (runs_on_postgres()) GTEST_SKIP() << "it locks the row";
  while_paused(slow, query(paused_update("n = n + 10") + " returning n"), [&] {
    EXPECT_EQ(other.ask(query("update hot_test set n = n + 5 where id = 1")), "CZI");
  });
  EXPECT_EQ(first_column(slow.read_answer()), "16 ");
  EXPECT_EQ(row(), "5 16 1 one 1 1");
}

// Once something of its answer has left the server it cannot run again: it has its row for itself,
// as it is by then.
TEST_F(HotRecordTest, TurnsInteractiveAtAFlush) {
  if (runs_on_postgres()) GTEST_SKIP() << "it locks the row";
  while_paused(
      slow, call("update hot_test set n = n + 10 where id = 1") + call("select " + pause) + flush(),
      [&] {
        EXPECT_EQ(other.ask(query("update hot_test set n = n + 5, big = 7 where id = 1")), "CZI");
      });
  for (char expected : std::string("12C12DC")) EXPECT_EQ(slow.read().type, expected);
  observer.send_blocked(other, query("update hot_test set n = n + 100 where id = 1"));
  slow.send(call("select n from hot_test") + call("update hot_test set n = n + 1 where id = 1") +
            sync());
  EXPECT_EQ(first_column(slow.read_answer()), "16 ");
  EXPECT_EQ(other.answer(), "CZI");
  EXPECT_EQ(row(), "1 117 7 one 1 1");
}

TEST_F(HotRecordTest, TurnsInteractiveByALongAnswer) {
  if (runs_on_postgres()) GTEST_SKIP() << "it locks the row";
  const int rows = 20;
  while_paused(slow,
               query("update hot_test set n = n + 10, big = limited where id = 1; select " + pause +
                     "; select repeat('x', 500000) from generate_series(1, " +
                     std::to_string(rows) + "); select n from hot_test"),
               [&] {
                 EXPECT_EQ(other.ask(query("update hot_test set n = n + 5, k = 9 where id = 1")),
                           "CZI");
               });
  std::vector<Message> answer = slow.read_answer();
  ASSERT_EQ(answer.size(), rows + 10u);
  EXPECT_EQ(row_values(answer[rows + 7])[0], "16");
  EXPECT_EQ(row(), "1 16 1 one 1 9");
}

// What a transaction that cannot run again changes it locks.
TEST_F(HotRecordTest, BehindACommitInTheSameQuery) {
  ASSERT_EQ(other.ask(query("begin; update hot_test set n = 2 where id = 1")), "CCZT");
  ASSERT_EQ(slow.ask(query("begin")), "CZT");
  observer.send_blocked(slow, query("commit; update hot_test set n = n + 1 where id = 1"));
  ASSERT_EQ(other.ask(query("commit")), "CZI");
  EXPECT_EQ(slow.answer(), "CCZI");
  EXPECT_EQ(row(), "1 3 1 one 1 1");
}

// Many at once, one-shots, pipelines and blocks: every sum is right in the end.
TEST_F(HotRecordTest, ACrowd) {
  const int clients = 12, rounds = 300;
  hammer(clients, rounds, [](RawClient& client, int index, int) {
    std::string answer, expected = "CZI";
    switch (index % 4) {
      case 0:
        answer = client.ask(query("update hot_test set n = n + 1 where id = 1"));
        break;
      case 1:
        answer = client.ask(query("update hot_test set big = big - 2 where id = 1 and k = 1"));
        break;
      case 2:
        answer =
            client.ask(call("update hot_test set n = n + 1, limited = limited where id = 1") +
                       call("update hot_test set n = n - 1, big = big + 2 where id = 1") + sync());
        expected = "12C12CZI";
        break;
      default:
        client.ask(query("begin isolation level read committed"));
        client.ask(query("update hot_test set small = small + 1 where id = 1"));
        client.ask(query("update hot_test set small = small - 1, name = 'x' where id = 1"));
        answer = client.ask(query("commit"));
    }
    EXPECT_EQ(answer, expected) << index;
    return answer == expected;
  });
  EXPECT_EQ(row(), "1 " + std::to_string(1 + clients / 4 * rounds) + " 1 x 1 1");
}

}  // namespace
}  // namespace pgsilo::protocol_test
