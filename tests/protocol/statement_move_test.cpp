// Prepared statements of sessions that move mean at the new place what they meant at the old one.
// In a server where sessions stay each of these tests must hold as well.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/protocol/session_move_support.h"

namespace pgsilo::protocol_test {
namespace {

class StatementMoveTest : public SessionMoveTest {
 protected:
  void SetUp() override {
    SessionMoveTest::SetUp();
    if (!IsSkipped()) drop();
  }
  void TearDown() override {
    if (!IsSkipped()) drop();
  }
  void drop() { observer.client().ask(query("drop table if exists move_table")); }
  // What the client is told of a statement, byte by byte.
  std::string description(const std::string& name) {
    client.send(describe('S', name) + sync());
    std::string said;
    for (const Message& each : client.read_answer()) said += each.type + each.body;
    return said;
  }
};

TEST_F(StatementMoveTest, AllKindsComeAlong) {
  ASSERT_EQ(client.ask(query("prepare sql (text) as select upper($1)")), "CZI");
  ASSERT_EQ(client.ask(parse("named", "select $1::int + 1") + sync()), "1ZI");
  ASSERT_EQ(client.ask(parse("empty", "") + sync()), "1ZI");
  ASSERT_EQ(client.ask(parse("command", "show application_name") + sync()), "1ZI");
  ASSERT_EQ(client.ask(parse("", "select 'unnamed ' || $1::text") + sync()), "1ZI");
  int before = moves();
  for (int round = 0; round < 4; ++round) {
    EXPECT_EQ(run("", {"x"}), "unnamed x ");
    EXPECT_EQ(run("named", {std::to_string(round)}), std::to_string(round + 1) + " ");
    EXPECT_EQ(client.ask(bind("", "empty") + execute() + sync()), "2IZI");
    EXPECT_EQ(run("command"), " ");
    EXPECT_EQ(run("sql", {"word"}), "WORD ");
  }
  if (always_) {
    EXPECT_EQ(moves(), before + 20);
  }
  EXPECT_EQ(client.column("execute sql('word')"), "WORD ");
  EXPECT_EQ(client.column("execute named(7)"), "8 ");
  // A query ends the unnamed one.
  EXPECT_EQ(run(""), "26000 ");
  // The names are taken there as well.
  EXPECT_EQ(client.ask(parse("named", "select 2") + sync()), "E(42P05)ZI");
  EXPECT_EQ(client.ask(query("prepare sql as select 2")), "E(42P05)ZI");
  go_round();
}

TEST_F(StatementMoveTest, WhatHasGoneIsNowhere) {
  auto prepare_three = [&] {
    for (const char* name : {"a", "b", "c"})
      ASSERT_EQ(client.ask(parse(name, "select 1") + sync()), "1ZI");
    go_round();
  };
  prepare_three();
  EXPECT_EQ(client.ask(close_message('S', "a") + sync()), "3ZI");
  EXPECT_EQ(run("a"), "26000 ");
  EXPECT_EQ(client.ask(query("deallocate b")), "CZI");
  EXPECT_EQ(run("b"), "26000 ");
  EXPECT_EQ(run("c"), "1 ");
  EXPECT_EQ(client.ask(query("deallocate all")), "CZI");
  EXPECT_EQ(run("c"), "26000 ");
  prepare_three();
  EXPECT_EQ(client.ask(query("discard all")), "CZI");
  for (const char* name : {"a", "b", "c"}) EXPECT_EQ(run(name), "26000 ");
  // A Parse that fails leaves no unnamed one.
  ASSERT_EQ(client.ask(parse("", "select 1") + sync()), "1ZI");
  EXPECT_EQ(run(""), "1 ");
  EXPECT_EQ(client.ask(parse("", "select nosuch") + sync()), "E(42703)ZI");
  EXPECT_EQ(run(""), "26000 ");
}

// Literals are read once, by the settings of then; whichever message it moves with.
TEST_F(StatementMoveTest, SettingsThatComeLaterChangeNothing) {
  struct Case {
    const char *read_under, *sql, *run_under, *expected;
  };
  const Case cases[] = {
      {"set datestyle to 'iso, dmy'", "select '03/04/2020'::date::text",
       "set datestyle to 'iso, mdy'", "2020-04-03 "},
      {"set timezone to 'Asia/Tokyo'",
       "select extract(epoch from timestamptz '2020-01-01 00:00')::int8::text",
       "set timezone to 'UTC'", "1577804400 "},
      {"set intervalstyle to 'sql_standard'",
       "select extract(epoch from interval '-1 2:03:04')::int8::text",
       "set intervalstyle to 'postgres'", "-93784 "},
  };
  for (const Case& each : cases) {
    ASSERT_EQ(client.ask(query("discard all")), "CZI");
    ASSERT_EQ(client.ask(query(each.read_under)), "CZI");
    ASSERT_EQ(client.ask(query(std::string("prepare sql as ") + each.sql)), "CZI");
    ASSERT_EQ(client.ask(parse("named", each.sql) + sync()), "1ZI");
    ASSERT_EQ(client.ask(parse("settled", each.sql) + sync()), "1ZI");
    ASSERT_EQ(client.ask(parse("", each.sql) + sync()), "1ZI");
    EXPECT_EQ(run("settled"), each.expected) << each.sql;
    for (const char* name : {"", "named", "settled", "sql"})
      EXPECT_EQ(run(name), each.expected) << each.sql << " " << name;
    for (const char* set : {each.run_under, each.read_under, each.run_under}) {
      // The message that changes them runs it, too.
      EXPECT_EQ(client.column(std::string(set) + "; execute named"), each.expected) << set;
      for (int round = 0; round < 3; ++round) {
        for (const char* name : {"named", "settled", "sql"})
          EXPECT_EQ(run(name), each.expected) << set << " " << name;
      }
    }
    // What is prepared from here on is read by what holds from here on.
    ASSERT_EQ(client.ask(parse("later", each.sql) + sync()), "1ZI");
    EXPECT_NE(run("later"), each.expected) << each.sql;
    EXPECT_EQ(run("named"), each.expected) << each.sql;
  }
}

// Nor do those of a block that is rolled back, nor what others here prepare under their own.
TEST_F(StatementMoveTest, OthersSettingsChangeNothing) {
  const std::string sql = "select '03/04/2020'::date::text";
  ASSERT_EQ(client.ask(query("set datestyle to 'iso, dmy'")), "CZI");
  ASSERT_EQ(client.ask(parse("p", sql) + sync()), "1ZI");
  ASSERT_EQ(observer.client().ask(parse("p", sql) + sync()), "1ZI");
  auto observers = [&] {
    observer.client().send(bind("", "p") + execute() + sync());
    return first_column(observer.client().read_answer());
  };
  for (int round = 0; round < 4; ++round) {
    EXPECT_EQ(run("p"), "2020-04-03 ");
    EXPECT_EQ(observers(), "2020-03-04 ");
    ASSERT_EQ(client.ask(query("begin; set local datestyle to 'iso, mdy'; rollback")), "CCCZI");
  }
}

// The declared types of its parameters, and what was told of its columns.
TEST_F(StatementMoveTest, ItIsDescribedAsBefore) {
  ASSERT_EQ(client.ask(query("create table move_table (a int primary key, b numeric(8, 2), "
                             "c varchar(5))")),
            "CZI");
  const std::pair<const char*, std::vector<uint32_t>> texts[] = {
      {"select $1, $2", {20, 1082}},
      {"select *, b as again from move_table where a = $1 and c = $2", {}},
      {"insert into move_table values ($1, $2, $3)", {21}},
      {"update move_table set b = $1 returning c", {}},
      {"values ($1)", {}},
      {"show all", {}},
      {"begin", {}},
      {"", {}},
  };
  std::vector<std::string> described;
  for (const auto& [sql, types] : texts) {
    std::string name = "p" + std::to_string(described.size());
    ASSERT_EQ(client.ask(parse(name, sql, types) + sync()), "1ZI");
    described.push_back(description(name));
  }
  for (int round = 0; round < 3; ++round) {
    for (size_t i = 0; i < described.size(); ++i)
      EXPECT_EQ(description("p" + std::to_string(i)), described[i]) << texts[i].first;
    go_round();
  }
}

// A table that changes is another one there as here.
TEST_F(StatementMoveTest, WhatItRestsOnMayChange) {
  ASSERT_EQ(client.ask(query("create table move_table (a int primary key, b int); insert into "
                             "move_table values (1, 2)")),
            "CCZI");
  ASSERT_EQ(client.ask(parse("all", "select * from move_table") + sync()), "1ZI");
  ASSERT_EQ(client.ask(parse("one", "select b from move_table where a = $1") + sync()), "1ZI");
  ASSERT_EQ(client.ask(parse("typed", "update move_table set b = $1 + b") + sync()), "1ZI");
  ASSERT_EQ(client.ask(query("prepare sql as select b from move_table")), "CZI");
  RawClient& other = observer.client();
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(run("all"), "1 ");
    EXPECT_EQ(run("one", {"1"}), "2 ");
    EXPECT_EQ(client.column("execute sql"), "2 ");
    ASSERT_EQ(other.ask(query("create index move_index on move_table (b); drop index move_index; "
                              "analyze move_table")),
              "CCCZI");
  }
  ASSERT_EQ(other.ask(query("alter table move_table add c int")), "CZI");
  EXPECT_EQ(run("all"), "0A000 ");
  EXPECT_EQ(run("one", {"1"}), "2 ");
  ASSERT_EQ(other.ask(query("alter table move_table alter a type text")), "CZI");
  // Its parameter is an integer, as the client was told.
  EXPECT_EQ(run("one", {"1"}), "42883 ");
  EXPECT_EQ(run("one", {"x"}), "22P02 ");
  ASSERT_EQ(other.ask(query("drop table move_table")), "CZI");
  EXPECT_EQ(run("all"), "42P01 ");
  ASSERT_EQ(other.ask(query("create table move_table (a int primary key, b int); insert into "
                            "move_table values (1, 3)")),
            "CCZI");
  EXPECT_EQ(run("all"), "1 ");
  EXPECT_EQ(run("one", {"1"}), "3 ");
  EXPECT_EQ(client.column("execute sql"), "3 ");
}

// Its parameters stay what they were told to be; also where they would be inferred otherwise now.
TEST_F(StatementMoveTest, ParametersStayWhatTheyWere) {
  ASSERT_EQ(client.ask(query("create table move_table (a int primary key, b int); insert into "
                             "move_table values (1, 2)")),
            "CCZI");
  ASSERT_EQ(client.ask(parse("p", "select b from move_table where a = $1") + sync()), "1ZI");
  std::string described = description("p");
  ASSERT_EQ(observer.client().ask(query("alter table move_table alter a type numeric")), "CZI");
  for (int round = 0; round < 4; ++round) {
    EXPECT_EQ(run("p", {"1"}), "2 ");
    EXPECT_EQ(run("p", {"3000000000"}), "22003 ");
    EXPECT_EQ(description("p"), described);
  }
}

// Its first use there is where no statement may be planned.
TEST_F(StatementMoveTest, ABlockThatFailedEndsByOne) {
  ASSERT_EQ(client.ask(parse("begin", "begin") + sync()), "1ZI");
  ASSERT_EQ(client.ask(parse("commit", "commit") + sync()), "1ZI");
  ASSERT_EQ(client.ask(parse("read", "select 1") + sync()), "1ZI");
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(client.ask(bind("", "begin") + execute() + sync()), "2CZT");
    EXPECT_EQ(client.ask(query("select nosuch")), "E(42703)ZE");
    EXPECT_EQ(client.ask(bind("", "read") + execute() + sync()), "E(25P02)ZE");
    EXPECT_EQ(client.ask(describe('S', "commit") + sync()), "tnZE");
    EXPECT_EQ(client.ask(bind("", "commit") + execute() + sync()), "2CZI");
    EXPECT_EQ(run("read"), "1 ");
  }
}

