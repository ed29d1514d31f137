// The extended protocol: statements, portals, row limits, pipelines, error until Sync, formats.
#include <gtest/gtest.h>

#include "tests/protocol/raw_client.h"

namespace pgsilo::protocol_test {
namespace {

using namespace std::string_literals;

class ExtendedQueryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    client.start();
    client.ask(query("drop table if exists extended_test"));
    ASSERT_EQ(client.ask(query("create table extended_test (a int primary key, b text)")), "CZI");
  }
  void TearDown() override { client.ask(query("rollback; drop table if exists extended_test")); }
  std::vector<Message> exchange(std::string_view bytes) {
    client.send(bytes);
    return client.read_answer();
  }
  RawClient client;
};

TEST_F(ExtendedQueryTest, RunsAStatement) {
  std::vector<Message> messages =
      exchange(parse("", "select $1::int + 1, $2") + describe('S') + bind("", "", {"41", "text"}) +
               describe('P') + execute() + sync());
  ASSERT_EQ(summary(messages), "1tT2TDCZI");
  EXPECT_EQ(messages[1].body, int16(2) + int32(23) + int32(25));
  EXPECT_EQ(row_values(messages[5]), (std::vector<std::string>{"42", "text"}));
}

TEST_F(ExtendedQueryTest, StatementsWithoutRowsSaySo) {
  EXPECT_EQ(client.ask(parse("", "insert into extended_test values (1)") + bind("", "") +
                       describe('P') + execute() + sync()),
            "12nCZI");
  EXPECT_EQ(client.ask(parse("", "") + bind("", "") + describe('P') + execute() + sync()),
            "12nIZI");
  EXPECT_EQ(client.ask(parse("", "begin") + bind("", "") + execute() + sync()), "12CZT");
  EXPECT_EQ(client.ask(parse("", "rollback") + bind("", "") + execute() + sync()), "12CZI");
}

TEST_F(ExtendedQueryTest, NamedStatementsStay) {
  EXPECT_EQ(client.ask(parse("s", "select $1::int") + sync()), "1ZI");
  EXPECT_EQ(
      client.ask(bind("", "s", {"1"}) + execute() + bind("", "s", {"\\N"}) + execute() + sync()),
      "2DC2DCZI");
  EXPECT_EQ(client.ask(parse("s", "select 2") + sync()), "E(42P05)ZI");
  EXPECT_EQ(client.ask(query("execute s(5)")), "TDCZI");
  EXPECT_EQ(client.ask(query("deallocate s")), "CZI");
  EXPECT_EQ(client.ask(bind("", "s", {"1"}) + sync()), "E(26000)ZI");
  EXPECT_EQ(client.ask(query("prepare p as select $1::text || 'x'")), "CZI");
  std::vector<Message> messages =
      exchange(bind("", "p", {"y"}) + execute() + close_message('S', "p") + sync());
  ASSERT_EQ(summary(messages), "2DC3ZI");
  EXPECT_EQ(row_values(messages[1])[0], "yx");
  EXPECT_EQ(client.ask(query("execute p('y')")), "E(26000)ZI");
  EXPECT_EQ(client.ask(close_message('S', "nosuch") + sync()), "3ZI");
}

// Messages as summary(), with the tags of commands.
std::string with_tags(const std::vector<Message>& messages) {
  std::string text;
  for (const Message& message : messages) {
    text += summary({message});
    if (message.type == 'C') text += "(" + message.body.substr(0, message.body.size() - 1) + ")";
  }
  return text;
}

