// Isolation levels between sessions, where PostgreSQL's READ COMMITTED and ours must agree, and
// what a block may read again before its client sees 40001.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tests/protocol/crowd.h"
#include "tests/protocol/monitoring_support.h"
#include "tests/protocol/raw_client.h"

namespace pgsilo::protocol_test {
namespace {

class IsolationTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (RawClient* client : {&one, &other}) client->start();
    one.ask(query("drop table if exists isolation_test"));
    one.ask(query("create table isolation_test (id int primary key, v int)"));
    one.ask(query("insert into isolation_test select i, 0 from generate_series(1, 4) i"));
  }
  void TearDown() override {
    for (RawClient* client : {&one, &other}) client->ask(query("rollback"));
    one.ask(query("drop table if exists isolation_test"));
  }
  static void begin(RawClient& client, const std::string& level) {
    EXPECT_EQ(client.ask(query("begin isolation level " + level)), "CZT");
  }

  static std::string extended(const std::string& sql) {
    return parse("", sql) + bind("", "") + execute();
  }

  // All up to the `count`th message of the type.
  static std::vector<Message> read_until(RawClient& client, char type, int count = 1) {
    std::vector<Message> messages;
    while (count > 0) {
      messages.push_back(client.read());
      if (messages.back().type == type || messages.back().type == '\0') --count;
    }
    return messages;
  }

  RawClient one, other;
  Observer observer;
};

TEST_F(IsolationTest, ReadCommittedSeesWhatOthersCommitBetweenStatements) {
  begin(one, "read committed");
  EXPECT_EQ(one.column("select sum(v) from isolation_test"), "0 ");
  EXPECT_EQ(other.ask(query("update isolation_test set v = 5 where id = 2")), "CZI");
  EXPECT_EQ(one.column("select sum(v) from isolation_test"), "5 ");
  EXPECT_EQ(other.ask(query("insert into isolation_test values (9, 10)")), "CZI");
  EXPECT_EQ(one.column("select sum(v) from isolation_test"), "15 ");
  EXPECT_EQ(one.ask(query("update isolation_test set v = v + 1 where id = 2")), "CZT");
  EXPECT_EQ(one.ask(query("commit")), "CZI");
  EXPECT_EQ(other.column("select v from isolation_test where id = 2"), "6 ");
}

TEST_F(IsolationTest, WhatOthersDefineIsSeenBehindOnesOwnDefinitions) {
  begin(one, "read committed");
  EXPECT_EQ(one.ask(query("create table isolation_mine (a int)")), "CZT");
  EXPECT_EQ(one.ask(query("savepoint s")), "CZT");
  EXPECT_EQ(other.ask(query("alter table isolation_test add w int default 7")), "CZI");
  EXPECT_EQ(other.ask(query("create table isolation_theirs (b int)")), "CZI");
  EXPECT_EQ(one.column("select sum(w) from isolation_test"), "28 ");
  EXPECT_EQ(one.column("select count(*) from isolation_theirs, isolation_mine"), "0 ");
  EXPECT_EQ(one.ask(query("alter table isolation_theirs add c int")), "CZT");
  EXPECT_EQ(one.ask(query("rollback to s")), "CZT");
  EXPECT_EQ(one.column("select sum(w) from isolation_test"), "28 ");
  EXPECT_EQ(one.ask(query("alter table isolation_theirs add d int")), "CZT");
  EXPECT_EQ(one.ask(query("insert into isolation_theirs values (1, 2)")), "CZT");
  EXPECT_EQ(one.ask(query("commit")), "CZI");
  EXPECT_EQ(other.column("select d from isolation_theirs"), "2 ");
  EXPECT_EQ(other.ask(query("drop table isolation_mine, isolation_theirs")), "CZI");
}

