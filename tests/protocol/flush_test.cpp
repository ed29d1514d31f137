// When answers leave: errors at once, everything else at Flush or Sync, in blocks and out of them.
// PostgreSQL passes these tests as well.
#include <gtest/gtest.h>

#include "tests/protocol/raw_client.h"

namespace pgsilo::protocol_test {
namespace {

class FlushTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    client.start();
    if (begins()) {
      ASSERT_EQ(client.ask(query(GetParam())), "CZT");
    }
  }
  void TearDown() override { client.ask(query("rollback")); }
  bool begins() const { return *GetParam() != '\0'; }

  // What comes although nothing more is sent: so many messages, then silence.
  std::string next(size_t count) {
    std::vector<Message> messages;
    for (size_t i = 0; i < count; ++i) {
      messages.push_back(client.read());
      if (messages.back().type == 'N') messages.pop_back();
    }
    EXPECT_TRUE(client.is_silent());
    return summary(messages);
  }
  std::string after_sync(bool failed) {
    client.send(sync());
    std::string expected = !begins() ? "ZI" : failed ? "ZE" : "ZT";
    std::string told = client.answer();
    return told == expected ? "as expected" : told;
  }
  RawClient client;
};

TEST_P(FlushTest, AnErrorOfParseLeaves) {
  client.send(parse("", "select nosuch") + describe('S') + flush());
  EXPECT_EQ(next(1), "E(42703)");
  EXPECT_EQ(after_sync(true), "as expected");
}

TEST_P(FlushTest, AnErrorLeavesWithoutFlush) {
  client.send(parse("", "selec 1"));
  EXPECT_EQ(next(1), "E(42601)");
  client.send(bind("", "") + execute() + flush());
  EXPECT_TRUE(client.is_silent());
  EXPECT_EQ(after_sync(true), "as expected");
}

TEST_P(FlushTest, AnErrorTakesWhatWasSaidBeforeItAlong) {
  client.send(parse("", "select 1") + bind("", "") + describe('P') + execute() +
              parse("", "select 1/(g - 1) from generate_series(1, 1) as g") + bind("", "") +
              execute() + describe('S'));
  EXPECT_EQ(next(8), "12TDC12E(22012)");
  EXPECT_EQ(after_sync(true), "as expected");
}

TEST_P(FlushTest, AnErrorOfBindLeaves) {
  client.send(parse("", "select $1::int") + bind("", "", {"x"}) + execute());
  EXPECT_EQ(next(2), "1E(22P02)");
  EXPECT_EQ(after_sync(true), "as expected");
}

TEST_P(FlushTest, AnErrorInTheMiddleOfRowsLeaves) {
  client.send(parse("", "select 1/(3 - g) from generate_series(1, 5) as g") + bind("", "") +
              execute());
  EXPECT_EQ(next(5), "12DDE(22012)");
  EXPECT_EQ(after_sync(true), "as expected");
}

TEST_P(FlushTest, AnErrorOfExecuteLeavesAfterWrites) {
  client.ask(query("create table if not exists flush_test (a int primary key)"));
  client.send(parse("", "insert into flush_test values (1)") + bind("", "") + execute() +
              bind("", "") + execute());
  EXPECT_EQ(next(5), "12C2E(23505)");
  EXPECT_EQ(after_sync(true), "as expected");
  client.ask(query("rollback; drop table if exists flush_test"));
}

TEST_P(FlushTest, WhatIsRightWaitsForFlush) {
  client.send(parse("", "select g from generate_series(1, 3) as g"));
  EXPECT_TRUE(client.is_silent());
  client.send(flush());
  EXPECT_EQ(next(1), "1");
  client.send(bind("", "") + describe('P'));
  EXPECT_TRUE(client.is_silent());
  client.send(flush());
  EXPECT_EQ(next(2), "2T");
  client.send(execute("", 1) + flush());
  EXPECT_EQ(next(2), "Ds");
  client.send(close_message('P', "") + flush());
  EXPECT_EQ(next(1), "3");
  EXPECT_EQ(after_sync(false), "as expected");
}

TEST_P(FlushTest, SavepointsGoOnBehindAnErrorThatLeft) {
  if (!begins()) GTEST_SKIP() << "there are no savepoints outside of a block";
  ASSERT_EQ(client.ask(query("savepoint s")), "CZT");
  client.send(parse("", "select nosuch") + flush());
  EXPECT_EQ(next(1), "E(42703)");
  EXPECT_EQ(client.ask(sync()), "ZE");
  EXPECT_EQ(client.ask(query("rollback to s")), "CZT");
  EXPECT_EQ(client.first_value("select 5"), "5");
}

INSTANTIATE_TEST_SUITE_P(Blocks, FlushTest,
                         ::testing::Values("", "begin", "begin isolation level read committed",
                                           "begin isolation level repeatable read"));

