// The COPY sub-protocol, in both query protocols, right and wrong.
#include <gtest/gtest.h>

#include "tests/protocol/raw_client.h"

namespace pgsilo::protocol_test {
namespace {

class CopyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    client.start();
    client.ask(query("drop table if exists copy_test"));
    ASSERT_EQ(client.ask(query("create table copy_test (a int primary key, b text)")), "CZI");
  }
  void TearDown() override {
    RawClient last;
    last.start();
    client.ask(query("rollback"));
    last.ask(query("drop table if exists copy_test"));
  }
  // Sends COPY FROM and takes its CopyInResponse.
  void begin_copy() {
    client.send(query("copy copy_test from stdin"));
    Message answer = client.read();
    ASSERT_EQ(answer.type, 'G');
    EXPECT_EQ(answer.body, std::string(1, '\0') + int16(2) + int16(0) + int16(0));
  }
  std::string count() {
    client.send(query("select count(*) from copy_test"));
    return row_values(client.read_answer()[1])[0];
  }
  RawClient client;
};

TEST_F(CopyTest, TakesRowsCutAnywhere) {
  begin_copy();
  std::string rows = "1\tone\n2\ttwo\n3\t\\N\n";
  for (char c : rows) client.send(copy_data({&c, 1}));
  client.send(copy_done());
  std::vector<Message> messages = client.read_answer();
  EXPECT_EQ(summary(messages), "CZI");
  EXPECT_EQ(messages[0].body, cstring("COPY 3"));
  EXPECT_EQ(count(), "3");
}

// PostgreSQL refuses it behind the data.
TEST_F(CopyTest, ViewsTakeNoRows) {
  ASSERT_EQ(client.ask(query("create view copy_view as select * from copy_test")), "CZI");
  EXPECT_EQ(client.ask(query("copy copy_view from stdin")), "E(42809)ZI");
  EXPECT_EQ(client.ask(query("drop view copy_view")), "CZI");
}

TEST_F(CopyTest, GivesRows) {
  ASSERT_EQ(client.ask(query("insert into copy_test values (1, 'a b'), (2, null)")), "CZI");
  client.send(query("copy copy_test to stdout"));
  std::vector<Message> messages = client.read_answer();
  ASSERT_EQ(summary(messages), "HddcCZI");
  EXPECT_EQ(messages[1].body, "1\ta b\n");
  EXPECT_EQ(messages[2].body, "2\t\\N\n");
  EXPECT_EQ(messages[4].body, cstring("COPY 2"));
}

TEST_F(CopyTest, TheClientMayGiveUp) {
  begin_copy();
  client.send(copy_data("1\tone\n") + message('f', cstring("changed my mind")));
  std::vector<Message> messages = client.read_answer();
  EXPECT_EQ(summary(messages), "E(57014)ZI");
  EXPECT_EQ(field(messages[0], 'M'), "COPY from stdin failed: changed my mind");
  EXPECT_EQ(count(), "0");
}

TEST_F(CopyTest, AnErrorIsToldAtOnceAndTheRestIsIgnored) {
  begin_copy();
  client.send(copy_data("1\tone\nx\ttwo\n"));
  EXPECT_EQ(client.answer(), "E(22P02)ZI");
  client.send(copy_data("3\tthree\n") + copy_done());
  EXPECT_EQ(count(), "0");
}

TEST_F(CopyTest, OtherMessagesEndTheSession) {
  begin_copy();
  std::string said = client.ask(query("select 1"));
  EXPECT_TRUE(said.starts_with("E(08P01)") && said.ends_with("(end)")) << said;
  RawClient next;
  next.start();
  EXPECT_EQ(next.ask(query("select 1")), "TDCZI");
}

TEST_F(CopyTest, SyncAndFlushInsideAreIgnored) {
  begin_copy();
  client.send(message('S') + message('H') + copy_data("1\tone\n") + copy_done());
  EXPECT_EQ(client.answer(), "CZI");
  EXPECT_EQ(count(), "1");
}

TEST_F(CopyTest, RunsUnderTheExtendedProtocol) {
  client.send(parse("", "copy copy_test from stdin") + bind("", "") + describe('P') + execute() +
              sync());
  for (char type : {'1', '2', 'n', 'G'}) EXPECT_EQ(client.read().type, type);
  EXPECT_EQ(client.ask(copy_data("1\tone\n") + copy_done() + sync()), "CZI");
  EXPECT_EQ(count(), "1");
  EXPECT_EQ(client.ask(parse("", "copy copy_test to stdout") + bind("", "") + execute() + sync()),
            "12HdcCZI");
}

TEST_F(CopyTest, ErrorsUnderTheExtendedProtocolSkipToSync) {
  client.send(parse("", "copy copy_test from stdin") + bind("", "") + execute());
  client.send(message('H'));
  for (char type : {'1', '2', 'G'}) EXPECT_EQ(client.read().type, type);
  client.send(copy_data("x\tone\n") + copy_data("2\ttwo\n") + copy_done() + sync());
  EXPECT_EQ(client.answer(), "E(22P02)ZI");
  EXPECT_EQ(count(), "0");
}

