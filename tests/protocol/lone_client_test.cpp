// A client that is alone is never told of a conflict at SERIALIZABLE, whatever the server itself
// does to what was deleted meanwhile.
#include <gtest/gtest.h>

#include "tests/protocol/raw_client.h"
#include "tests/protocol/wire_messages.h"

namespace pgsilo::protocol_test {
namespace {

class LoneClientTest : public ::testing::Test {
 protected:
  void SetUp() override { client.start(); }
  RawClient client;
};

TEST_F(LoneClientTest, LooksWhereRowsWere) {
  client.ask(query("drop table if exists lone"));
  ASSERT_EQ(client.ask(query("create table lone (id int primary key, v int)")), "CZI");
  for (int round = 0; round < 60; ++round) {
    ASSERT_EQ(client.ask(query("insert into lone select i, 0 from generate_series(1, 300) i")),
              "CZI");
    ASSERT_EQ(client.ask(query("delete from lone")), "CZI");
    ASSERT_EQ(client.ask(query("begin isolation level serializable")), "CZT");
    ASSERT_EQ(client.ask(query("select * from lone where id = 50")), "TCZT");
    ASSERT_EQ(client.ask(query("select pg_sleep(0.02)")), "TDCZT");
    ASSERT_EQ(client.ask(query("insert into lone values (" + std::to_string(round + 1) + ", 1)")),
              "CZT")
        << round;
    ASSERT_EQ(client.ask(query("commit")), "CZI") << round;
    ASSERT_EQ(client.ask(query("delete from lone")), "CZI");
  }
  ASSERT_EQ(client.ask(query("drop table lone")), "CZI");
}

// Migrations, as test suites run them: the catalog's rows go and come again.
TEST_F(LoneClientTest, MakesTheSameTablesAgain) {
  constexpr int tables = 100;
  std::string drops;
  for (int i = 0; i < tables; ++i) drops += "drop table if exists lone_" + std::to_string(i) + ";";
  for (int round = 0; round < 12; ++round) {
    ASSERT_EQ(client.ask(query("begin isolation level serializable")), "CZT");
    for (int i = 0; i < tables; ++i) {
      std::string name = "lone_" + std::to_string(i);
      ASSERT_EQ(client.ask(query("create table " + name + " (a int primary key, b text)")), "CZT")
          << round << " " << i;
    }
    ASSERT_EQ(client.ask(query("commit")), "CZI") << round;
    ASSERT_EQ(client.ask(query(drops)), std::string(tables, 'C') + "ZI");
  }
}

}  // namespace
}  // namespace pgsilo::protocol_test