TEST_F(IsolationTest, BlocksThatDefineDifferentThingsDoNotDisturbEachOther) {
  for (std::string level : {"read committed", "serializable"}) {
    for (RawClient* client : {&one, &other}) begin(*client, level);
    EXPECT_EQ(one.ask(query("create table isolation_a (id serial primary key)")), "CZT");
    EXPECT_EQ(other.ask(query("create table isolation_b (id serial primary key)")), "CZT");
    EXPECT_EQ(one.ask(query("create index isolation_ai on isolation_a (id)")), "CZT");
    EXPECT_EQ(other.ask(query("alter table isolation_b rename to isolation_c")), "CZT");
    EXPECT_EQ(one.ask(query("commit")), "CZI");
    EXPECT_EQ(other.ask(query("commit")), "CZI");
    EXPECT_EQ(one.ask(query("drop table isolation_a, isolation_c")), "CZI");
  }
}

TEST_F(IsolationTest, SerializableDoesNot) {
  begin(one, "serializable");
  EXPECT_EQ(one.column("select sum(v) from isolation_test"), "0 ");
  EXPECT_EQ(other.ask(query("update isolation_test set v = 5 where id = 2")), "CZI");
  std::string again = one.column("select sum(v) from isolation_test");
  EXPECT_TRUE(again == "0 " || again == "40001 ") << again;
  one.ask(query("update isolation_test set v = 7 where id = 2"));
  EXPECT_EQ(one.ask(query("commit")), "CZI");  // ends a failed block
  EXPECT_EQ(other.column("select v from isolation_test where id = 2"), "5 ");
}

TEST_F(IsolationTest, WriteSkewIsForReadCommittedOnly) {
  for (std::string level : {"read committed", "serializable"}) {
    one.ask(query("update isolation_test set v = 1 where id in (1, 2)"));
    begin(one, level);
    begin(other, level);
    EXPECT_EQ(one.column("select sum(v) from isolation_test where id in (1, 2)"), "2 ");
    EXPECT_EQ(other.column("select sum(v) from isolation_test where id in (1, 2)"), "2 ");
    one.ask(query("update isolation_test set v = 0 where id = 1"));
    other.ask(query("update isolation_test set v = 0 where id = 2"));
    one.ask(query("commit"));
    std::string last = other.ask(query("commit"));
    std::string sum = one.column("select sum(v) from isolation_test where id in (1, 2)");
    EXPECT_EQ(sum, level == "serializable" ? "1 " : "0 ") << last;
  }
}

TEST_F(IsolationTest, ReadCommittedUpdatesWaitAndUseTheNewestRow) {
  begin(one, "read committed");
  begin(other, "read committed");
  EXPECT_EQ(other.column("select v from isolation_test where id = 1"), "0 ");
  EXPECT_EQ(one.ask(query("update isolation_test set v = v + 1 where id = 1")), "CZT");
  other.send(query("update isolation_test set v = v + 10 where id = 1 returning v"));
  EXPECT_TRUE(other.is_silent());
  EXPECT_EQ(one.ask(query("commit")), "CZI");
  EXPECT_EQ(first_column(other.read_answer()), "11 ");
  EXPECT_EQ(other.ask(query("commit")), "CZI");
}

TEST_F(IsolationTest, ReadCommittedChecksTheConditionOfAnUpdateAgain) {
  begin(one, "read committed");
  begin(other, "read committed");
  EXPECT_EQ(one.ask(query("update isolation_test set v = 3 where id = 1")), "CZT");
  EXPECT_EQ(one.ask(query("delete from isolation_test where id = 2")), "CZT");
  other.send(query("update isolation_test set v = -1 where v = 0 returning id"));
  EXPECT_TRUE(other.is_silent());
  EXPECT_EQ(one.ask(query("commit")), "CZI");
  EXPECT_EQ(first_column(other.read_answer()), "3 4 ");
  EXPECT_EQ(other.ask(query("commit")), "CZI");
}