// A limit that the last row meets is a limit; a tag counts what its Execute has delivered.
TEST_F(ExtendedQueryTest, ALimitThatTheLastRowMeetsSuspends) {
  client.ask(query("insert into extended_test values (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd')"));
  client.ask(query("prepare four as select a from extended_test"));
  struct Case {
    std::string sql;
    int limit;
    std::string answer;
  };
  const Case cases[] = {
      {"select a from extended_test", 4, "DDDDsC(SELECT 0)C(SELECT 0)"},
      {"select a from extended_test order by a desc", 2, "DDsDDsC(SELECT 0)"},
      {"select a from extended_test where a = 2", 1, "DsC(SELECT 0)C(SELECT 0)"},
      {"select a from extended_test where a = 2", 2, "DC(SELECT 1)C(SELECT 0)C(SELECT 0)"},
      {"select count(*) from extended_test", 1, "DsC(SELECT 0)C(SELECT 0)"},
      {"values (1), (2)", 1, "DsDsC(SELECT 0)"},
      {"show timezone", 1, "DsC(SHOW)C(SHOW)"},
      {"show timezone", 2, "DC(SHOW)C(SHOW)C(SHOW)"},
      {"explain (costs off) select a from extended_test where b = 'x'", 1, "DsDsC(EXPLAIN)"},
      {"explain (costs off) select a from extended_test where b = 'x'", 3,
       "DDC(EXPLAIN)C(EXPLAIN)C(EXPLAIN)"},
      {"execute four", 2, "DDsDDsC(SELECT 0)"},
      {"select a from extended_test for update", 3, "DDDsDC(SELECT 1)C(SELECT 0)"},
      {"update extended_test set b = 'x' returning a", 2, "DDsDDsC(UPDATE 0)"},
      {"update extended_test set b = 'x' returning a", 3, "DDDsDC(UPDATE 1)C(UPDATE 0)"},
      {"insert into extended_test select a + 10 from extended_test returning a", 3,
       "DDDsDC(INSERT 0 1)C(INSERT 0 0)"},
      {"delete from extended_test where a > 1 returning a", 5,
       "DDDC(DELETE 3)C(DELETE 0)C(DELETE 0)"},
  };
  for (const char* level : {"read committed", "repeatable read", "serializable"}) {
    client.ask(query("set default_transaction_isolation = '" + std::string(level) + "'"));
    for (const Case& c : cases) {
      std::string executions =
          execute("p", c.limit) + execute("p", c.limit) + execute("p", c.limit);
      std::string run = parse("", c.sql) + bind("p", "") + executions + sync();
      client.ask(query("begin"));
      EXPECT_EQ(with_tags(exchange(run)), "12" + c.answer + "ZT") << c.sql << ", " << level;
      client.ask(query("rollback"));
      if (c.sql.find("returning") != std::string::npos) continue;  // it changes the table
      EXPECT_EQ(with_tags(exchange(run)), "12" + c.answer + "ZI") << c.sql << ", " << level;
    }
  }
}

// Also one that reads nothing.
TEST_F(ExtendedQueryTest, PortalsEndWithTheirTransaction) {
  EXPECT_EQ(client.ask(parse("", "show timezone") + bind("p", "") + execute("p") + sync()),
            "12DCZI");
  EXPECT_EQ(client.ask(bind("p", "") + sync()), "2ZI");
  EXPECT_EQ(client.ask(execute("p") + sync()), "E(34000)ZI");
}

// The names of a block's portals stay until it ends, though it has failed.
TEST_F(ExtendedQueryTest, PortalsOfAFailedBlockAreRefused) {
  client.ask(parse("five", "select * from generate_series(1, 5) g") + parse("end", "rollback") +
             parse("none", "") + sync());
  ASSERT_EQ(client.ask(query("begin")), "CZT");
  EXPECT_EQ(client.ask(bind("new", "five") + bind("begun", "five") + execute("begun", 2) +
                       bind("done", "five") + execute("done") + bind("end", "end") +
                       bind("none", "none") + bind("broken", "five") + sync()),
            "22DDs2DDDDDC222ZT");
  EXPECT_EQ(client.ask(query("select nosuch")), "E(42703)ZE");
  for (const char* portal : {"new", "begun", "done", "end", "broken"})
    EXPECT_EQ(client.ask(execute(portal) + sync()), "E(25P02)ZE") << portal;
  EXPECT_EQ(client.ask(execute("none") + sync()), "IZE");
  EXPECT_EQ(client.ask(execute("nosuch") + sync()), "E(34000)ZE");
  EXPECT_EQ(client.ask(describe('P', "new") + sync()), "E(25P02)ZE");
  EXPECT_EQ(client.ask(describe('P', "end") + sync()), "nZE");
  EXPECT_EQ(client.ask(bind("end", "end") + sync()), "E(42P03)ZE");
  EXPECT_EQ(client.ask(close_message('P', "end") + sync()), "3ZE");
  EXPECT_EQ(client.ask(execute("end") + sync()), "E(34000)ZE");
  EXPECT_EQ(client.ask(bind("end", "end") + execute("end") + sync()), "2CZI");
  EXPECT_EQ(client.ask(execute("new") + sync()), "E(34000)ZI");
}

