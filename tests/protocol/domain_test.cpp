// Domains, seen by several sessions and through the extended protocol.
#include <gtest/gtest.h>

#include "tests/protocol/raw_client.h"

namespace pgsilo::protocol_test {
namespace {

class DomainTest : public ::testing::Test {
 protected:
  void SetUp() override {
    one.start();
    other.start();
    one.ask(query("drop table if exists holders"));
    one.ask(query("drop domain if exists small"));
    ASSERT_EQ(one.ask(query("create domain small as int check (value < 100)")), "CZI");
    ASSERT_EQ(one.ask(query("create table holders (id int primary key, s small)")), "CZI");
  }
  void TearDown() override {
    one.ask(query("rollback"));
    other.ask(query("rollback"));
    one.ask(query("drop table if exists holders"));
    one.ask(query("drop domain if exists small"));
  }

  RawClient one;
  RawClient other;
};

TEST_F(DomainTest, AStatementThatIsPreparedObeysANewConstraint) {
  ASSERT_EQ(one.ask(query("prepare add as insert into holders values ($1, $2)")), "CZI");
  ASSERT_EQ(one.ask(query("execute add (1, 50)")), "CZI");
  ASSERT_EQ(one.ask(query("delete from holders")), "CZI");
  ASSERT_EQ(other.ask(query("alter domain small add check (value < 10)")), "CZI");
  EXPECT_EQ(one.first_value("execute add (2, 50)"), "23514");
  EXPECT_EQ(one.first_value("execute add (2, 100)"), "23514");
  ASSERT_EQ(one.ask(query("execute add (2, 5)")), "CZI");
}

TEST_F(DomainTest, ANewConstraintWaitsForThoseWhoWrite) {
  ASSERT_EQ(one.ask(query("begin")), "CZT");
  ASSERT_EQ(one.ask(query("insert into holders values (1, 50)")), "CZT");
  other.send(query("alter domain small add check (value < 10)"));
  EXPECT_TRUE(other.is_silent());
  ASSERT_EQ(one.ask(query("commit")), "CZI");
  EXPECT_EQ(other.answer(), "E(23514)ZI");
  EXPECT_EQ(one.first_value("select s from holders"), "50");
}

TEST_F(DomainTest, NobodySeesAnUncommittedConstraint) {
  ASSERT_EQ(other.ask(query("begin")), "CZT");
  ASSERT_EQ(other.ask(query("alter domain small drop constraint small_check")), "CZT");
  EXPECT_EQ(other.first_value("select 500::small"), "500");
  EXPECT_EQ(one.first_value("select 500::small"), "23514");
  ASSERT_EQ(other.ask(query("rollback")), "CZI");
  EXPECT_EQ(other.first_value("select 500::small"), "23514");
}

TEST_F(DomainTest, WhoWritesWaitsForANewConstraint) {
  ASSERT_EQ(other.ask(query("begin")), "CZT");
  ASSERT_EQ(other.ask(query("alter domain small add check (value < 10)")), "CZT");
  one.send(query("insert into holders values (1, 50)"));
  EXPECT_TRUE(one.is_silent());
  ASSERT_EQ(other.ask(query("commit")), "CZI");
  EXPECT_EQ(one.answer(), "E(23514)ZI");
  EXPECT_EQ(one.first_value("select count(*) from holders"), "0");
}

TEST_F(DomainTest, NotNullWaitsForThoseWhoWrite) {
  ASSERT_EQ(one.ask(query("begin")), "CZT");
  ASSERT_EQ(one.ask(query("insert into holders values (1, null)")), "CZT");
  other.send(query("alter domain small set not null"));
  EXPECT_TRUE(other.is_silent());
  ASSERT_EQ(one.ask(query("commit")), "CZI");
  EXPECT_EQ(other.answer(), "E(23502)ZI");
  ASSERT_EQ(one.ask(query("delete from holders")), "CZI");
  ASSERT_EQ(other.ask(query("alter domain small set not null")), "CZI");
  EXPECT_EQ(one.first_value("insert into holders values (1, null) returning id"), "23502");
}

// Columns of domains over the one that changes hold its values, too.
TEST_F(DomainTest, ANewConstraintWaitsForThoseWhoWriteADomainAbove) {
  ASSERT_EQ(one.ask(query("create domain smaller as small check (value < 60)")), "CZI");
  ASSERT_EQ(one.ask(query("create table above (s smaller)")), "CZI");
  ASSERT_EQ(one.ask(query("begin")), "CZT");
  ASSERT_EQ(one.ask(query("insert into above values (50)")), "CZT");
  other.send(query("alter domain small add check (value < 10)"));
  EXPECT_TRUE(other.is_silent());
  ASSERT_EQ(one.ask(query("commit")), "CZI");
  EXPECT_EQ(other.answer(), "E(23514)ZI");
  ASSERT_EQ(one.ask(query("drop table above")), "CZI");
  ASSERT_EQ(one.ask(query("drop domain smaller")), "CZI");
}

// A block that began before the constraint was there, and writes when it is.
TEST_F(DomainTest, WhoBeganBeforeObeysANewConstraint) {
  ASSERT_EQ(one.ask(query("begin")), "CZT");
  EXPECT_EQ(one.first_value("select count(*) from pg_class where false"), "0");
  ASSERT_EQ(other.ask(query("alter domain small add check (value < 10)")), "CZI");
  EXPECT_EQ(one.first_value("insert into holders values (1, 50) returning id"), "23514");
  ASSERT_EQ(one.ask(query("rollback")), "CZI");
}

TEST_F(DomainTest, CopyThatRunsHoldsOffANewConstraint) {
  one.send(query("copy holders from stdin"));
  EXPECT_EQ(one.read().type, 'G');
  one.send(copy_data("1\t50\n"));
  other.send(query("alter domain small add check (value < 10)"));
  EXPECT_TRUE(other.is_silent());
  EXPECT_EQ(one.ask(copy_data("2\t40\n") + copy_done()), "CZI");
  EXPECT_EQ(other.answer(), "E(23514)ZI");
  EXPECT_EQ(one.first_value("select count(*) from holders"), "2");
}

TEST_F(DomainTest, AStatementSaysWhatTheConstraintWas) {
  one.send(query("insert into holders values (2, 500)"));
  std::vector<Message> answer = one.read_answer();
  ASSERT_EQ(answer[0].type, 'E');
  EXPECT_EQ(field(answer[0], 'C'), "23514");
  EXPECT_EQ(field(answer[0], 's'), "public");
  EXPECT_EQ(field(answer[0], 'd'), "small");
  EXPECT_EQ(field(answer[0], 'n'), "small_check");
  EXPECT_EQ(field(answer[0], 't'), "");
  EXPECT_EQ(field(answer[0], 'c'), "");
  ASSERT_EQ(one.ask(query("insert into holders values (1, 50)")), "CZI");
  one.send(query("alter domain small add check (value < 10)"));
  answer = one.read_answer();
  ASSERT_EQ(answer[0].type, 'E');
  EXPECT_EQ(field(answer[0], 't'), "holders");
  EXPECT_EQ(field(answer[0], 'c'), "s");
}

TEST_F(DomainTest, ParametersAreOfTheDomain) {
  uint32_t oid = static_cast<uint32_t>(std::stoul(one.first_value("select 'small'::regtype::oid")));
  one.send(parse("add", "insert into holders values ($1, $2) returning s") + describe('S', "add") +
           sync());
  std::vector<Message> answer = one.read_answer();
  ASSERT_EQ(answer[1].type, 't');
  EXPECT_EQ(answer[1].body, int16(2) + int32(23) + int32(oid));
  auto add = [&](const std::string& id, const std::string& value) {
    return one.ask(bind("", "add", {id, value}) + execute() + sync());
  };
  EXPECT_EQ(add("1", "99"), "2DCZI");
  EXPECT_EQ(add("2", "100"), "E(23514)ZI");
  EXPECT_EQ(add("2", "\\N"), "2DCZI");
  ASSERT_EQ(other.ask(query("delete from holders where s is null")), "CZI");
  ASSERT_EQ(other.ask(query("alter domain small set not null")), "CZI");
  EXPECT_EQ(add("3", "\\N"), "E(23502)ZI");
  // Declared so, and in binary.
  auto binary = [&](const std::string& value) {
    std::string bound = cstring("") + cstring("typed") + int16(1) + int16(1) + int16(1) + value +
                        int16(1) + int16(1);
    return one.ask(message('B', bound) + execute() + sync());
  };
  ASSERT_EQ(one.ask(parse("typed", "select $1, $1 + 1", {oid}) + sync()), "1ZI");
  EXPECT_EQ(binary(int32(4) + int32(99)), "2DCZI");
  EXPECT_EQ(binary(int32(4) + int32(100)), "E(23514)ZI");
  EXPECT_EQ(binary(int32(-1)), "E(23502)ZI");
  EXPECT_EQ(binary(int32(2) + int16(1)), "E(08P01)ZI");
}

TEST_F(DomainTest, ANewConstraintWaitsForValuesThatWereBound) {
  for (const char* begin : {"begin", "begin isolation level read committed"}) {
    ASSERT_EQ(one.ask(query(begin)), "CZT");
    ASSERT_EQ(one.ask(parse("add", "insert into holders values (1, $1)") +
                      bind("p", "add", {"50"}) + sync()),
              "12ZT");
    other.send(query("alter domain small add check (value < 10)"));
    EXPECT_TRUE(other.is_silent());
    ASSERT_EQ(one.ask(execute("p") + sync()), "CZT");
    ASSERT_EQ(one.ask(query("commit")), "CZI");
    EXPECT_EQ(other.answer(), "E(23514)ZI");
    ASSERT_EQ(one.ask(query("delete from holders")), "CZI");
    ASSERT_EQ(one.ask(query("deallocate add")), "CZI");
  }
}

// Between Bind and Execute of a statement that is no block.
TEST_F(DomainTest, AValueThatWasBoundDoesNotPassANewConstraint) {
  one.send(parse("", "insert into holders values (1, $1)") + bind("", "", {"50"}) + flush());
  EXPECT_EQ(one.read().type, '1');
  EXPECT_EQ(one.read().type, '2');
  other.send(query("alter domain small add constraint few check (value < 10)"));
  other.is_silent();
  one.ask(execute() + sync());
  bool is_there = other.answer() == "CZI";
  EXPECT_EQ(one.first_value("select count(*) from holders"), is_there ? "0" : "1");
}

TEST_F(DomainTest, CopyAsksTheDomain) {
  auto copy = [&](const std::string& row) {
    one.send(query("copy holders from stdin"));
    EXPECT_EQ(one.read().type, 'G');
    return one.ask(copy_data(row + "\n") + copy_done());
  };
  EXPECT_EQ(copy("7\t100"), "E(23514)ZI");
  EXPECT_EQ(copy("7\t99"), "CZI");
  EXPECT_EQ(copy("8\t\\N"), "CZI");
  ASSERT_EQ(other.ask(query("delete from holders where s is null")), "CZI");
  ASSERT_EQ(other.ask(query("alter domain small set not null")), "CZI");
  EXPECT_EQ(copy("8\t\\N"), "E(23502)ZI");
  ASSERT_EQ(other.ask(query("alter domain small add check (value <> 98)")), "CZI");
  EXPECT_EQ(copy("9\t98"), "E(23514)ZI");
  EXPECT_EQ(one.first_value("select count(*) from holders"), "1");
}

TEST_F(DomainTest, PlansThatAreKeptObeyChanges) {
  const char* add = "insert into holders values (1, 50) returning s";
  const char* read = "select 50::small";
  const char* without = "insert into holders (id) values (2) returning s";
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(one.first_value(add), "50");
    EXPECT_EQ(one.first_value(read), "50");
    EXPECT_EQ(one.first_value(without), "\\N");
    ASSERT_EQ(one.ask(query("delete from holders")), "CZI");
  }
  ASSERT_EQ(other.ask(query("alter domain small set default 7")), "CZI");
  EXPECT_EQ(one.first_value(without), "7");
  ASSERT_EQ(other.ask(query("alter domain small add constraint few check (value < 10)")), "CZI");
  EXPECT_EQ(one.first_value(add), "23514");
  EXPECT_EQ(one.first_value(read), "23514");
  ASSERT_EQ(other.ask(query("alter domain small drop constraint few")), "CZI");
  EXPECT_EQ(one.first_value(read), "50");
  ASSERT_EQ(other.ask(query("alter domain small rename to smalls")), "CZI");
  EXPECT_EQ(one.first_value(read), "42704");
  EXPECT_EQ(one.first_value("select 50::smalls"), "50");
  ASSERT_EQ(other.ask(query("alter domain smalls rename to small")), "CZI");
}

TEST_F(DomainTest, ClientsAreToldTheTypeBeneath) {
  one.send(query("select 5::small as s"));
  std::vector<Message> answer = one.read_answer();
  ASSERT_FALSE(answer.empty());
  ASSERT_EQ(answer[0].type, 'T');
  // Behind the count, the name with its NUL, the table's OID and the column's number.
  constexpr size_t type_at = 2 + 2 + 4 + 2;
  EXPECT_EQ(answer[0].body.substr(type_at, 4), std::string_view("\0\0\0\x17", 4));
}

}  // namespace
}  // namespace pgsilo::protocol_test
