// Which plans statements with parameters run by, as a client sees it
// (docs/decisions/custom-plans.md); most of it holds for PostgreSQL as well.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/protocol/monitoring_support.h"
#include "tests/protocol/raw_client.h"

namespace pgsilo::protocol_test {
namespace {

constexpr int64_t megabyte = 1 << 20;

class CustomPlanProtocolTest : public ::testing::Test {
 protected:
  void SetUp() override {
    client.start();
    client.ask(query("drop table if exists custom_plan_test"));
    ASSERT_EQ(client.ask(query("create table custom_plan_test (a int primary key, b int, c text, n "
                               "int)")),
              "CZI");
    ASSERT_EQ(client.ask(query("insert into custom_plan_test select g, case when g % 1000 = 0 then "
                               "1000 else 1 end, 'c' || g, g from generate_series(1, 20000) g")),
              "CZI");
    ASSERT_EQ(client.ask(query("create index on custom_plan_test (b)")), "CZI");
    ASSERT_EQ(client.ask(query("create index on custom_plan_test (n)")), "CZI");
    ASSERT_EQ(client.ask(query("analyze custom_plan_test")), "CZI");
  }
  void TearDown() override { client.ask(query("drop table if exists custom_plan_test")); }

  // The first column of what it returns.
  std::string run(const std::string& name, const std::vector<std::string>& values) {
    client.send(protocol_test::bind("", name, values) + execute() + sync());
    return first_column(client.read_answer());
  }
  std::string counts(const std::string& name) {
    return client.first_value(
        "select generic_plans || ' ' || custom_plans from "
        "pg_prepared_statements where name = '" +
        name + "'");
  }
  // The scan by which EXPLAIN EXECUTE would read.
  std::string scan(const std::string& execute) {
    std::string lines = client.column("explain (costs off) execute " + execute);
    std::string kind = lines.find("Seq Scan") == std::string::npos ? "index" : "table";
    return lines.find('$') == std::string::npos ? kind : kind + " $";
  }

