// Simple queries: several statements, implicit transactions, errors, malformed messages.
#include <gtest/gtest.h>

#include "tests/protocol/raw_client.h"

namespace pgsilo::protocol_test {
namespace {

class QueryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    client.start();
    client.ask(query("drop table if exists query_test"));
    ASSERT_EQ(client.ask(query("create table query_test (a int primary key, b text)")), "CZI");
  }
  void TearDown() override { client.ask(query("rollback; drop table if exists query_test")); }
  RawClient client;
};

TEST_F(QueryTest, AnswersRowsAndTags) {
  client.send(query("select 1 as one, null, 'x'"));
  std::vector<Message> messages = client.read_answer();
  ASSERT_EQ(summary(messages), "TDCZI");
  EXPECT_EQ(row_values(messages[1]), (std::vector<std::string>{"1", "\\N", "x"}));
  EXPECT_EQ(messages[2].body, cstring("SELECT 1"));
}

TEST_F(QueryTest, EmptyTextsAreAnswered) {
  EXPECT_EQ(client.ask(query("")), "IZI");
  EXPECT_EQ(client.ask(query("  -- nothing\n ")), "IZI");
  EXPECT_EQ(client.ask(query(";")), "IZI");
}

TEST_F(QueryTest, SeveralStatementsAreOneTransaction) {
  EXPECT_EQ(client.ask(query("insert into query_test values (1, 'a'); select 1/(a-a) from "
                             "query_test; insert into query_test values (2)")),
            "CTE(22012)ZI");
  EXPECT_EQ(client.first_value("select count(*) from query_test"), "0");
  EXPECT_EQ(client.ask(query(
                "insert into query_test values (1, 'a'); insert into query_test values (2, 'b')")),
            "CCZI");
  EXPECT_EQ(client.first_value("select count(*) from query_test"), "2");
}

TEST_F(QueryTest, ASyntaxErrorRunsNothing) {
  EXPECT_EQ(client.ask(query("insert into query_test values (1); selec 1")), "E(42601)ZI");
  EXPECT_EQ(client.first_value("select count(*) from query_test"), "0");
}

TEST_F(QueryTest, CommitAndBeginInsideOfAQuery) {
  EXPECT_EQ(client.ask(query("insert into query_test values (1); commit; insert into query_test "
                             "values (2); select 1/(a-a) from query_test")),
            "CCCTE(22012)ZI");
  EXPECT_EQ(client.first_value("select count(*) from query_test"), "1");
  EXPECT_EQ(client.ask(query(
                "insert into query_test values (3); begin; insert into query_test values (4)")),
            "CCCZT");
  EXPECT_EQ(client.ask(query("rollback")), "CZI");
  EXPECT_EQ(client.first_value("select count(*) from query_test"), "1");
}

TEST_F(QueryTest, AFailedBlockRefusesEverythingButItsEnd) {
  EXPECT_EQ(client.ask(query("begin")), "CZT");
  EXPECT_EQ(client.ask(query("select nosuch")), "E(42703)ZE");
  EXPECT_EQ(client.ask(query("select 1")), "E(25P02)ZE");
  EXPECT_EQ(client.ask(query("show work_mem")), "E(25P02)ZE");
  client.send(query("commit"));
  std::vector<Message> messages = client.read_answer();
  EXPECT_EQ(messages[0].body, cstring("ROLLBACK"));
  EXPECT_EQ(summary(messages), "CZI");
}