// Those since the savepoint like all of a block without any; what ends the block, and is older,
// does so.
TEST_F(ExtendedQueryTest, PortalsOfABlockThatFailedBehindASavepoint) {
  client.ask(parse("five", "select * from generate_series(1, 5) g") + parse("end", "rollback") +
             sync());
  ASSERT_EQ(client.ask(query("begin")), "CZT");
  EXPECT_EQ(client.ask(bind("old", "five") + bind("old end", "end") + sync()), "22ZT");
  EXPECT_EQ(client.ask(query("savepoint a")), "CZT");
  EXPECT_EQ(client.ask(bind("new", "five") + bind("new end", "end") + sync()), "22ZT");
  EXPECT_EQ(client.ask(query("select nosuch")), "E(42703)ZE");
  for (const char* portal : {"old", "new", "new end"})
    EXPECT_EQ(client.ask(execute(portal) + sync()), "E(25P02)ZE") << portal;
  EXPECT_EQ(client.ask(describe('P', "old") + sync()), "E(25P02)ZE");
  EXPECT_EQ(client.ask(query("rollback to a")), "CZT");
  EXPECT_EQ(client.ask(execute("old") + sync()), "DDDDDCZT");
  EXPECT_EQ(client.ask(query("select nosuch")), "E(42703)ZE");
  EXPECT_EQ(client.ask(execute("old end") + sync()), "CZI");
}

TEST_F(ExtendedQueryTest, PortalsGiveRowsInPieces) {
  client.send(parse("", "select * from generate_series(1, 5) as g") + bind("p", "") +
              execute("p", 2) + execute("p", 2) + execute("p", 2) + sync());
  EXPECT_EQ(client.answer(), "12DDsDDsDCZI");
  // The portal ended with its transaction.
  EXPECT_EQ(client.ask(execute("p", 2) + sync()), "E(34000)ZI");
  EXPECT_EQ(client.ask(query("begin")), "CZT");
  EXPECT_EQ(client.ask(parse("", "select * from generate_series(1, 5) as g") + bind("p", "") +
                       execute("p", 3) + sync()),
            "12DDDsZT");
  EXPECT_EQ(client.ask(query("select 1")), "TDCZT");
  EXPECT_EQ(client.ask(execute("p", 0) + sync()), "DDCZT");
  // A simple query has dropped the unnamed statement.
  EXPECT_EQ(client.ask(bind("q", "") + sync()), "E(26000)ZE");
  EXPECT_EQ(client.ask(query("rollback; begin")), "CCZT");
  EXPECT_EQ(client.ask(parse("", "select 1") + bind("p", "") + bind("p", "") + sync()),
            "12E(42P03)ZE");
  EXPECT_EQ(client.ask(query("rollback")), "CZI");
}

TEST_F(ExtendedQueryTest, LimitedChangesRunToTheirEnd) {
  EXPECT_EQ(
      client.ask(
          parse(
              "",
              "insert into extended_test select g, 'x' from generate_series(1, 4) g returning a") +
          bind("", "") + execute("", 3) + sync()),
      "12DDDsZI");
  std::vector<Message> messages = exchange(query("select count(*) from extended_test"));
  EXPECT_EQ(row_values(messages[1])[0], "4");
}

