// What may not stand in a transaction block, and what only makes sense in one, wherever a statement
// can stand: alone, in a pipeline, as one of several of a Query message, in a block.
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include "tests/protocol/raw_client.h"

namespace pgsilo::protocol_test {
namespace {

const char* const in_block = " cannot run inside a transaction block";
const char* const in_pipeline = " cannot be executed within a pipeline";
const char* const outside = " can only be used in transaction blocks";

class StatementPlaceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    client.start();
    client.ask(query("drop table if exists place_test"));
    ASSERT_EQ(client.ask(query("create table place_test (a int)")), "CZI");
  }
  void TearDown() override { client.ask(query("rollback; drop table place_test")); }

  // The message of the first error or notice; empty: none.
  std::string complaint_about(const std::string& bytes) {
    client.send(bytes);
    std::string said;
    for (const Message& message : client.read_answer()) {
      if (said.empty() && (message.type == 'E' || message.type == 'N')) said = field(message, 'M');
    }
    return said;
  }
  static std::string pipeline(std::initializer_list<std::string> statements) {
    std::string bytes;
    for (const std::string& sql : statements) bytes += parse({}, sql) + bind({}, {}) + execute();
    return bytes + sync();
  }
  std::string complaint_in_block(const std::string& sql) {
    client.ask(query("begin"));
    std::string said = complaint_about(query(sql));
    client.ask(query("rollback"));
    return said;
  }
  RawClient client;
};

TEST_F(StatementPlaceTest, WhatIsRefusedInABlock) {
  struct Case {
    std::string sql;
    std::string command;
  };
  for (const Case& each :
       {Case{"vacuum place_test", "VACUUM"},
        {"vacuum (analyze) place_test", "VACUUM"},
        {"discard all", "DISCARD ALL"},
        {"create index concurrently on place_test (a)", "CREATE INDEX CONCURRENTLY"},
        {"drop index concurrently place_test_a_idx", "DROP INDEX CONCURRENTLY"}}) {
    const auto& [sql, command] = each;
    if (command.starts_with("DROP")) client.ask(query("create index on place_test (a)"));
    EXPECT_EQ(complaint_about(pipeline({"select 1", sql})), command + in_pipeline) << sql;
    EXPECT_EQ(complaint_about(pipeline({"set work_mem = '8MB'", sql})), command + in_pipeline)
        << sql;
    client.send(parse({}, "select 1") + bind({}, {}) + execute());
    EXPECT_EQ(complaint_about(query(sql)), command + in_pipeline) << sql;
    EXPECT_EQ(complaint_about(query("select 1; " + sql)), command + in_block) << sql;
    EXPECT_EQ(complaint_about(query(sql + "; select 1")), command + in_block) << sql;
    EXPECT_EQ(complaint_about(query("begin; commit; " + sql)), command + in_block) << sql;
    EXPECT_EQ(complaint_in_block(sql), command + in_block) << sql;
    EXPECT_EQ(complaint_about(pipeline({"begin", "commit", sql, "select 1"})), "") << sql;
    client.ask(query("drop index if exists place_test_a_idx"));
  }
  EXPECT_EQ(complaint_about(pipeline({"vacuum", "vacuum"})), std::string("VACUUM") + in_pipeline);
  EXPECT_EQ(complaint_about(pipeline({"discard all", "discard all"})), "");
}

TEST_F(StatementPlaceTest, WhatOnlyMakesSenseInABlock) {
  struct Case {
    std::string sql;
    std::string command;
  };
  for (const Case& each : {Case{"lock table place_test", "LOCK TABLE"},
                           {"set local work_mem = '8MB'", "SET LOCAL"},
                           {"set transaction read only", "SET TRANSACTION"},
                           {"set constraints all deferred", "SET CONSTRAINTS"}}) {
    const auto& [sql, command] = each;
    EXPECT_EQ(complaint_about(query(sql)), command + outside) << sql;
    EXPECT_EQ(complaint_about(pipeline({"select 1", sql})), command + outside) << sql;
    EXPECT_EQ(complaint_about(pipeline({sql, "select 1"})), command + outside) << sql;
    EXPECT_EQ(complaint_about(query(sql + "; select 1")), "") << sql;
    EXPECT_EQ(complaint_about(query("begin; commit; " + sql)), "") << sql;
    EXPECT_EQ(complaint_in_block(sql), "") << sql;
  }
  // Those of a Query message without BEGIN are not enough for these.
  for (const std::string command : {"SAVEPOINT", "RELEASE SAVEPOINT", "ROLLBACK TO SAVEPOINT"}) {
    EXPECT_EQ(complaint_about(query("select 1; " + command + " a")), command + outside);
    EXPECT_EQ(complaint_about(pipeline({"select 1", command + " a"})), command + outside);
  }
}

TEST_F(StatementPlaceTest, DiscardAllIsNotUndoneByWhatFollows) {
  client.ask(query("set work_mem = '12MB'"));
  EXPECT_EQ(client.ask(pipeline({"discard all", "select 1 / count(*) from place_test"})),
            "12C12E(22012)ZI");
  EXPECT_EQ(client.first_value("show work_mem"), "4MB");
}

}  // namespace
}  // namespace pgsilo::protocol_test