// DISCARD PLANS: it is read anew, by the settings of then.
TEST_F(StatementMoveTest, ADiscardedPlanIsMadeAnew) {
  ASSERT_EQ(client.ask(query("set datestyle to 'iso, dmy'")), "CZI");
  ASSERT_EQ(client.ask(parse("p", "select '03/04/2020'::date::text") + sync()), "1ZI");
  go_round();
  ASSERT_EQ(client.ask(query("discard plans")), "CZI");
  EXPECT_EQ(run("p"), "2020-04-03 ");
  ASSERT_EQ(client.ask(query("discard plans")), "CZI");
  ASSERT_EQ(client.ask(query("set datestyle to 'iso, mdy'")), "CZI");
  EXPECT_EQ(run("p"), "2020-03-04 ");
}

// Each run is counted once, wherever it was.
TEST_F(StatementMoveTest, RunsAreCounted) {
  const std::string sql = "select 'counted on the move', $1::int";
  ASSERT_EQ(client.ask(parse("p", sql) + sync()), "1ZI");
  std::string calls =
      "select coalesce(sum(calls), 0)::int from pgsilo_stat_statements where query = "
      "$$select 'counted on the move', $1::int$$";
  int before = std::stoi(observer.client().first_value(calls));
  for (int i = 0; i < 10; ++i) EXPECT_EQ(run("p", {"1"}), "counted on the move ");
  EXPECT_EQ(std::stoi(observer.client().first_value(calls)), before + 10);
}

TEST_F(StatementMoveTest, ManyComeAlong) {
  constexpr int count = 5000;
  std::string many;
  for (int i = 0; i < count; ++i)
    many += parse("p" + std::to_string(i), "select " + std::to_string(i) + " + $1::int");
  client.send(many + sync());
  EXPECT_EQ(client.answer(), std::string(count, '1') + "ZI");
  go_round();
  for (int i = 0; i < count; i += 97)
    EXPECT_EQ(run("p" + std::to_string(i), {"1"}), std::to_string(i + 1) + " ");
  EXPECT_EQ(client.ask(query("deallocate all")), "CZI");
}

}  // namespace
}  // namespace pgsilo::protocol_test