TEST_F(ExtendedQueryTest, AfterAnErrorEverythingUpToSyncIsSkipped) {
  EXPECT_EQ(client.ask(parse("", "insert into extended_test values (1)") + bind("", "") +
                       execute() + parse("", "select nosuch") + bind("", "") + execute() +
                       query("select 1") + sync()),
            "12CE(42703)ZI");
  // The pipeline was one transaction.
  std::vector<Message> messages = exchange(query("select count(*) from extended_test"));
  EXPECT_EQ(row_values(messages[1])[0], "0");
  EXPECT_EQ(client.ask(bind("", "nosuch") + execute() + sync() + parse("", "select 1") +
                       bind("", "") + execute() + sync()),
            "E(26000)ZI");
  EXPECT_EQ(client.answer(), "12DCZI");
}

TEST_F(ExtendedQueryTest, APipelineIsOneTransactionUpToSync) {
  std::string insert = parse("i", "insert into extended_test values ($1::int, $2)");
  for (int i = 0; i < 50; ++i) insert += bind("", "i", {std::to_string(i), "v"}) + execute();
  client.send(insert + sync());
  std::string expected = "1";
  for (int i = 0; i < 50; ++i) expected += "2C";
  EXPECT_EQ(client.answer(), expected + "ZI");
  EXPECT_EQ(client.ask(bind("", "i", {"100", "v"}) + execute() + bind("", "i", {"1", "v"}) +
                       execute() + sync()),
            "2C2E(23505)ZI");
  std::vector<Message> messages = exchange(query("select count(*) from extended_test"));
  EXPECT_EQ(row_values(messages[1])[0], "50");
}

TEST_F(ExtendedQueryTest, BlocksMayLieInsideOfAPipeline) {
  auto run = [](std::string_view sql) { return parse("", sql) + bind("", "") + execute(); };
  EXPECT_EQ(client.ask(run("begin") + run("insert into extended_test values (1)") + run("commit") +
                       run("insert into extended_test values (2)") +
                       run("insert into extended_test values (1)") + sync()),
            "12C12C12C12C12E(23505)ZI");
  std::vector<Message> messages = exchange(query("select count(*), max(a) from extended_test"));
  EXPECT_EQ(row_values(messages[1]), (std::vector<std::string>{"1", "1"}));
}

TEST_F(ExtendedQueryTest, FlushSendsWhatThereIs) {
  client.send(parse("", "select $1::int") + describe('S') + flush());
  EXPECT_EQ(client.read().type, '1');
  EXPECT_EQ(client.read().type, 't');
  EXPECT_EQ(client.read().type, 'T');
  EXPECT_TRUE(client.is_silent());
  client.send(bind("", "", {"3"}) + execute() + flush());
  EXPECT_EQ(client.read().type, '2');
  EXPECT_EQ(row_values(client.read())[0], "3");
  EXPECT_EQ(client.read().type, 'C');
  EXPECT_EQ(client.ask(sync()), "ZI");
}

TEST_F(ExtendedQueryTest, BinaryParametersAndResults) {
  // One format for all parameters, one for each result column.
  std::string body = cstring("") + cstring("") + int16(1) + int16(1) + int16(2) + int32(4) +
                     int32(40) + int32(3) + "abc" + int16(3) + int16(1) + int16(0) + int16(1);
  std::vector<Message> messages = exchange(parse("", "select $1::int + 2, $1, $2::text") +
                                           message('B', body) + describe('P') + execute() + sync());
  ASSERT_EQ(summary(messages), "12TDCZI");
  EXPECT_EQ(row_values(messages[3]), (std::vector<std::string>{int32(42), "40", "abc"}));
}

TEST_F(ExtendedQueryTest, SubscriptsOfBinaryArraysFitInInt4) {
  auto upper_of_two = [&](int lower) {
    std::string two = int32(1) + int32(0) + int32(23) + int32(2) + int32(lower) + int32(4) +
                      int32(7) + int32(4) + int32(8);
    std::string body = cstring("") + cstring("") + int16(1) + int16(1) + int16(1) +
                       int32(static_cast<int>(two.size())) + two + int16(0);
    std::vector<Message> messages = exchange(parse("", "select array_upper($1::int[], 1)") +
                                             message('B', body) + execute() + sync());
    if (messages[1].type == 'E') return field(messages[1], 'C') + " " + field(messages[1], 'M');
    return row_values(messages[2])[0];
  };
  EXPECT_EQ(upper_of_two(2147483645), "2147483646");
  EXPECT_EQ(upper_of_two(2147483646), "54000 array lower bound is too large: 2147483646");
  EXPECT_EQ(upper_of_two(2147483647), "54000 array lower bound is too large: 2147483647");
}