// A statement that began before a row could be seen has nothing to wait for.
TEST_F(IsolationTest, ReadCommittedDoesNotWaitForARowThatIsBeingInserted) {
  const std::string statements[] = {"update isolation_test set v = 9 where id = 7",
                                    "delete from isolation_test where id = 7",
                                    "select v from isolation_test where id = 7 for update"};
  for (std::string end : {"commit", "rollback"}) {
    for (const std::string& statement : statements) {
      begin(one, "read committed");
      begin(other, "read committed");
      EXPECT_EQ(one.ask(query("insert into isolation_test values (7, 1)")), "CZT");
      EXPECT_EQ(other.column("set lock_timeout = '1s'; " + statement), "") << statement;
      EXPECT_EQ(one.ask(query(end)), "CZI");
      EXPECT_EQ(other.column("select v from isolation_test where id = 7"),
                end == "commit" ? "1 " : "");
      EXPECT_EQ(other.ask(query("commit")), "CZI");
      one.ask(query("delete from isolation_test where id = 7"));
    }
  }
}

TEST_F(IsolationTest, ReadCommittedRunsAJoinAgainWhenARowChangedUnderIt) {
  begin(one, "read committed");
  begin(other, "read committed");
  EXPECT_EQ(one.ask(query("update isolation_test set v = 3 where id = 1")), "CZT");
  other.send(
      query("update isolation_test a set v = a.v + b.v + 1 from isolation_test b "
            "where b.id = a.id and a.id = 1 returning a.v"));
  EXPECT_TRUE(other.is_silent());
  EXPECT_EQ(one.ask(query("commit")), "CZI");
  // PostgreSQL takes b as it was: 3 + 0 + 1.
  std::string seen = first_column(other.read_answer());
  EXPECT_TRUE(seen == "7 " || seen == "4 ") << seen;
  EXPECT_EQ(other.ask(query("commit")), "CZI");
}

TEST_F(IsolationTest, UniqueKeysUnderReadCommitted) {
  for (std::string end : {"commit", "rollback"}) {
    begin(one, "read committed");
    begin(other, "read committed");
    EXPECT_EQ(one.ask(query("insert into isolation_test values (7, 1)")), "CZT");
    other.send(query("insert into isolation_test values (7, 2)"));
    EXPECT_TRUE(other.is_silent());
    EXPECT_EQ(one.ask(query(end)), "CZI");
    EXPECT_EQ(other.answer(), end == "commit" ? "E(23505)ZE" : "CZT");
    EXPECT_EQ(other.ask(query("commit")), "CZI");
    EXPECT_EQ(one.column("delete from isolation_test where id = 7 returning v"),
              end == "commit" ? "1 " : "2 ");
  }
}

TEST_F(IsolationTest, AFetchedPortalUnderReadCommittedSeesOneState) {
  begin(one, "read committed");
  one.send(parse("", "select v from isolation_test order by id") + bind("p", "") + execute("p", 2) +
           message('H'));
  // What was fetched later was read with the rest.
  std::string first;
  for (int i = 0; i < 5; ++i) {
    Message each = one.read();
    if (each.type == 'D') first += row_values(each)[0] + " ";
  }
  EXPECT_EQ(first, "0 0 ");
  EXPECT_EQ(other.ask(query("update isolation_test set v = 8")), "CZI");
  one.send(execute("p", 10) + sync());
  EXPECT_EQ(first_column(one.read_answer()), "0 0 ");
  EXPECT_EQ(one.ask(query("commit")), "CZI");
}

