// What statement_timeout measures, and when a session counts as idle: the client's pauses inside of
// an answer are neither. PostgreSQL passes these tests as well.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include "tests/protocol/raw_client.h"

namespace pgsilo::protocol_test {
namespace {

void pause_ms(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

// A statement from Bind to Execute.
std::string run(const std::string& statement) {
  return protocol_test::bind("", statement) + execute();
}

class StatementTimeoutTest : public testing::Test {
 protected:
  void SetUp() override {
    client.start();
    for (const char* seconds : {"0.3", "10"}) {
      ASSERT_EQ(
          client.ask(parse(seconds, "select pg_sleep(" + std::string(seconds) + ")") + sync()),
          "1ZI");
    }
    ASSERT_EQ(client.ask(parse("one", "select 1") + sync()), "1ZI");
    set("statement_timeout", "500ms");
  }
  void set(const std::string& name, const std::string& value) {
    ASSERT_EQ(client.ask(query("set " + name + " = '" + value + "'")), "CZI");
  }
  // So many messages.
  std::string next(size_t count) {
    std::vector<Message> messages;
    for (size_t i = 0; i < count; ++i) messages.push_back(client.read());
    return summary(messages);
  }
  RawClient client;
};

TEST_F(StatementTimeoutTest, SetByAStatementBefore) {
  set("statement_timeout", "0");
  EXPECT_EQ(client.ask(query("set statement_timeout = '100ms'; select pg_sleep(10)")),
            "CTE(57014)ZI");
  EXPECT_EQ(client.ask(query("begin; set local statement_timeout = '100ms'; select pg_sleep(10)")),
            "CCTE(57014)ZE");
  EXPECT_EQ(client.ask(query("rollback; select pg_sleep(0.2)")), "CTDCZI");
}

TEST_F(StatementTimeoutTest, TakenBackByAStatementBefore) {
  EXPECT_EQ(client.ask(query("set statement_timeout = 0; select pg_sleep(0.7)")), "CTDCZI");
}

TEST_F(StatementTimeoutTest, OfEachStatementOfAMessage) {
  EXPECT_EQ(client.ask(query("select pg_sleep(0.3); select pg_sleep(0.3)")), "TDCTDCZI");
  EXPECT_EQ(client.ask(query("begin; select pg_sleep(0.3); select pg_sleep(0.3)")), "CTDCTDCZT");
  EXPECT_EQ(client.ask(query("select pg_sleep(0.3); select pg_sleep(10)")), "TDCTE(57014)ZE");
}

TEST_F(StatementTimeoutTest, OfEachExecute) {
  EXPECT_EQ(client.ask(run("0.3") + run("0.3") + run("0.3") + sync()), "2DC2DC2DCZI");
  EXPECT_EQ(client.ask(run("0.3") + run("10") + sync()), "2DC2E(57014)ZI");
}

TEST_F(StatementTimeoutTest, NotOfAPauseBehindExecute) {
  for (const char* begin : {"", "begin"}) {
    client.ask(query(begin));
    std::string state = *begin == '\0' ? "ZI" : "ZT";
    client.send(run("one") + flush());
    EXPECT_EQ(next(3), "2DC");
    pause_ms(700);
    EXPECT_EQ(client.ask(run("one") + sync()), "2DC" + state);
    client.send(run("one") + flush());
    EXPECT_EQ(next(3), "2DC");
    pause_ms(700);
    EXPECT_EQ(client.ask(sync()), state);
    client.ask(query("rollback"));
  }
}

TEST_F(StatementTimeoutTest, OfAPauseBehindParse) {
  client.send(parse("", "select pg_sleep(0.3)") + flush());
  EXPECT_EQ(next(1), "1");
  pause_ms(300);
  EXPECT_EQ(client.ask(run("") + sync()), "2E(57014)ZI");
}

TEST_F(StatementTimeoutTest, MayRunOutInAPause) {
  for (const std::string& message : {run("") + sync(), sync()}) {
    client.send(parse("", "select pg_sleep(0.3)") + describe('S') + flush());
    EXPECT_EQ(next(3), "1tT");
    pause_ms(700);
    EXPECT_EQ(client.ask(message), "E(57014)ZI");
  }
}

TEST_F(StatementTimeoutTest, OfAPortalThatHasNotEnded) {
  client.send(parse("", "select pg_sleep(0.2) from generate_series(1, 3)") + bind("", "") +
              execute("", 1) + flush());
  EXPECT_EQ(next(4), "12Ds");
  pause_ms(200);
  EXPECT_EQ(client.ask(execute("", 1) + sync()), "E(57014)ZI");
}

TEST_F(StatementTimeoutTest, NotOfAPauseBehindAnError) {
  client.send(parse("", "select nosuch") + flush());
  EXPECT_EQ(next(1), "E(42703)");
  pause_ms(700);
  EXPECT_EQ(client.ask(sync() + run("0.3") + sync()), "ZI");
  EXPECT_EQ(client.answer(), "2DCZI");
}

TEST_F(StatementTimeoutTest, EndsNoDescribeBehindIt) {
  EXPECT_EQ(client.ask(query("select pg_sleep(10)") + describe('S', "one") + sync()),
            "TE(57014)ZI");
  EXPECT_EQ(client.answer(), "tTZI");
  EXPECT_EQ(client.ask(run("10") + sync()), "2E(57014)ZI");
  EXPECT_EQ(client.ask(describe('S', "one") + describe('S', "10") + sync()), "tTtTZI");
}

class IdleTimeoutTest : public StatementTimeoutTest {
 protected:
  void SetUp() override {
    StatementTimeoutTest::SetUp();
    set("statement_timeout", "0");
    set("idle_session_timeout", "200ms");
    set("idle_in_transaction_session_timeout", "200ms");
  }
  std::string last_words() {
    std::string words = field(client.read(), 'C');
    EXPECT_EQ(client.read().type, '\0');
    return words;
  }
};

TEST_F(IdleTimeoutTest, NotBeforeSync) {
  client.send(run("one") + flush());
  EXPECT_EQ(next(3), "2DC");
  pause_ms(500);
  EXPECT_EQ(client.ask(sync()), "ZI");
  client.send(parse("", "select 1") + flush());
  EXPECT_EQ(next(1), "1");
  pause_ms(500);
  EXPECT_EQ(client.ask(sync()), "ZI");
  EXPECT_EQ(last_words(), "57P05");
}

TEST_F(IdleTimeoutTest, NotBeforeSyncInABlock) {
  ASSERT_EQ(client.ask(query("begin")), "CZT");
  client.send(run("one") + flush());
  EXPECT_EQ(next(3), "2DC");
  pause_ms(500);
  EXPECT_EQ(client.ask(run("one") + sync()), "2DCZT");
  EXPECT_EQ(last_words(), "25P03");
}

TEST_F(IdleTimeoutTest, NotBeforeSyncBehindAnError) {
  client.send(parse("", "select nosuch") + flush());
  EXPECT_EQ(next(1), "E(42703)");
  pause_ms(500);
  EXPECT_EQ(client.ask(sync()), "ZI");
  EXPECT_EQ(last_words(), "57P05");
}

}  // namespace
}  // namespace pgsilo::protocol_test
