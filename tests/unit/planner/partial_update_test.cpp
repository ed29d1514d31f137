// What UPDATE of one row uses and changes of it (docs/hot_records.md).
#include "tests/unit/planner/planner_fixture.h"

namespace pgsilo::testing {
namespace {

struct PartialUpdateTest : Planner {
  PartialUpdateTest() {
    define(
        "create table hot (id int primary key, n int, small smallint, big bigint, f float8, "
        "k int, u int unique, name text, amount numeric, limited int check (limited < 1000), "
        "low int, high int, check (low < high))");
    define("create index on hot (k)");
  }

  // "uses big; sets small; adds n", in the table's names; "the row": as a whole.
  std::string of(std::string_view sql) {
    auto planned = plan(sql);
    const auto& update = the<UpdateNode>(planned->root);
    if (update.partial == nullptr) return "the row";
    std::string text = "uses";
    for (int32_t column : update.partial->used_columns) text += " " + name_of(update, column);
    for (const ColumnChange& change : update.partial->changes)
      text += (change.adds ? "; adds " : "; sets ") + name_of(update, change.column);
    return text;
  }
  std::string of_set(const std::string& assignments) {
    return of("update hot set " + assignments + " where id = 1");
  }

 private:
  static std::string name_of(const UpdateNode& update, int32_t column) {
    return update.table->columns[static_cast<size_t>(column)].name;
  }
};

TEST_F(PartialUpdateTest, OfOneRowByAKeyOnly) {
  EXPECT_EQ(of("update hot set n = 1 where id = $1"), "uses; sets n");
  EXPECT_EQ(of("update hot set n = 1 where u = 1"), "uses; sets n");
  EXPECT_EQ(of("update hot set n = 1 where id = 1 and u = 2"), "uses u; sets n");
  EXPECT_EQ(of("update p set v = 1 where x = 1 and y = 2 and z = 3"), "uses; sets v");
  for (const char* sql :
       {"update hot set n = 1", "update hot set n = 1 where k = 1",
        "update hot set n = 1 where id > 1 and id < 3", "update hot set n = 1 where id in (1, 2)",
        "update p set v = 1 where x = 1 and y = 2",
        "update hot set n = w.u_a from w where id = 1 and w.a = 2"}) {
    EXPECT_EQ(of(sql), "the row") << sql;
  }
}

TEST_F(PartialUpdateTest, UsesWhatSetAndWhereLookAt) {
  EXPECT_EQ(of_set("n = big, small = 3"), "uses big; sets n; sets small");
  EXPECT_EQ(of_set("f = case when limited > 3 then low else id end"),
            "uses id limited low; sets f");
  EXPECT_EQ(of_set("n = n"), "uses n; sets n");
  EXPECT_EQ(of("update hot set n = 1 where id = 1 and (low = 2 or big is null)"),
            "uses big low; sets n");
}

TEST_F(PartialUpdateTest, UsesWhatSubqueriesAskFor) {
  EXPECT_EQ(of_set("n = (select count(*) from w where u_a = hot.big)"), "uses big; sets n");
  EXPECT_EQ(of_set("n = n + (select max(a) from w where u_a = hot.small)"), "uses small; adds n");
  EXPECT_EQ(of_set("n = n + (select max(a) from w where u_a = hot.n)"), "uses n; adds n");
  EXPECT_EQ(of_set("n = (select max(a) from w)"), "uses; sets n");
  EXPECT_EQ(of_set("(n, small) = (select a, u_a from w where a = hot.low)"),
            "uses low; sets n; sets small");
  EXPECT_EQ(of("update hot set n = 1 where id = 1 and "
               "(select max(a) from w where u_a = hot.low or a > 3) = 3"),
            "uses low; sets n");
  // By way of another subquery.
  EXPECT_EQ(of_set("n = (select max(a) from w where u_a = (select max(a) from u where "
                   "t_a = hot.big or a = w.a))"),
            "uses big; sets n");
}

TEST_F(PartialUpdateTest, SetsWhatFollowsFromWhatItSets) {
  define(
      "create table made (id int primary key, a int, b int, twice int generated always as (a * 2) "
      "stored check (twice < 100), shown text generated always as (b::text) stored, "
      "key int generated always as (b + 1) stored unique)");
  EXPECT_EQ(of("update made set a = 1 where id = 1"), "uses a twice; sets a; sets twice");
  EXPECT_EQ(of("update made set a = a + 1 where id = 1"), "uses a twice; adds a; sets twice");
  EXPECT_EQ(of("update made set b = 1 where id = 1"), "the row");
  EXPECT_EQ(of("update made set twice = default where id = 1"), "the row");
}

TEST_F(PartialUpdateTest, SumsOnlyGrow) {
  EXPECT_EQ(of_set("n = n + 1"), "uses; adds n");
  EXPECT_EQ(of_set("n = n - 1"), "uses; adds n");
  EXPECT_EQ(of_set("n = 1 + n"), "uses; adds n");
  EXPECT_EQ(of_set("n = n + $1"), "uses; adds n");
  EXPECT_EQ(of_set("n = n + big"), "uses big; adds n");
  EXPECT_EQ(of_set("n = n + 1, big = big - 1"), "uses; adds n; adds big");
  // Between widths.
  EXPECT_EQ(of_set("small = small + 1"), "uses; adds small");
  EXPECT_EQ(of_set("n = n + 1::bigint"), "uses; adds n");
  EXPECT_EQ(of_set("big = big - 1::smallint"), "uses; adds big");
}

TEST_F(PartialUpdateTest, WhatIsNoSumUsesItsColumn) {
  EXPECT_EQ(of_set("n = 1 - n"), "uses n; sets n");
  EXPECT_EQ(of_set("n = n * 2"), "uses n; sets n");
  EXPECT_EQ(of_set("n = - n"), "uses n; sets n");
  EXPECT_EQ(of_set("n = n + n"), "uses n; adds n");
  EXPECT_EQ(of_set("n = n + 1 + 1"), "uses n; sets n");
  EXPECT_EQ(of_set("n = big + 1"), "uses big; sets n");
  EXPECT_EQ(of_set("n = (n + 1)::smallint"), "uses n; sets n");  // may fail
  EXPECT_EQ(of_set("n = n::bigint + 1"), "uses n; sets n");
  EXPECT_EQ(of_set("f = f + 1"), "uses f; sets f");    // rounds
  EXPECT_EQ(of_set("n = n + 0.5"), "uses n; sets n");  // rounds
  EXPECT_EQ(of_set("n = n + 1, small = n"), "uses n; adds n; sets small");
  EXPECT_EQ(of("update hot set n = n + 1 where id = 1 and n < 5"), "uses n; adds n");
}

TEST_F(PartialUpdateTest, KeysMayNotChange) {
  EXPECT_EQ(of_set("k = 1"), "the row");
  EXPECT_EQ(of_set("n = 1, k = k + 1"), "the row");
  EXPECT_EQ(of_set("u = 1"), "the row");
  EXPECT_EQ(of_set("id = 1"), "the row");
}

TEST_F(PartialUpdateTest, ChecksUseWhereTheirColumnsChange) {
  EXPECT_EQ(of_set("limited = 1"), "uses limited; sets limited");
  EXPECT_EQ(of_set("limited = limited + 1"), "uses limited; adds limited");
  EXPECT_EQ(of_set("low = 1"), "uses low high; sets low");
  EXPECT_EQ(of_set("high = high + 1"), "uses low high; adds high");
}

TEST_F(PartialUpdateTest, WhatIsReturnedIsUsed) {
  EXPECT_EQ(of("update hot set n = n + 1 where id = 1 returning n"), "the row");
  EXPECT_EQ(of("update hot set n = n + 1 where id = 1 returning 1"), "the row");
}

// The columns that others refer to are a key.
TEST_F(PartialUpdateTest, NotOfRowsThatReferToOthers) {
  define("create table referring (id int primary key, n int, hot_id int references hot)");
  EXPECT_EQ(of("update referring set n = 1 where id = 1"), "the row");
  EXPECT_EQ(of_set("n = 1"), "uses; sets n");
}

TEST_F(PartialUpdateTest, ColumnsOfVariableWidth) {
  EXPECT_EQ(of_set("name = 'x'"), "the row");
  EXPECT_EQ(of_set("n = 1, amount = amount + 1"), "the row");
  EXPECT_EQ(of_set("n = length(name)"), "the row");
  EXPECT_EQ(of("update hot set n = 1 where id = 1 and name = 'x'"), "the row");
}

TEST_F(PartialUpdateTest, ColumnsThatCameAndWent) {
  define("alter table hot drop column small");
  define("alter table hot add column late int default 3");
  EXPECT_EQ(of_set("late = late + 1, n = big"), "uses big; adds late; sets n");
}

}  // namespace
}  // namespace pgsilo::testing
