// What sessions keep, plans and prepared statements and long values, and what parsing and functions
// take meanwhile.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/memory/memory_limit_support.h"

namespace pgsilo::memory_test {
namespace {

// Each plan takes some kilobytes, and none of these texts comes again. Two sessions are at two
// workers, each with a cache.
TEST_F(MemoryLimitTest, PlansOfManyTextsTakeLittle) {
  Client other;
  for (int text = 0; text < 50; ++text) {
    std::string sql;
    for (int i = 0; i < 400; ++i) sql += "select id+" + std::to_string(text) + " from filled;";
    must(sql);
    ASSERT_EQ(other.run(sql), "") << other.message();
  }
  EXPECT_GT(free_bytes(), free_at_begin_ - (16 << 20));
  wait_for_measurement();
  must(insert(0, 100));
}

// Whoever prepares without an end is refused, not those beside him; what is deallocated is free
// again.
TEST_F(MemoryLimitTest, PreparedStatementsAreKeptWhileThereIsRoom) {
  std::string conditions = "id = 0";
  for (int i = 1; i < 300; ++i) conditions += " or id = " + std::to_string(i);
  std::string state;
  int statements = 0;
  for (; state.empty() && statements < 20000; ++statements)
    state = client.run("prepare p" + std::to_string(statements) + " as select " +
                       std::to_string(statements) + " from filled where " + conditions);
  EXPECT_EQ(state, "53200") << statements << " statements";
  EXPECT_GT(free_bytes(), -(4 << 20));
  EXPECT_EQ(client.run("execute p0"), "");
  Client other;
  EXPECT_EQ(other.run("prepare small as select id from filled where id = $1"), "");
  EXPECT_EQ(other.run("execute small(1)"), "");
  must("deallocate all");
  EXPECT_GT(free_bytes(), free_at_begin_ - (16 << 20));
  wait_for_measurement();
  must(insert(0, 100));
}

TEST_F(MemoryLimitTest, DiscardPlansGivesThoseOfTheSessionBack) {
  must("prepare p as select length(repeat('x', 30000000))");
  must("execute p");
  EXPECT_LT(free_bytes(), free_at_begin_ - 25000000);
  must("discard plans");
  EXPECT_GT(free_bytes(), free_at_begin_ - 10000000);
  EXPECT_EQ(client.value("execute p"), "30000000");
  must("discard all");
  EXPECT_GT(free_bytes(), free_at_begin_ - 10000000);
}

TEST_F(MemoryLimitTest, AStatementThatHasEndedKeepsNoLongValues) {
  must("prepare p (int) as select length(repeat('x', $1)), (select length(repeat('y', $1)))");
  EXPECT_EQ(client.value("execute p (30000000)"), "30000000");
  EXPECT_GT(free_bytes(), free_at_begin_ - 10000000);
  must("deallocate p");
}

// Of each plan that a session keeps for the next time, and of each table in it.
TEST_F(MemoryLimitTest, AStatementThatHasEndedKeepsNoLongRows) {
  insert_long_row();
  for (const char* sql :
       {"select id from filled", "select id from filled where id = 1",
        "select id from filled where id > 0", "select a.id from filled a, filled b",
        "update filled set id = 1", "select id from filled for update"}) {
    EXPECT_EQ(client.run(sql), "") << sql;
    // A checkpoint that runs beside has the row in its hands as well, for a while.
    EXPECT_TRUE(comes_true([this] { return free_bytes() > free_at_begin_ - 15000000; })) << sql;
  }
}

// Of each statement of a text that was sent as one.
TEST_F(MemoryLimitTest, AStatementThatHasEndedKeepsNoListsOfManyRows) {
  for (const char* sql : {"select g from generate_series(1, 600000) g order by -g offset 599999",
                          "select count(*) from generate_series(1, 300000) g join "
                          "generate_series(1, 300000) h on g = h",
                          "select count(*) from (select g, count(*) from "
                          "generate_series(1, 300000) g group by g) s",
                          "select count(*) from (select generate_series(1, 200000) union select "
                          "generate_series(100000, 300000)) s"}) {
    long long before = free_bytes();
    must(sql);
    EXPECT_TRUE(comes_true([&] { return free_bytes() > before - (1 << 20); }))
        << sql << ": " << free_bytes() << " of " << before;
  }
}

TEST_F(MemoryLimitTest, AnIdleSessionKeepsNoLongText) {
  std::string text;
  for (int i = 0; i < 50000; ++i) text += "select 1;";
  must(text);
  EXPECT_TRUE(comes_true([this] { return free_bytes() > free_at_begin_ - 6000000; }));
}

// Each list takes some 50 times its length until it is parsed.
TEST_F(MemoryLimitTest, WhatItTakesToParseIsAskedFor) {
  std::string list = " and 5 in (0";
  for (int i = 1; i < 200000; ++i) list += "," + std::to_string(i);
  list += ")";
  const std::string one = "select 1 where true" + list;
  EXPECT_EQ(client.run(one), "");
  std::vector<std::unique_ptr<Client>> others(8);
  for (auto& other : others) {
    other = std::make_unique<Client>();
    ASSERT_TRUE(PQsendQuery(other->connection(), one.c_str()));
  }
  EXPECT_GT(least_free_meanwhile(), -(40 << 20));
  for (auto& other : others) {
    std::string state = other->result();
    EXPECT_TRUE(state.empty() || state == "53200") << state;
  }
  EXPECT_EQ(client.run(one), "");
  EXPECT_EQ(client.run(one + list + list + list), "53200");
}

// Lists of the parts of long values.
TEST_F(MemoryLimitTest, WhatFunctionsTakeApartIsRefused) {
  for (const char* sql :
       {"select cardinality(string_to_array(v, null)) from long_value",
        "select cardinality(('{' || repeat('a,', 8000000) || 'a}')::text[]) from long_value"}) {
    Client other;
    std::string with = "with long_value as (select repeat('a', 8000000) as v) ";
    ASSERT_TRUE(PQsendQuery(other.connection(), (with + sql).c_str()));
    EXPECT_GT(least_free_meanwhile(), -(44 << 20)) << sql;
    EXPECT_EQ(other.result(), "53200") << sql;
  }
}

TEST_F(MemoryLimitTest, LongRowsOfManyScansAreRefused) {
  insert_long_row();
  std::string all = "select id from filled";
  for (int i = 1; i < 40; ++i) all += " union all select id from filled";
  EXPECT_EQ(client.run(all), "53200");
  EXPECT_GT(free_bytes(), free_at_begin_ - 15000000);
}

// What gives memory back goes on, with long rows as well.
TEST_F(MemoryLimitTest, ALongRowCanBeDeleted) {
  insert_long_row();
  must("create table filled_too (id int primary key, payload text)");
  for (int i = 0;
       client.run("insert into filled_too values (" + std::to_string(i) + ", repeat('z', 100000))")
           .empty();)
    ++i;
  must("delete from filled where length(payload) > 0");
}

}  // namespace
}  // namespace pgsilo::memory_test
