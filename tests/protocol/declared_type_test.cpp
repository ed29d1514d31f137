// Types that a client declares for parameters and the server does not have.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/protocol/raw_client.h"

namespace pgsilo::protocol_test {
namespace {

// No type's OID; pg_type's of a row of pg_attribute is one, though not of a parameter.
constexpr uint32_t no_type = 999999;

class DeclaredTypeTest : public ::testing::Test {
 protected:
  void SetUp() override { client.start(); }
  // Parse, Bind with one parameter, Execute, Sync.
  std::string run(const std::string& sql, const std::vector<uint32_t>& types) {
    return client.ask(parse("", sql, types) + bind("", "", {"1"}) + describe('P') + execute() +
                      sync());
  }
  RawClient client;
};

TEST_F(DeclaredTypeTest, AnUnknownTypeIsRefused) {
  for (const char* sql :
       {"select $1", "select 1", "select $1 is null", "select count($1)",
        "select coalesce($1, null)", "values ($1)", "select $1 = any(array[1])", "begin", "", "foo",
        "set work_mem = '1MB'", "merge into a using b on true when matched then do nothing"}) {
    for (uint32_t type : {no_type, uint32_t{75}, uint32_t{0xFFFFFFFF}}) {
      std::string said = run(sql, {type});
      bool is_text_wrong = said == "E(42601)ZI";
      EXPECT_TRUE(said == "E(42704)ZI" || is_text_wrong) << sql << ": " << said;
      EXPECT_EQ(is_text_wrong, std::string(sql) == "foo");
    }
  }
  client.send(parse("", "select $1", {no_type}) + sync());
  std::vector<Message> answer = client.read_answer();
  EXPECT_EQ(field(answer[0], 'M'), "type with OID 999999 does not exist");
  EXPECT_EQ(client.ask(query("select 1")), "TDCZI");
}

TEST_F(DeclaredTypeTest, AmongOthersAndInABlock) {
  EXPECT_EQ(run("select $1, $2", {23, no_type}), "E(42704)ZI");
  EXPECT_EQ(client.ask(query("begin")), "CZT");
  EXPECT_EQ(run("select $1", {no_type}), "E(42704)ZE");
  EXPECT_EQ(run("select $1", {no_type}), "E(25P02)ZE");
  EXPECT_EQ(client.ask(query("rollback")), "CZI");
}

// 0 leaves the type to be inferred, which what is not planned gives no reason for.
TEST_F(DeclaredTypeTest, NothingToInferAndUnknown) {
  for (uint32_t type : {uint32_t{0}, uint32_t{705}}) {
    EXPECT_EQ(run("select $1 + 1", {type}), "12TDCZI");
    EXPECT_EQ(run("select 1", {type}), "E(42P18)ZI") << type;
    EXPECT_EQ(run("begin", {type}), "E(42P18)ZI") << type;
    EXPECT_EQ(run("set work_mem = '1MB'", {type}), "E(42P18)ZI") << type;
    EXPECT_EQ(run("select $2::int", {type}), "E(42P18)ZI") << type;
  }
}

// Pseudo-types exist; no value of theirs can be read.
TEST_F(DeclaredTypeTest, PseudoTypesHaveNoValues) {
  for (uint32_t type : {2249u, 2276u, 2277u, 2283u, 2287u, 2776u, 5077u}) {
    std::string said = run("select 1", {type});
    EXPECT_EQ(said.substr(0, 2), "1E") << type << ": " << said;
    EXPECT_EQ(said.substr(said.size() - 2), "ZI") << type;
  }
}

// Statements that hold another one: it has the parameters, or must have none.
TEST_F(DeclaredTypeTest, AStatementInsideGetsItsParameters) {
  EXPECT_EQ(run("explain select 1", {25}), "12TDCZI");
  EXPECT_EQ(run("explain select $1 + 1", {23}), "12TDCZI");
  EXPECT_EQ(run("explain (costs off) select $1 + 1", {}), "12TDCZI");
  client.ask(query("drop table if exists declared_types"));
  EXPECT_EQ(run("create table declared_types as select $1 + 41 as a", {23}), "12nCZI");
  EXPECT_EQ(client.first_value("select a from declared_types"), "42");
  EXPECT_EQ(run("drop table declared_types", {25}), "12nCZI");
  EXPECT_EQ(run("copy (select $1::text) to stdout", {25}), "E(42P02)ZI");
  EXPECT_EQ(run("copy (select 1) to stdout", {25}), "12nHdcCZI");
}

// A definition outlives the statement, and with it the values of its parameters.
TEST_F(DeclaredTypeTest, ADefinitionHasNoParameters) {
  client.ask(query("drop table if exists declared_types"));
  client.ask(
      query("create table declared_types (a int, b text); insert into declared_types values (1)"));
  for (const char* sql : {"alter table declared_types add check (a > $1)",
                          "alter table declared_types add c numeric default $1 primary key",
                          "alter table declared_types alter a set default $1",
                          "alter table declared_types alter a type numeric(5) using $1",
                          "alter table declared_types alter b type varchar(5) using $1",
                          "create table declared_types_2 (a int default $1)",
                          "create table declared_types_2 (a int check (a > $1))"}) {
    EXPECT_EQ(run(sql, {23}), "12nE(42P02)ZI") << sql;
    EXPECT_EQ(client.ask(parse("", sql, {}) + bind("", "", {}) + execute() + sync()),
              "12E(42P02)ZI")
        << sql;
    EXPECT_EQ(client.ask(query(sql)), "E(42P02)ZI") << sql;
  }
  EXPECT_EQ(client.ask(query("prepare declared_types as select $1::int")), "CZI");
  EXPECT_EQ(run("execute declared_types($1)", {23}), "12TE(42P02)ZI");
  EXPECT_EQ(client.ask(query("execute declared_types(5)")), "TDCZI");
}

// No array type is like it: as of two different ones, there is no operator.
TEST_F(DeclaredTypeTest, AnyArrayIsNoArrayOfOneType) {
  EXPECT_EQ(run("select $1 = array[1]", {2277}), "E(42883)ZI");
  EXPECT_EQ(run("select array[1] || $1", {2277}), "E(42883)ZI");
}

// A row that cannot be shown is taken back whole.
TEST_F(DeclaredTypeTest, ARowThatCannotBeWrittenLeavesNothing) {
  for (const char* sql :
       {"select array[row(1,2), row(3,4)]", "select 1, array[row(a)] from generate_series(1, 3) a",
        "copy (select array[row(1,2)]) to stdout"}) {
    client.send(query(sql));
    std::vector<Message> answer = client.read_answer();
    for (const Message& message : answer) EXPECT_NE(message.type, 'D') << sql;
    EXPECT_EQ(answer.back().type, 'Z') << sql;
    EXPECT_EQ(client.ask(query("select 1")), "TDCZI") << sql;
  }
}

}  // namespace
}  // namespace pgsilo::protocol_test