TEST(BeginTest, ABlockThatFailsWhileItBeginsIsNone) {
  RawClient client;
  client.start();
  EXPECT_EQ(client.ask(query("select 1; begin isolation level repeatable read")), "TDCE(25001)ZI");
  EXPECT_EQ(client.ask(query("select 1; begin; select 2")), "TDCCTDCZT");
  EXPECT_EQ(client.ask(query("begin isolation level repeatable read")), "E(25001)ZE");
  EXPECT_EQ(client.ask(query("rollback")), "CZI");
}

// What drivers go by that cache statements: pgjdbc and asyncpg heal themselves by the routine.
TEST(ErrorFieldsTest, AChangedResultTypeIsKnownByItsRoutine) {
  RawClient client;
  client.start();
  client.ask(query("drop table if exists heal_test"));
  ASSERT_EQ(client.ask(query("create table heal_test (a int)")), "CZI");
  ASSERT_EQ(client.ask(parse("s", "select * from heal_test") + sync()), "1ZI");
  ASSERT_EQ(client.ask(bind("", "s") + execute() + sync()), "2CZI");
  ASSERT_EQ(client.ask(query("alter table heal_test add column b int")), "CZI");
  client.send(bind("", "s") + execute() + sync());
  std::vector<Message> messages = client.read_answer();
  ASSERT_EQ(summary(messages), "E(0A000)ZI");
  EXPECT_EQ(field(messages[0], 'M'), "cached plan must not change result type");
  EXPECT_EQ(field(messages[0], 'R'), "RevalidateCachedQuery");
  // What they do then.
  EXPECT_EQ(client.ask(close_message('S', "s") + parse("s", "select * from heal_test") +
                       describe('S', "s") + bind("", "s") + execute() + sync()),
            "31tT2CZI");
  client.ask(query("drop table heal_test"));
}

TEST(ErrorFieldsTest, EveryErrorAndNoticeTellsWhereItComesFrom) {
  RawClient client;
  client.start();
  for (std::string text : {"select nosuch", "selec", "select 1/0", "rollback", "set nosuch = 1",
                           "drop table if exists nosuch", "copy nosuch from stdin",
                           "select 'x'::int", "declare c cursor for select 1"}) {
    client.send(query(text));
    bool told = false;
    for (const Message& message : client.read_answer()) {
      if (message.type != 'E' && message.type != 'N') continue;
      told = true;
      std::string file = field(message, 'F');
      EXPECT_NE(file, "") << text;
      EXPECT_EQ(file.find('/'), std::string::npos) << file;
      EXPECT_GT(std::atoi(field(message, 'L').c_str()), 0) << text;
      std::string routine = field(message, 'R');
      EXPECT_NE(routine, "") << text;
      EXPECT_EQ(routine.find_first_of(" :*&()<>"), std::string::npos) << routine;
    }
    EXPECT_TRUE(told) << text;
  }
}

TEST(ErrorFieldsTest, ABadParameterIsToldWithItsPortal) {
  RawClient client;
  client.start();
  auto context = [&](std::string_view portal, const std::string& value) {
    client.send(parse("", "select $1::int, $2::int") + bind(portal, "", {"1", value}) + sync());
    std::vector<Message> messages = client.read_answer();
    return messages.size() < 2 ? summary(messages) : field(messages[1], 'W');
  };
  EXPECT_EQ(context("", "x"), "unnamed portal parameter $2 = '...'");
  EXPECT_EQ(context("p", "x"), "portal \"p\" parameter $2 = '...'");
  client.ask(query("set log_parameter_max_length_on_error = 4"));
  EXPECT_EQ(context("", "it's long"), "unnamed portal parameter $2 = 'it''s...'");
  client.ask(query("set log_parameter_max_length_on_error = -1"));
  EXPECT_EQ(context("", "it's long"), "unnamed portal parameter $2 = 'it''s long'");
}

TEST(ErrorFieldsTest, AFailureIsToldWithItsParameters) {
  RawClient client;
  client.start();
  auto context = [&](std::string_view portal) {
    client.send(parse("", "select 1/(g - 1), $1::int, $2 from generate_series(1, 1) as g") +
                bind(portal, "", {"0", "it's"}) + execute(portal) + sync());
    std::vector<Message> messages = client.read_answer();
    return summary(messages) == "12E(22012)ZI" ? field(messages[2], 'W') : summary(messages);
  };
  EXPECT_EQ(context(""), "");
  client.ask(query("set log_parameter_max_length_on_error = 3"));
  EXPECT_EQ(context(""), "unnamed portal with parameters: $1 = '0', $2 = 'it''...'");
  EXPECT_EQ(context("p"), "portal \"p\" with parameters: $1 = '0', $2 = 'it''...'");
}

}  // namespace
}  // namespace pgsilo::protocol_test