  RawClient client;
};

TEST_F(CustomPlanProtocolTest, BindCountsAndExecuteDoesNot) {
  ASSERT_EQ(client.ask(parse("k", "select c from custom_plan_test where a = $1") + sync()), "1ZI");
  EXPECT_EQ(counts("k"), "0 0");
  EXPECT_EQ(client.ask(protocol_test::bind("", "k", {"1"}) + sync()), "2ZI");
  EXPECT_EQ(counts("k"), "0 1");
  for (int a = 1; a <= 7; ++a)
    EXPECT_EQ(run("k", {std::to_string(a)}), "c" + std::to_string(a) + " ");
  EXPECT_EQ(counts("k"), "3 5");
  EXPECT_EQ(client.ask(describe('S', "k") + sync()), "tTZI");
  EXPECT_EQ(counts("k"), "3 5");
  EXPECT_EQ(scan("k(7)"), "index $");
  ASSERT_EQ(client.ask(query("deallocate k")), "CZI");
  EXPECT_EQ(counts("k"), "");
}

TEST_F(CustomPlanProtocolTest, StatementsOfBothKindsAreListed) {
  ASSERT_EQ(client.ask(parse("p", "select $1::int + $2::int8") + sync()), "1ZI");
  ASSERT_EQ(client.ask(query("prepare q as select 1")), "CZI");
  EXPECT_EQ(client.column("select name || ' ' || from_sql || ' ' || parameter_types::text || ' ' "
                          "|| statement from pg_prepared_statements order by name"),
            "p false {integer,bigint} select $1::int + $2::int8 "
            "q true {} prepare q as select 1 ");
}

TEST_F(CustomPlanProtocolTest, RareValuesAreLookedUpAndFrequentOnesScannedFor) {
  ASSERT_EQ(client.ask(query("prepare b(int) as select count(c) from custom_plan_test where b = "
                             "$1")),
            "CZI");
  for (int round = 0; round < 6; ++round) {
    EXPECT_EQ(scan("b(1)"), "table");
    EXPECT_EQ(scan("b(1000)"), "index");
    EXPECT_EQ(client.column("execute b(1)"), "19980 ");
    EXPECT_EQ(run("b", {"1000"}), "20 ");
  }
  ASSERT_EQ(client.ask(query("set plan_cache_mode = force_generic_plan")), "CZI");
  EXPECT_EQ(scan("b(1)").substr(5), " $");
  EXPECT_EQ(run("b", {"1"}), "19980 ");
  ASSERT_EQ(client.ask(query("set plan_cache_mode = force_custom_plan")), "CZI");
  EXPECT_EQ(scan("b(1)"), "table");
  ASSERT_EQ(client.ask(query("reset plan_cache_mode")), "CZI");
}

// Values that make the same plan again and again leave it at that; another ANALYZE begins anew.
TEST_F(CustomPlanProtocolTest, WhatWasLearnedIsForgottenWithThePlan) {
  if (runs_on_postgres()) GTEST_SKIP() << "it keeps what plans have cost";
  ASSERT_EQ(client.ask(query("prepare r(int, int) as select count(c) from custom_plan_test where n "
                             "between $1 and $2")),
            "CZI");
  auto run_trials = [&] {
    for (int i = 0; i < 5; ++i) {
      EXPECT_EQ(scan("r(5, 6)"), "index") << i;
    }
    EXPECT_EQ(scan("r(5, 6)"), "index $");
  };
  run_trials();
  ASSERT_EQ(client.ask(query("analyze custom_plan_test")), "CZI");
  usleep(200'000);  // how long a plan is not asked about its tables
  run_trials();
  ASSERT_EQ(client.ask(query("discard plans")), "CZI");
  run_trials();
  ASSERT_EQ(client.ask(query("alter table custom_plan_test add column d int")), "CZI");
  run_trials();
}

// The plan for all values is never made where it would not be used: what a value cannot be computed
// with is told when a row asks for it, by either plan.
TEST_F(CustomPlanProtocolTest, ErrorsOfValuesAreThoseOfTheRun) {
  ASSERT_EQ(client.ask(query("prepare d(int) as select a from custom_plan_test where b = 10 / $1 "
                             "and a < 3")),
            "CZI");
  for (const char* mode : {"force_custom_plan", "force_generic_plan"}) {
    ASSERT_EQ(client.ask(query(std::string("set plan_cache_mode = ") + mode)), "CZI");
    EXPECT_EQ(client.column("execute d(10)"), "1 2 ") << mode;
    EXPECT_EQ(client.column("execute d(0)"), "22012 ") << mode;
    EXPECT_EQ(run("d", {"0"}), "22012 ") << mode;
    EXPECT_EQ(run("d", {"x"}), "22P02 ") << mode;
  }
}

// A plan for values goes on as it began, whatever becomes of the table.
TEST_F(CustomPlanProtocolTest, APortalKeepsItsPlanWhileItIsSuspended) {
  ASSERT_EQ(client.ask(query("set plan_cache_mode = force_custom_plan")), "CZI");
  ASSERT_EQ(client.ask(query("begin isolation level read committed")), "CZT");
  ASSERT_EQ(client.ask(parse("s", "select a from custom_plan_test where a <= $1 order by a") +
                       protocol_test::bind("one", "s", {"4"}) +
                       protocol_test::bind("two", "s", {"2"}) + sync()),
            "122ZT");
  EXPECT_EQ(client.ask(execute("one", 3) + execute("two", 0) + execute("one", 0) + sync()),
            "DDDsDDCDCZT");
  EXPECT_EQ(client.ask(query("commit")), "CZI");
}

TEST_F(CustomPlanProtocolTest, LiteralsOfQueriesAreValues) {
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(client.column("select count(c) from custom_plan_test where b = 1000"), "20 ");
    EXPECT_EQ(client.column("select count(c) from custom_plan_test where b = 1"), "19980 ");
    EXPECT_EQ(client.column("select count(c) from custom_plan_test where c like 'c1999%'"), "11 ");
    EXPECT_EQ(client.column("select count(c) from custom_plan_test where c like 'x%'"), "0 ");
  }
}

TEST_F(CustomPlanProtocolTest, RunsLeaveNothingBehind) {
  if (runs_on_postgres()) GTEST_SKIP() << "it does not tell its memory";
  RawClient control;
  control.start();
  ASSERT_EQ(client.ask(query("set plan_cache_mode = force_custom_plan")), "CZI");
  ASSERT_EQ(
      client.ask(parse("n", "select c from custom_plan_test where b = $1 and c = $2") + sync()),
      "1ZI");
  auto run_often = [&](int times) {
    std::string pipeline;
    for (int i = 0; i < 100; ++i)
      pipeline += protocol_test::bind("", "n", {"1000", std::string(1000, 'x')}) + execute();
    for (int i = 0; i < times; i += 100) client.ask(pipeline + sync());
    return std::stoll(control.first_value("select used from pgsilo_memory"));
  };
  int64_t before = run_often(1'000);
  EXPECT_LT(run_often(20'000) - before, 2 * megabyte);
}

}  // namespace
}  // namespace pgsilo::protocol_test