TEST_F(QueryTest, WarnsAboutMisplacedTransactionControl) {
  auto warning = [&](std::string_view sql) {
    client.send(query(sql));
    for (const Message& each : client.read_answer()) {
      if (each.type == 'N')
        return field(each, 'S') + " " + field(each, 'C') + " " + field(each, 'M');
    }
    return std::string();
  };
  EXPECT_EQ(warning("commit"), "WARNING 25P01 there is no transaction in progress");
  EXPECT_EQ(warning("rollback"), "WARNING 25P01 there is no transaction in progress");
  EXPECT_EQ(warning("begin"), "");
  EXPECT_EQ(warning("begin"), "WARNING 25001 there is already a transaction in progress");
  EXPECT_EQ(warning("rollback"), "");
  EXPECT_EQ(warning("set local work_mem = '1MB'"),
            "WARNING 25P01 SET LOCAL can only be used in transaction blocks");
  EXPECT_EQ(client.ask(query("commit and chain")), "E(25P01)ZI");
}

TEST_F(QueryTest, ChainedTransactionsKeepTheirModes) {
  EXPECT_EQ(client.ask(query("begin isolation level repeatable read read only")), "CZT");
  EXPECT_EQ(client.ask(query("commit and chain")), "CZT");
  EXPECT_EQ(client.first_value("show transaction_isolation"), "repeatable read");
  EXPECT_EQ(client.ask(query("insert into query_test values (1)")), "E(25006)ZE");
  EXPECT_EQ(client.ask(query("rollback")), "CZI");
}

TEST_F(QueryTest, ErrorsSayWhere) {
  client.send(query("select 1, 'ä', nosuch from query_test"));
  Message error = client.read_answer()[0];
  EXPECT_EQ(field(error, 'C'), "42703");
  EXPECT_EQ(field(error, 'P'), "16");
  EXPECT_EQ(field(error, 'V'), "ERROR");
}

TEST_F(QueryTest, TextsMustBeValidUtf8) {
  EXPECT_EQ(client.ask(query("select '\xff'")), "E(22021)ZI");
  EXPECT_EQ(client.ask(query("select '\xc3\x28'")), "E(22021)ZI");
  // What stands behind a NUL is not part of the text.
  EXPECT_EQ(client.ask(message('Q', std::string("select 1\0junk\0", 14))), "E(08P01)ZI");
  EXPECT_EQ(client.ask(message('Q', "select 1")), "E(08P01)ZI");
  EXPECT_EQ(client.ask(query("select 1")), "TDCZI");
}

TEST_F(QueryTest, HalfAMessageIsWaitedFor) {
  std::string bytes = query("select 42");
  for (char c : bytes.substr(0, bytes.size() - 1)) client.send({&c, 1});
  EXPECT_TRUE(client.is_silent());
  RawClient other;
  other.start();
  EXPECT_EQ(other.ask(query("select 1")), "TDCZI");
  client.send(std::string_view(bytes).substr(bytes.size() - 1));
  EXPECT_EQ(client.answer(), "TDCZI");
}

TEST_F(QueryTest, PipelinedQueriesAreAnsweredInOrder) {
  std::string bytes;
  for (int i = 0; i < 200; ++i) bytes += query("select " + std::to_string(i));
  client.send(bytes);
  for (int i = 0; i < 200; ++i) {
    std::vector<Message> messages = client.read_answer();
    ASSERT_EQ(summary(messages), "TDCZI");
    EXPECT_EQ(row_values(messages[1])[0], std::to_string(i));
  }
}

TEST_F(QueryTest, FunctionCallsAreRefused) {
  EXPECT_EQ(client.ask(message('F', int32(1) + int16(0) + int16(0) + int16(0))).substr(0, 2), "E(");
  EXPECT_EQ(client.ask(query("select 1")), "TDCZI");
}

TEST_F(QueryTest, ReadYourWrites) {
  EXPECT_EQ(client.ask(query("begin; insert into query_test values (7, 'x'); update query_test set "
                             "b = 'y' where a = 7")),
            "CCCZT");
  EXPECT_EQ(client.first_value("select b from query_test where a = 7"), "y");
  EXPECT_EQ(client.ask(query("rollback")), "CZI");
  EXPECT_EQ(client.first_value("select count(*) from query_test"), "0");
}

}  // namespace
}  // namespace pgsilo::protocol_test
