// INSERT ... ON CONFLICT between sessions: nobody sees an error, every row counts exactly once.
// What it does within one session: tests/sql/on_conflict.slt.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/protocol/crowd.h"
#include "tests/protocol/raw_client.h"

namespace pgsilo::protocol_test {
namespace {

constexpr int clients = 6;
constexpr int rounds = 50;

class UpsertTest : public ::testing::Test {
 protected:
  void SetUp() override {
    control.start();
    control.ask(query("drop table if exists upsert_test"));
    ASSERT_EQ(control.ask(query("create table upsert_test (id int primary key, code text unique, "
                                "n int)")),
              "CZI");
  }
  void TearDown() override { control.ask(query("drop table if exists upsert_test")); }
  // Every client sends the queries of each round, one after the other; none may fail.
  static void hammer(const std::function<std::vector<std::string>(int, int)>& queries) {
    protocol_test::hammer(clients, rounds, [&](RawClient& client, int index, int round) {
      for (const std::string& sql : queries(index, round)) {
        std::string said = client.ask(query(sql));
        if (said.find('E') == std::string::npos) continue;
        ADD_FAILURE() << sql << ": " << said;
        return false;
      }
      return true;
    });
  }
  static std::string add_to(int id) {
    return "insert into upsert_test values (" + std::to_string(id) +
           ", null, 1) on conflict (id) do update set n = upsert_test.n + excluded.n";
  }
  // The tag of the one statement sent.
  static std::string tag(const std::vector<Message>& messages) {
    for (const Message& each : messages) {
      if (each.type == 'C') return each.body.substr(0, each.body.size() - 1);
    }
    return summary(messages);
  }
  RawClient control;
};

TEST_F(UpsertTest, CountsEveryRow) {
  hammer([](int, int round) { return std::vector{add_to(round % 3)}; });
  EXPECT_EQ(control.first_value("select sum(n) from upsert_test"),
            std::to_string(clients * rounds));
  EXPECT_EQ(control.first_value("select count(*) from upsert_test"), "3");
}

TEST_F(UpsertTest, CountsEveryRowOfBlocks) {
  hammer([](int, int round) {
    return std::vector<std::string>{"begin", add_to(round % 3), add_to(9), "commit"};
  });
  EXPECT_EQ(control.first_value("select sum(n) from upsert_test where id < 9"),
            std::to_string(clients * rounds));
  EXPECT_EQ(control.first_value("select n from upsert_test where id = 9"),
            std::to_string(clients * rounds));
}

TEST_F(UpsertTest, CountsEveryRowByASecondaryKey) {
  auto add = [](int client, int round) {
    return "insert into upsert_test values (" + std::to_string(client * rounds + round) + ", 'k" +
           std::to_string(round % 2) +
           "', 1) on conflict (code) do update set n = upsert_test.n + 1";
  };
  for (bool in_block : {false, true}) {
    control.ask(query("truncate upsert_test"));
    hammer([&](int client, int round) {
      if (!in_block) return std::vector<std::string>{add(client, round)};
      return std::vector<std::string>{"begin", add(client, round), "commit"};
    });
    EXPECT_EQ(control.first_value("select sum(n) from upsert_test"),
              std::to_string(clients * rounds));
    EXPECT_EQ(control.first_value("select count(*) from upsert_test"), "2");
  }
}

// Rows come and go while others insert them.
TEST_F(UpsertTest, InsertsWhereTheRowHasGone) {
  for (bool in_block : {false, true}) {
    hammer([&](int client, int round) {
      bool removes = client % 2 == 0 && round % 2 == 1;
      std::string change = removes ? "delete from upsert_test where id = 1" : add_to(1);
      if (!in_block) return std::vector<std::string>{change};
      return std::vector<std::string>{"begin", change, "commit"};
    });
  }
  EXPECT_EQ(control.first_value("select count(*) <= 1 from upsert_test"), "t");
}

TEST_F(UpsertTest, DoNothingWaitsForWhoIsInserting) {
  RawClient block, waiting;
  block.start();
  waiting.start();
  const std::string insert = query("insert into upsert_test values (1, 'c', 1)");
  const std::string insert_or_not =
      query("insert into upsert_test values (2, 'c', 1) on conflict do nothing");
  block.ask(query("begin"));
  ASSERT_EQ(block.ask(insert), "CZT");
  waiting.send(insert_or_not);
  EXPECT_TRUE(waiting.is_silent());
  ASSERT_EQ(block.ask(query("rollback")), "CZI");
  EXPECT_EQ(tag(waiting.read_answer()), "INSERT 0 1");
  waiting.ask(query("delete from upsert_test"));
  block.ask(query("begin"));
  ASSERT_EQ(block.ask(insert), "CZT");
  waiting.send(insert_or_not);
  EXPECT_TRUE(waiting.is_silent());
  ASSERT_EQ(block.ask(query("commit")), "CZI");
  EXPECT_EQ(tag(waiting.read_answer()), "INSERT 0 0");
}

TEST_F(UpsertTest, WhatMeetsARowByItsSecondKeyLeavesTheFirstToOthers) {
  RawClient block;
  block.start();
  control.ask(query("insert into upsert_test values (1, 'c', 1)"));
  control.ask(query("set lock_timeout = '1s'"));
  for (std::string level : {"read committed", "serializable"}) {
    block.ask(query("begin isolation level " + level));
    block.send(query("insert into upsert_test values (2, 'c', 1) on conflict do nothing"));
    EXPECT_EQ(tag(block.read_answer()), "INSERT 0 0");
    block.send(
        query("insert into upsert_test values (3, 'c', 1) on conflict (code) do update set n = 2"));
    EXPECT_EQ(tag(block.read_answer()), "INSERT 0 1");
    for (std::string begin : {"", "begin; "}) {
      EXPECT_EQ(
          control.ask(query(begin + "insert into upsert_test values (2, 'd', 1), (3, 'e', 1)")),
          begin.empty() ? "CZI" : "CCZT")
          << level;
      control.ask(query(begin.empty() ? "delete from upsert_test where id > 1" : "rollback"));
    }
    EXPECT_EQ(block.ask(query("commit")), "CZI") << level;
  }
}

// Who is inserting the second key may come for the first one: nobody waits for nobody.
TEST_F(UpsertTest, WhoWaitsForASecondKeyHasNotLockedTheFirst) {
  RawClient block, waiting;
  block.start();
  waiting.start();
  const std::string upserts[] = {
      "insert into upsert_test values (2, 'c', 1) on conflict do nothing",
      "insert into upsert_test values (2, 'c', 1) on conflict (code) do update set n = 7"};
  for (const std::string& upsert : upserts) {
    for (std::string end : {"commit", "rollback to a; commit"}) {
      block.ask(query("begin isolation level read committed; savepoint a"));
      ASSERT_EQ(block.ask(query("insert into upsert_test values (1, 'c', 1)")), "CZT");
      waiting.ask(query("begin isolation level read committed"));
      waiting.send(query(upsert));
      EXPECT_TRUE(waiting.is_silent());
      EXPECT_EQ(block.ask(query("insert into upsert_test values (2, 'd', 1)")), "CZT");
      block.ask(query(end));
      EXPECT_EQ(summary(waiting.read_answer()), "CZT");
      EXPECT_EQ(waiting.ask(query("commit")), "CZI");
      bool met = end == "commit";
      EXPECT_EQ(control.column("select n from upsert_test order by id"),
                !met                                          ? "1 "
                : upsert.find("nothing") != std::string::npos ? "1 1 "
                                                              : "7 1 ");
      control.ask(query("delete from upsert_test"));
    }
  }
}

// Alone, too, it looks at the named key before it minds the other one.
TEST_F(UpsertTest, AloneItWaitsForWhoIsGivingUpTheNamedKey) {
  RawClient block, waiting;
  block.start();
  waiting.start();
  for (std::string end : {"rollback", "commit"}) {
    control.ask(query("insert into upsert_test values (1, 'c', 1), (2, 'd', 1)"));
    block.ask(query("begin isolation level read committed"));
    ASSERT_EQ(block.ask(query("update upsert_test set code = 'e' where id = 1")), "CZT");
    waiting.send(query("insert into upsert_test values (2, 'c', 1) on conflict (code) do nothing"));
    EXPECT_TRUE(waiting.is_silent());
    block.ask(query(end));
    EXPECT_EQ(waiting.answer(), end == "commit" ? "E(23505)ZI" : "CZI");
    control.ask(query("delete from upsert_test"));
  }
}

// What it met stays as it is until the block ends.
TEST_F(UpsertTest, AConditionThatFailsLocksTheRow) {
  RawClient block, waiting;
  block.start();
  waiting.start();
  control.ask(query("insert into upsert_test values (1, 'c', 1)"));
  block.ask(query("begin"));
  block.send(
      query("insert into upsert_test values (1, 'd', 1) on conflict (id) do update set n = 2 "
            "where upsert_test.n > 100"));
  EXPECT_EQ(tag(block.read_answer()), "INSERT 0 0");
  waiting.send(query("update upsert_test set n = 1000 where id = 1"));
  EXPECT_TRUE(waiting.is_silent());
  ASSERT_EQ(block.ask(query("commit")), "CZI");
  EXPECT_EQ(waiting.answer(), "CZI");
}

}  // namespace
}  // namespace pgsilo::protocol_test
