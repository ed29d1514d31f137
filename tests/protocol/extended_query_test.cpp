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

TEST_F(ExtendedQueryTest, ShowAndExecuteAreDescribed) {
  std::vector<Message> messages =
      exchange(parse("", "show work_mem") + describe('S') + bind("", "") + execute() + sync());
  ASSERT_EQ(summary(messages), "1tT2DCZI");
  EXPECT_EQ(messages[2].body.substr(2, 9), cstring("work_mem"));
  EXPECT_EQ(client.ask(query("prepare p as select 1 as one")), "CZI");
  EXPECT_EQ(client.ask(parse("", "execute p") + describe('S') + bind("", "") + execute() + sync()),
            "1tT2DCZI");
}

}  // namespace
}  // namespace pgsilo::protocol_test