TEST_F(IsolationTest, NobodyUnderReadCommittedMeets40001) {
  constexpr int clients = 6, rounds = 40;
  hammer(clients, rounds, [](RawClient& client, int i, int) {
    std::string id = std::to_string(1 + i % 4);
    client.ask(query("begin isolation level read committed"));
    EXPECT_EQ(client.ask(query("select sum(v), count(*) from isolation_test")), "TDCZT");
    EXPECT_EQ(client.ask(query("update isolation_test set v = v + 1 where id = " + id)), "CZT");
    EXPECT_EQ(
        client.ask(query("insert into isolation_test select max(id) + 1 + " + std::to_string(i) +
                         ", 0 from isolation_test "
                         "on conflict do nothing")),
        "CZT");
    EXPECT_EQ(client.ask(query("select count(*) from isolation_test where v > 0")), "TDCZT");
    EXPECT_EQ(client.ask(query("commit")), "CZI");
    return !::testing::Test::HasFailure();
  });
  EXPECT_EQ(one.column("select sum(v) from isolation_test"),
            std::to_string(clients * rounds) + " ");
}

// What it had made of the table is unmade first: the catalog's rows, the rows that went in.
TEST_F(IsolationTest, CreateTableAsRunsAgainInsideTheServer) {
  for (std::string level : {"read committed", "serializable"}) {
    begin(one, level);
    if (level == "read committed") {
      EXPECT_EQ(one.ask(query("create table made_before (a int)")), "CZT");
      EXPECT_EQ(one.ask(query("insert into made_before values (1)")), "CZT");
    }
    while_paused(
        one,
        query("create table made_test as select id, v from isolation_test where " + pause +
              " is not null"),
        [&] { EXPECT_EQ(other.ask(query("update isolation_test set v = v + 10")), "CZI"); });
    EXPECT_EQ(summary(one.read_answer()), "CZT");
    // All of one moment, and all of one run.
    EXPECT_EQ(one.column("select count(*) from made_test"), "4 ");
    EXPECT_EQ(one.column("select count(distinct v) from made_test"), "1 ");
    EXPECT_EQ(one.ask(query("insert into made_test values (9, 9)")), "CZT");
    EXPECT_EQ(one.ask(query("savepoint a; drop table made_test; rollback to a")), "CCCZT");
    EXPECT_EQ(one.column("select count(*) from made_test"), "5 ");
    EXPECT_EQ(one.ask(query("commit")), "CZI");
    EXPECT_EQ(other.column("select count(*) from made_test"), "5 ");
    EXPECT_EQ(other.column("select count(*) from pg_class where relname = 'made_test'"), "1 ");
    other.ask(query("drop table if exists made_test, made_before"));
  }
}

TEST_F(IsolationTest, CopyToRunsAgainInsideTheServer) {
  const std::pair<std::string, std::string> copies[] = {
      {"select v from isolation_test where " + pause + " is not null",
       "update isolation_test set v = v + 10"},
      {"update isolation_test set v = v where id > 0 and " + pause + " is not null returning v",
       "insert into isolation_test values (-1, 0)"}};
  for (const auto& [from, change] : copies) {
    begin(one, "read committed");
    while_paused(one, query("copy (" + from + ") to stdout"),
                 [&] { EXPECT_EQ(other.ask(query(change)), "CZI"); });
    std::vector<Message> answer = one.read_answer();
    EXPECT_EQ(summary(answer), "HddddcCZT");
    for (const Message& message : answer) {
      if (message.type != 'd') continue;
      EXPECT_EQ(message.body, answer[1].body);  // all of one moment
    }
    EXPECT_EQ(one.ask(query("commit")), "CZI");
  }
}