TEST_F(ExtendedQueryTest, MalformedBindsAreRefused) {
  EXPECT_EQ(client.ask(parse("s", "select $1::int, $2::int") + sync()), "1ZI");
  EXPECT_EQ(client.ask(bind("", "s", {"1"}) + sync()), "E(08P01)ZI");
  EXPECT_EQ(client.ask(bind("", "s", {"1", "2", "3"}) + sync()), "E(08P01)ZI");
  EXPECT_EQ(client.ask(bind("", "s", {"1", "x"}) + sync()), "E(22P02)ZI");
  EXPECT_EQ(client.ask(bind("", "s", {"1", "\xff"}) + sync()), "E(22021)ZI");
  auto raw = [&](const std::string& rest) {
    return client.ask(message('B', cstring("") + cstring("s") + rest) + sync());
  };
  // A format code that does not exist; three codes for two parameters; a value longer than the
  // message; rest behind.
  EXPECT_EQ(raw(int16(1) + int16(2) + int16(2) + int32(1) + "1" + int32(1) + "2" + int16(0)),
            "E(22023)ZI");
  EXPECT_EQ(raw(int16(3) + int16(0) + int16(0) + int16(0) + int16(2) + int32(1) + "1" + int32(1) +
                "2" + int16(0)),
            "E(08P01)ZI");
  EXPECT_EQ(raw(int16(0) + int16(2) + int32(1) + "1" + int32(1000000) + "2" + int16(0)),
            "E(08P01)ZI");
  EXPECT_EQ(raw(int16(0) + int16(2) + int32(1) + "1" + int32(1) + "2" + int16(0) + "x"),
            "E(08P01)ZI");
  EXPECT_EQ(raw(int16(1) + int16(1) + int16(2) + int32(3) + "123" + int32(4) + int32(5) + int16(0)),
            "E(08P01)ZI");
  EXPECT_EQ(client.ask(describe('X') + sync()), "E(08P01)ZI");
  EXPECT_EQ(client.ask(bind("", "s", {"1", "2"}) + execute() + sync()), "2DCZI");
}

// Of parameters before the portal is there, NULLs too; of results with the first row.
TEST_F(ExtendedQueryTest, FormatCodesThatDoNotExistAreToldWhenNeeded) {
  auto run = [&](std::string_view sql, const std::string& rest) {
    return client.ask(parse("", sql) + message('B', cstring("") + cstring("") + rest) +
                      describe('P') + execute() + sync());
  };
  const std::string result_format_2 = int16(0) + int16(0) + int16(1) + int16(2);
  EXPECT_EQ(run("select 1", result_format_2), "12TE(22023)ZI");
  EXPECT_EQ(run("select null", result_format_2), "12TE(22023)ZI");
  EXPECT_EQ(run("select 1 where false", result_format_2), "12TCZI");
  EXPECT_EQ(run("insert into extended_test values (7)", result_format_2), "12nCZI");
  EXPECT_EQ(run("select 1, 2", int16(0) + int16(0) + int16(2) + int16(0) + int16(-1)),
            "12TE(22023)ZI");
  std::string null_in_format_2 = int16(1) + int16(2) + int16(1) + int32(-1) + int16(0);
  EXPECT_EQ(run("select $1::int", null_in_format_2), "1E(22023)ZI");
  // The number of parameters is looked at first.
  EXPECT_EQ(run("select $1::int, $2::int", null_in_format_2), "1E(08P01)ZI");
  // What the portal's description tells is the client's own word.
  std::vector<Message> messages =
      exchange(parse("", "select 1") + message('B', cstring("") + cstring("") + result_format_2) +
               describe('P') + sync());
  ASSERT_EQ(summary(messages), "12TZI");
  EXPECT_TRUE(messages[2].body.ends_with(int16(2)));
}

