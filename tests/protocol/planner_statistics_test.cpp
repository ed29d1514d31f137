// The server plans with the sizes that its tables have.
#include <gtest/gtest.h>

#include "tests/protocol/raw_client.h"

namespace pgsilo::protocol_test {
namespace {

class PlannerStatisticsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    client.start();
    TearDown();
    ASSERT_EQ(client.ask(query("create table sized_small (k int, v int);"
                               "create table sized_big (id int primary key, k int)")),
              "CCZI");
    fill();
  }
  void TearDown() override { client.ask(query("drop table if exists sized_small, sized_big")); }

  void fill() {
    ASSERT_EQ(client.ask(query("insert into sized_small select g, g from generate_series(1, 5) g;"
                               "insert into sized_big select g, g % 5000 from "
                               "generate_series(1, 20000) g")),
              "CCZI");
    ASSERT_EQ(client.ask(query("analyze sized_small")), "CZI");
    ASSERT_EQ(client.ask(query("analyze sized_big")), "CZI");
  }
  std::string explain(const std::string& sql) {
    std::string text;
    client.send(query("explain " + sql));
    for (const Message& each : client.read_answer()) {
      if (each.type == 'D') text += row_values(each)[0] + "\n";
    }
    return text;
  }
  static bool has(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
  }

  RawClient client;
};

TEST_F(PlannerStatisticsTest, EstimatesAreTheTablesRows) {
  EXPECT_TRUE(has(explain("select * from sized_big"), " rows=20000 "));
  EXPECT_TRUE(has(explain("select * from sized_small"), " rows=5 "));
  EXPECT_TRUE(has(explain("delete from sized_big"), " rows=20000 "));
  ASSERT_EQ(client.ask(query("delete from sized_big where id > 3")), "CZI");
  ASSERT_EQ(client.ask(query("analyze sized_big")), "CZI");
  EXPECT_TRUE(has(explain("select * from sized_big"), " rows=3 "));
}

TEST_F(PlannerStatisticsTest, TheHashTableIsMadeOfTheSmallerTable) {
  for (const char* from : {"sized_big b, sized_small s", "sized_small s, sized_big b"}) {
    std::string text = explain(std::string("select * from ") + from + " where b.k = s.k");
    EXPECT_LT(text.find("Seq Scan on sized_big"), text.find("Seq Scan on sized_small")) << text;
  }
  ASSERT_EQ(client.ask(query("create index on sized_big (k)")), "CZI");
  std::string text = explain("select * from sized_big b, sized_small s where b.k = s.k");
  EXPECT_TRUE(has(text, "Index Scan using sized_big_k_idx on sized_big")) << text;
}

TEST_F(PlannerStatisticsTest, AQualifiedNameMayBeginWithTheDatabase) {
  EXPECT_EQ(client.first_value("select count(*) from postgres.public.sized_small"), "5");
  EXPECT_EQ(client.first_value("select count(*) from nosuch.public.sized_small"), "0A000");
}

}  // namespace
}  // namespace pgsilo::protocol_test