// Its rows went in for good, so it reads what nobody can change: a moment since it began.
TEST_F(IsolationTest, InsertIntoATableOfTheBlockReadsOneMoment) {
  for (int round = 0; round < 3; ++round) {
    begin(one, "read committed");
    EXPECT_EQ(one.ask(query("create table made_test (id int primary key, v int)")), "CZT");
    EXPECT_EQ(one.ask(query("insert into made_test values (100, 0)")), "CZT");
    EXPECT_EQ(one.ask(query("update isolation_test set v = 3 where id = 1")), "CZT");
    EXPECT_EQ(one.ask(query("delete from isolation_test where id = 2")), "CZT");
    EXPECT_EQ(one.ask(query("insert into isolation_test values (50, 3)")), "CZT");
    while_paused(one,
                 query("insert into made_test select t.id, t.v from isolation_test t, made_test m "
                       "where t.id <> 3 or " +
                       pause + " is not null"),
                 [&] {
                   EXPECT_EQ(
                       other.ask(query("update isolation_test set v = v + 10 where id in (3, 4); "
                                       "insert into isolation_test values (60 + " +
                                       std::to_string(round) + ", 7)")),
                       "CCZI");
                 });
    EXPECT_EQ(summary(one.read_answer()), "CZT");
    // With what the block itself had done.
    EXPECT_EQ(one.column("select v from made_test where id in (1, 2, 50, 100) order by id"),
              "3 3 0 ");
    EXPECT_EQ(one.column("select count(distinct v) from made_test where id in (3, 4)"), "1 ");
    EXPECT_EQ(one.column("select count(*) from made_test where id > 50 and id < 100"),
              std::to_string(round) + " ");
    // The statement after it sees the present again.
    EXPECT_EQ(one.column("select count(*) from isolation_test where id > 50"),
              std::to_string(round + 1) + " ");
    EXPECT_EQ(one.ask(query("commit")), "CZI");
    EXPECT_EQ(other.column("select count(*) from made_test"), std::to_string(5 + round) + " ");
    EXPECT_EQ(other.ask(query("drop table made_test; delete from isolation_test where id = 50; "
                              "insert into isolation_test values (2, 0)")),
              "CCCZI");
  }
}

// The rows that it locks are of the present, so it may have to look again.
TEST_F(IsolationTest, InsertIntoATableOfTheBlockLocksRowsThatOthersChange) {
  begin(one, "read committed");
  EXPECT_EQ(one.ask(query("create table made_test (id int primary key, v int)")), "CZT");
  EXPECT_EQ(one.ask(query("insert into made_test values (100, 0)")), "CZT");
  // All are read, none is locked.
  while_paused(
      one,
      query("insert into made_test select id, v from isolation_test "
            "order by id = 4 and " +
            pause + " is null, id for update"),
      [&] { EXPECT_EQ(other.ask(query("update isolation_test set v = 5 where id = 3")), "CZI"); });
  EXPECT_EQ(summary(one.read_answer()), "CZT");
  EXPECT_EQ(one.column("select v from made_test order by id"), "0 0 5 0 0 ");
  other.send(query("update isolation_test set v = 6 where id = 3"));
  EXPECT_TRUE(other.is_silent());
  EXPECT_EQ(one.ask(query("commit")), "CZI");
  EXPECT_EQ(summary(other.read_answer()), "CZI");
  EXPECT_EQ(other.column("select count(*) from made_test"), "5 ");
  EXPECT_EQ(other.ask(query("drop table made_test")), "CZI");
}

// Behind a COMMIT there is no way back for the whole; its statements may run again alone, and see
// one moment.
TEST_F(IsolationTest, BehindACommitInTheSameQuery) {
  EXPECT_EQ(one.ask(query("set default_transaction_isolation = 'read committed'")), "CZI");
  for (std::string statement :
       {"create table made_test (id int, v int); insert into made_test select id, v",
        "create table made_test as select id, v"}) {
    EXPECT_EQ(one.ask(query("begin")), "CZT");
    std::string all =
        "commit; " + statement + " from isolation_test where " + pause + " is not null";
    while_paused(one, query(all), [&] {
      EXPECT_EQ(other.ask(query("update isolation_test set v = v + 1")), "CZI");
    });
    EXPECT_TRUE(summary(one.read_answer()).ends_with("CZI"));
    EXPECT_EQ(other.column("select count(distinct v) from made_test"), "1 ");
    EXPECT_EQ(other.ask(query("drop table made_test")), "CZI");
  }
}