TEST_F(CopyTest, IsPartOfItsTransaction) {
  EXPECT_EQ(client.ask(query("begin")), "CZT");
  begin_copy();
  EXPECT_EQ(client.ask(copy_data("1\tone\n") + copy_done()), "CZT");
  EXPECT_EQ(client.ask(query("rollback")), "CZI");
  EXPECT_EQ(count(), "0");
}

// Into a table that nobody else can see: what happens to the rows may happen on another worker.
class BulkCopyTest : public CopyTest {
 protected:
  void SetUp() override {
    CopyTest::SetUp();
    client.ask(query("drop table copy_test"));
    ASSERT_EQ(client.ask(query("begin; create table copy_test (a int, b text)")), "CCZT");
  }
  static std::string rows(int first, int end) {
    std::string text;
    for (int i = first; i < end; ++i)
      text += std::to_string(i) + "\t" + std::string(100, 'x') + std::to_string(i) + "\n";
    return text;
  }
};

TEST_F(BulkCopyTest, RowsStayInTheirOrder) {
  begin_copy();
  for (int i = 0; i < 20000; i += 500) client.send(copy_data(rows(i, i + 500)));
  EXPECT_EQ(client.ask(copy_done()), "CZT");
  client.send(query("copy copy_test to stdout"));
  std::string all;
  for (const Message& message : client.read_answer()) {
    if (message.type == 'd') all += message.body;
  }
  EXPECT_EQ(all, rows(0, 20000));
  EXPECT_EQ(client.ask(query("commit")), "CZI");
  EXPECT_EQ(count(), "20000");
}

TEST_F(BulkCopyTest, AnErrorTakesAllRowsBack) {
  begin_copy();
  client.send(copy_data(rows(0, 20000) + "x\tone\n"));
  std::vector<Message> messages = client.read_answer();
  EXPECT_EQ(summary(messages), "E(22P02)ZE");
  EXPECT_NE(messages[0].body.find("COPY copy_test, line 20001, column a: \"x\""),
            std::string::npos);
  EXPECT_EQ(client.ask(query("rollback")), "CZI");
  EXPECT_EQ(client.ask(query("select 1 from copy_test")), "E(42P01)ZI");
}

TEST_F(BulkCopyTest, AKeyFindsTheRowThatIsThereTwice) {
  begin_copy();
  client.send(copy_data(rows(0, 20000) + rows(12345, 12346)));
  EXPECT_EQ(client.ask(copy_done()), "CZT");
  client.send(query("alter table copy_test add primary key (a)"));
  std::vector<Message> messages = client.read_answer();
  EXPECT_EQ(summary(messages), "E(23505)ZE");
  EXPECT_NE(messages[0].body.find("Key (a)=(12345) is duplicated."), std::string::npos);
}

// Its rows lie in their records from the beginning there as well (loaded_rows.h).
TEST_F(CopyTest, InABlockSavepointsAndErrorsTakeItBack) {
  auto copy = [this](std::string_view rows) {
    begin_copy();
    client.send(copy_data(rows) + copy_done());
    return client.answer();
  };
  client.ask(query("begin"));
  client.ask(query("insert into copy_test values (1, 'before')"));
  EXPECT_EQ(copy("2\ttwo\n3\tthree\n"), "CZT");
  EXPECT_EQ(count(), "3");
  client.ask(query("savepoint s"));
  EXPECT_EQ(copy("4\tfour\n"), "CZT");
  EXPECT_EQ(copy("5\tfive\n1\tagain\n"), "E(23505)ZE");
  client.ask(query("rollback to s"));
  EXPECT_EQ(count(), "3");
  EXPECT_EQ(copy("4\tfour\n5\tfive\n"), "CZT");
  EXPECT_EQ(client.ask(query("delete from copy_test where a = 5")), "CZT");
  EXPECT_EQ(client.ask(query("commit")), "CZI");
  EXPECT_EQ(count(), "4");
  client.ask(query("begin"));
  EXPECT_EQ(copy("6\tsix\n2\tagain\n"), "E(23505)ZE");
  client.ask(query("commit"));
  EXPECT_EQ(count(), "4");
}

TEST_F(CopyTest, APortalThatWasThereBeforeDoesNotSeeIt) {
  client.ask(query("insert into copy_test values (1, 'one'), (2, 'two')"));
  client.ask(query("begin"));
  EXPECT_EQ(client.ask(parse("s", "select a from copy_test") + bind("p", "s") + execute("p", 1) +
                       bind("q", "s") + execute("q", 1) + sync()),
            "12Ds2DsZT");
  begin_copy();
  client.send(copy_data("3\tthree\n4\tfour\n") + copy_done());
  EXPECT_EQ(client.answer(), "CZT");
  EXPECT_EQ(client.ask(execute("p") + sync()), "DCZT");
  EXPECT_EQ(client.ask(execute("q") + sync()), "DCZT");
  EXPECT_EQ(count(), "4");
  EXPECT_EQ(client.ask(query("commit")), "CZI");
}

TEST_F(CopyTest, StatementsBehindItRun) {
  client.send(query("copy copy_test from stdin; select count(*) from copy_test"));
  EXPECT_EQ(client.read().type, 'G');
  client.send(copy_data("1\tone\n") + copy_done());
  EXPECT_EQ(client.answer(), "CTDCZI");
}

}  // namespace
}  // namespace pgsilo::protocol_test