TEST_F(ExtendedQueryTest, OnlyOneCommandInAStatement) {
  EXPECT_EQ(client.ask(parse("", "select 1; select 2") + sync()), "E(42601)ZI");
  EXPECT_EQ(client.ask(parse("", "select 1;") + sync()), "1ZI");
}

TEST_F(ExtendedQueryTest, ChangedTablesAreNoticed) {
  EXPECT_EQ(client.ask(parse("s", "select * from extended_test") + sync()), "1ZI");
  EXPECT_EQ(client.ask(parse("i", "insert into extended_test (a) values ($1::int)") + sync()),
            "1ZI");
  EXPECT_EQ(client.ask(query("alter table extended_test add column c int default 5")), "CZI");
  EXPECT_EQ(client.ask(bind("", "i", {"1"}) + execute() + sync()), "2CZI");
  EXPECT_EQ(client.ask(bind("", "s") + execute() + sync()), "E(0A000)ZI");
  std::vector<Message> messages = exchange(query("select c from extended_test"));
  EXPECT_EQ(row_values(messages[1])[0], "5");
}

TEST_F(ExtendedQueryTest, FailedBlocksRefuseAllButTheirEnd) {
  EXPECT_EQ(client.ask(query("begin; select nosuch")), "CE(42703)ZE");
  EXPECT_EQ(client.ask(parse("", "select 1") + sync()), "E(25P02)ZE");
  EXPECT_EQ(client.ask(parse("", "rollback") + bind("", "") + execute() + sync()), "12CZI");
}

// What a piece that is refused has read was never so: rows that others have moved meanwhile.
TEST_F(ExtendedQueryTest, APieceThatDoesNotFitTellsNoRows) {
  client.ask(query("insert into extended_test select g, 'row' from generate_series(1, 300) g"));
  ASSERT_EQ(client.ask(query("begin isolation level serializable")), "CZT");
  ASSERT_EQ(client.ask(parse("", "select a, b from extended_test order by a") + bind("p", "") +
                       execute("p", 1) + sync()),
            "12DsZT");
  RawClient other;
  other.start();
  ASSERT_EQ(other.ask(query("update extended_test set a = 999 where a = 1")), "CZI");
  const std::string rest = std::string(299, 'D') + "CZT";  // of PostgreSQL's snapshot
  std::string said = client.ask(execute("p") + sync());
  EXPECT_TRUE(said == rest || said == "E(40001)ZE") << said;
}

TEST_F(ExtendedQueryTest, ShowAndExecuteAreDescribed) {
  std::vector<Message> messages =
      exchange(parse("", "show work_mem") + describe('S') + bind("", "") + execute() + sync());
  ASSERT_EQ(summary(messages), "1tT2DCZI");
  EXPECT_EQ(messages[2].body.substr(2, 9), cstring("work_mem"));
  EXPECT_EQ(client.ask(query("prepare p as select 1 as one")), "CZI");
  EXPECT_EQ(client.ask(parse("", "execute p") + describe('S') + bind("", "") + execute() + sync()),
            "1tT2DCZI");
}

TEST_F(ExtendedQueryTest, AnExecuteOfItselfIsTooDeep) {
  client.ask(parse("one", "select 1") + parse("other", "execute one") + close_message('S', "one") +
             parse("one", "execute other") + sync());
  for (const char* portal : {"", "p"}) {
    EXPECT_EQ(client.ask(bind(portal, "one") + execute(portal) + sync()), "2E(54001)ZI");
    EXPECT_TRUE(client.ask(query("execute other")).ends_with("E(54001)ZI"));
  }
}

// Few are not.
TEST_F(ExtendedQueryTest, AnExecuteMayRunAnother) {
  client.ask(parse("s0", "select 1") + sync());
  for (int i = 1; i <= 50; ++i) {
    std::string name = "s" + std::to_string(i);
    client.ask(parse(name, "execute s" + std::to_string(i - 1)) + sync());
  }
  EXPECT_EQ(client.ask(bind("", "s50") + execute() + sync()), "2DCZI");
}

}  // namespace
}  // namespace pgsilo::protocol_test