// What failed before it began is no reason to undo the statement before it.
TEST_F(IsolationTest, AnErrorBeforeAStatementBeginsLeavesTheOneBeforeAlone) {
  begin(one, "serializable");
  EXPECT_EQ(one.ask(query("insert into isolation_test select 20 + v, 1 from isolation_test "
                          "where id = 1")),
            "CZT");
  EXPECT_EQ(one.ask(query("savepoint a; set transaction read only")), "CCZT");
  EXPECT_EQ(other.ask(query("update isolation_test set v = 7 where id = 1")), "CZI");
  std::string failed = one.ask(query("delete from isolation_test"));
  EXPECT_TRUE(failed == "E(25006)ZE" || failed == "E(40001)ZE") << failed;
  EXPECT_EQ(one.ask(query("rollback to a")), "CZT");
  bool committed = one.ask(query("commit")) == "CZI";
  // All of it or nothing.
  EXPECT_EQ(other.column("select count(*) from isolation_test where id = 20"),
            committed ? "1 " : "0 ");
}

TEST_F(IsolationTest, ReadCommittedForgetsWhatAFailedStatementHasRead) {
  begin(one, "read committed");
  EXPECT_EQ(one.ask(query("savepoint a")), "CZT");
  EXPECT_EQ(one.ask(query("select 1 / v from isolation_test where id = 1")), "TE(22012)ZE");
  EXPECT_EQ(one.ask(query("rollback to a")), "CZT");
  EXPECT_EQ(other.ask(query("update isolation_test set v = 7 where id = 1")), "CZI");
  EXPECT_EQ(one.ask(query("update isolation_test set v = 8 where id = 2")), "CZT");
  EXPECT_EQ(one.ask(query("savepoint b")), "CZT");
  EXPECT_EQ(one.ask(query("select 1 / v from isolation_test where id = 3")), "TE(22012)ZE");
  EXPECT_EQ(other.ask(query("update isolation_test set v = 7 where id = 3")), "CZI");
  EXPECT_EQ(one.ask(query("rollback to b")), "CZT");
  EXPECT_EQ(one.ask(query("commit")), "CZI");
  EXPECT_EQ(other.column("select v from isolation_test order by id"), "7 8 7 0 ");
}

TEST_F(IsolationTest, ReadCommittedForgetsWhatCopyHasRead) {
  begin(one, "read committed");
  EXPECT_EQ(one.ask(query("copy isolation_test to stdout")), "HddddcCZT");
  EXPECT_EQ(other.ask(query("update isolation_test set v = 7 where id = 1")), "CZI");
  EXPECT_EQ(one.ask(query("update isolation_test set v = 8 where id = 2")), "CZT");
  EXPECT_EQ(one.ask(query("commit")), "CZI");
}

// What has been answered in the middle of a pipeline is as what a block has answered.
TEST_F(IsolationTest, ReadCommittedForgetsWhatThePipelineHasRead) {
  EXPECT_EQ(one.ask(query("set default_transaction_isolation = 'read committed'")), "CZI");
  const std::string reads = extended("select sum(v) from isolation_test") +
                            extended("update isolation_test set v = v + 1 where v = 0 and id < 3");
  const std::string change = "update isolation_test set v = v + 10 where id >= 3";
  one.send(reads + flush());
  EXPECT_EQ(first_column(read_until(one, 'C', 2)), "0 ");
  EXPECT_EQ(other.ask(query(change)), "CZI");
  EXPECT_EQ(one.ask(extended("select sum(v) from isolation_test") + sync()), "12DCZI");
  EXPECT_EQ(other.column("select sum(v) from isolation_test"), "22 ");

  EXPECT_EQ(one.ask(query("update isolation_test set v = 0")), "CZI");
  one.send(query("select sum(v) from isolation_test; copy isolation_test from stdin"));
  EXPECT_EQ(first_column(read_until(one, 'G')), "0 ");
  EXPECT_EQ(other.ask(query(change)), "CZI");
  EXPECT_EQ(one.ask(copy_data("5\t5\n") + copy_done()), "CZI");
  EXPECT_EQ(other.column("select sum(v) from isolation_test"), "25 ");
}

// Each statement has a moment of its own, and the whole may run again as long as nothing has left.
TEST_F(IsolationTest, StatementsOfAPipelineUnderReadCommittedSeeMomentsOfTheirOwn) {
  EXPECT_EQ(one.ask(query("set default_transaction_isolation = 'read committed'")), "CZI");
  std::string sum = "select sum(v) from isolation_test";
  while_paused(one, extended(sum) + extended("select " + pause) + extended(sum) + sync(),
               [&] { EXPECT_EQ(other.ask(query("update isolation_test set v = 1")), "CZI"); });
  std::vector<Message> answer = one.read_answer();
  EXPECT_EQ(summary(answer), "12DC12DC12DCZI");
  EXPECT_EQ(row_values(answer[2])[0], "0");
  EXPECT_EQ(row_values(answer[10])[0], "4");

  while_paused(one, query(sum + "; select " + pause + "; " + sum),
               [&] { EXPECT_EQ(other.ask(query("update isolation_test set v = 2")), "CZI"); });
  answer = one.read_answer();
  EXPECT_EQ(row_values(answer[1])[0], "4");
  EXPECT_EQ(row_values(answer[7])[0], "8");
}

// So does one that is read slowly while its tables change.
TEST_F(IsolationTest, ALongAnswerOfAPipelineIsOfOneMoment) {
  EXPECT_EQ(one.ask(query("set default_transaction_isolation = 'read committed'")), "CZI");
  EXPECT_EQ(one.ask(query("insert into isolation_test select i, 0 from "
                          "generate_series(5, 30000) i")),
            "CZI");
  const std::string select = "select v, repeat('x', 800) from isolation_test";
  const std::string change =
      "insert into isolation_test select id + 1000000, v from "
      "isolation_test where id < 30000 returning v, repeat('x', 800)";
  const std::string volatile_one =
      "select v, repeat('x', 800 + (random() * 0)::int) "
      "from isolation_test";
  for (const std::string& long_one : {select, change, volatile_one}) {
    for (const std::string& bytes :
         {extended(long_one) + sync(), extended(long_one) + extended("select 1") + sync()}) {
      one.send(bytes);
      observer.await(one, "wait_event = 'ClientWrite'");
      EXPECT_EQ(other.ask(query("update isolation_test set v = v + 1 where id in (1, 29999)")),
                "CZI");
      std::vector<Message> answer = one.read_answer();
      EXPECT_TRUE(summary(answer).ends_with("CZI"));
      EXPECT_TRUE(std::ranges::none_of(answer, [](const Message& each) {
        return each.type == 'D' && row_values(each)[0] == "1" && row_values(each).size() == 2;
      }));
      EXPECT_EQ(other.ask(query("delete from isolation_test where id > 30000")), "CZI");
      EXPECT_EQ(other.ask(query("update isolation_test set v = 0 where v <> 0")), "CZI");
    }
  }
}

// The first statement of a block is like a transaction of its own, also at our default level.
TEST_F(IsolationTest, ABlocksFirstStatementRunsAgainInsideTheServer) {
  constexpr int clients = 6, rounds = 40;
  hammer(clients, rounds, [](RawClient& client, int, int) {
    client.ask(query("begin"));
    EXPECT_EQ(client.ask(query("update isolation_test a set v = a.v + 1 "
                               "from isolation_test b where a.id = b.id and b.id = 1")),
              "CZT");
    EXPECT_EQ(client.ask(query("commit")), "CZI");
    return !::testing::Test::HasFailure();
  });
  EXPECT_EQ(one.column("select v from isolation_test where id = 1"),
            std::to_string(clients * rounds) + " ");
}

}  // namespace
}  // namespace pgsilo::protocol_test
