// Order from an index instead of a sort, LIMIT, min and max, grouping.
#include "tests/unit/planner/planner_fixture.h"

namespace pgsilo::testing {
namespace {

struct Order : Planner {};

TEST_F(Order, AnIndexGivesOrderInBothDirections) {
  EXPECT_EQ(explain("select * from t order by a limit 3"),
            "Limit\n  ->  Index Scan using t_pkey on t");
  EXPECT_EQ(explain("select * from t order by a desc limit 3"),
            "Limit\n  ->  Index Scan Backward using t_pkey on t");
  EXPECT_EQ(explain("select * from t where a > 5 order by a desc limit 1"),
            "Limit\n  ->  Index Scan Backward using t_pkey on t\n        Index Cond: (a > 5)");
}

TEST_F(Order, ColumnsFixedByEqualityDoNotCount) {
  EXPECT_EQ(explain("select * from p where x = 1 order by y desc limit 2"),
            "Limit\n  ->  Index Scan Backward using p_pkey on p\n        Index Cond: (x = 1)");
  EXPECT_EQ(explain("select * from p where x = 1 order by x desc, y limit 2"),
            "Limit\n  ->  Index Scan using p_pkey on p\n        Index Cond: (x = 1)");
  EXPECT_EQ(explain("select * from p where y = 1 order by x, y, z limit 2"),
            "Limit\n  ->  Index Scan using p_pkey on p\n        Filter: (y = 1)");
  // After a unique key nothing is left to order.
  EXPECT_EQ(explain("select * from t order by a, c limit 2"),
            "Limit\n  ->  Index Scan using t_pkey on t");
}

TEST_F(Order, AnIndexOfMixedDirectionsServesExactlyThose) {
  std::string_view sorted = "Sort";
  EXPECT_NE(explain("select * from p order by x, y desc limit 2").find(sorted), std::string::npos);
  define("create index p_mixed on p (x, y desc)");
  EXPECT_EQ(explain("select * from p order by x, y desc limit 2"),
            "Limit\n  ->  Index Scan using p_mixed on p");
  EXPECT_EQ(explain("select * from p order by x desc, y limit 2"),
            "Limit\n  ->  Index Scan Backward using p_mixed on p");
}

TEST_F(Order, NullsMustStandWhereTheIndexHasThem) {
  EXPECT_EQ(explain("select * from t order by b limit 2"),
            "Limit\n  ->  Index Scan using t_b on t");
  EXPECT_EQ(explain("select * from t order by b desc limit 2"),
            "Limit\n  ->  Index Scan Backward using t_b on t");
  EXPECT_EQ(explain("select * from t order by b nulls first limit 2"),
            "Limit\n  ->  Sort\n        Sort Key: b NULLS FIRST\n        ->  Seq Scan on t");
  // Where there are no nulls, it is no matter.
  EXPECT_EQ(explain("select * from t order by a nulls first limit 2"),
            "Limit\n  ->  Index Scan using t_pkey on t");
  EXPECT_EQ(explain("select * from t where b > 0 order by b nulls first limit 2"),
            "Limit\n  ->  Index Scan using t_b on t\n        Index Cond: (b > 0)");
}

// What OFFSET skips is read, too; a LIMIT that is null is none.
TEST_F(Order, ALimitIsTheRowsThatAreRead) {
  statistics.rows["t"] = statistics.rows["u"] = 100000;
  statistics.distinct = {{"t.b", 100000}, {"u.t_a", 100000}};
  auto joined = [this](std::string_view limit) {
    std::string text = explain(concat("select * from u join t on t.b = u.t_a ", limit));
    return text.substr(text.find("Limit\n") == 0 ? 8 : 0).substr(0, 14);
  };
  EXPECT_NE(joined("limit 5"), joined(""));
  EXPECT_EQ(joined("limit 5"), joined("limit 5::numeric"));
  EXPECT_EQ(joined("limit null::int4"), joined(""));
  EXPECT_EQ(joined("limit nullif(1, 1)"), joined(""));
  EXPECT_EQ(joined("limit 5 offset 99000").substr(4), joined("").substr(0, 10));
}

TEST_F(Order, ASortUnderALimitKeepsNoMoreThanItMust) {
  auto planned = plan("select * from t order by c limit 5");
  const auto* sort = find<SortNode>(planned->root);
  ASSERT_NE(sort, nullptr);
  EXPECT_EQ(sort->limit_hint, find<LimitNode>(planned->root));
  EXPECT_NE(sort->limit_hint, nullptr);
  // Rows that DISTINCT ON drops do not count for the limit.
  planned = plan("select distinct on (c) c, b from t order by c, b limit 5");
  EXPECT_EQ(the<SortNode>(planned->root).limit_hint, nullptr);
}

TEST_F(Order, HowManyRowsAreWantedDecidesBetweenOrderAndASort) {
  define("create index t_d on t (d)");
  statistics.rows["t"] = 1'000'000;
  // All rows with b = 7 are found and sorted sooner than a million rows are walked in order; the
  // first of them is likely to be met early.
  EXPECT_EQ(explain("select * from t where b = 7 order by d"),
            "Sort\n  Sort Key: d\n  ->  Index Scan using t_b on t\n        Index Cond: (b = 7)");
  EXPECT_EQ(explain("select * from t where b = 7 order by d limit 1"),
            "Limit\n  ->  Index Scan using t_d on t\n        Filter: (b = 7)");
}

// Entries of an index that does not tell them apart end with the primary key.
TEST_F(Order, ThePrimaryKeyGoesOnWhereAnIndexEnds) {
  EXPECT_EQ(explain("select * from t where b = 7 order by a limit 5"),
            "Limit\n  ->  Index Scan using t_b on t\n        Index Cond: (b = 7)");
  EXPECT_EQ(explain("select * from t where b > 7 order by b desc, a desc limit 5"),
            "Limit\n  ->  Index Scan Backward using t_b on t\n        Index Cond: (b > 7)");
  // Behind it nothing is left to order.
  EXPECT_EQ(explain("select * from t where b > 7 order by b, a, c limit 5"),
            "Limit\n  ->  Index Scan using t_b on t\n        Index Cond: (b > 7)");
  EXPECT_NE(explain("select * from t where b > 7 order by b, a desc limit 5").find("Sort"),
            std::string::npos);
}

// Each is the other's order where they are equal, but not among rows that an outer join adds.
TEST_F(Order, ColumnsThatAreEqualAreOneKey) {
  statistics.rows = {{"t", 100'000}, {"u", 100'000}};
  EXPECT_EQ(explain("select * from t join u on u.a = t.a order by u.a limit 5").find("Sort"),
            std::string::npos);
  EXPECT_EQ(
      explain("select * from t join u on u.a = t.a order by t.a, u.a, u.v limit 5").find("Sort"),
      std::string::npos);
  std::string text = explain("select * from t left join u on u.a = t.a order by u.a limit 5");
  EXPECT_NE(text.find("Sort"), std::string::npos) << text;
}

// Of a left side that comes by a key of its own, each row's matches come in the right side's order.
TEST_F(Order, ANestedLoopGoesOnInTheOrderOfItsRightSide) {
  statistics.rows = {{"t", 100'000}, {"p", 1'000'000}};
  std::string text = explain("select * from t join p on p.x = t.a order by t.a, p.y desc limit 5");
  EXPECT_EQ(text,
            "Limit\n"
            "  ->  Nested Loop\n"
            "        ->  Index Scan using t_pkey on t\n"
            "        ->  Index Scan Backward using p_pkey on p\n"
            "              Index Cond: (x = t.a)");
  // Not where several left rows are equal in the key.
  text = explain("select * from t join p on p.x = t.b order by t.b, p.y limit 5");
  EXPECT_NE(text.find("Sort"), std::string::npos) << text;
}

TEST_F(Order, WhatComesByTheFirstKeysIsSortedRunByRun) {
  statistics.rows["t"] = 1'000'000;
  statistics.distinct["t.b"] = 10'000;
  EXPECT_EQ(explain("select * from t order by b, c limit 5"),
            "Limit\n"
            "  ->  Incremental Sort\n"
            "        Sort Key: b, c\n"
            "        Presorted Key: b\n"
            "        ->  Index Scan using t_b on t");
  // Of few runs each is nearly everything.
  statistics.distinct["t.b"] = 1;
  EXPECT_EQ(explain("select * from t order by b, c").find("Incremental"), std::string::npos);
}

TEST_F(Order, AJoinKeepsTheOrderOfItsLeftSide) {
  std::string text =
      explain("select t.a, u.v from t left join u on u.a = t.d order by t.a limit 5");
  EXPECT_EQ(text.find("Sort"), std::string::npos) << text;
}

TEST_F(Order, MinAndMaxReadOneEntryOfAnIndex) {
  EXPECT_EQ(explain("select max(a) from t"),
            "Result\n"
            "  InitPlan 1 (returns $0)\n"
            "    ->  Limit\n"
            "          ->  Index Scan Backward using t_pkey on t\n"
            "                Index Cond: (a IS NOT NULL)");
  EXPECT_EQ(explain("select min(y), max(y) from p where x = 1"),
            "Result\n"
            "  InitPlan 1 (returns $0)\n"
            "    ->  Limit\n"
            "          ->  Index Scan using p_pkey on p\n"
            "                Index Cond: ((x = 1) AND (y IS NOT NULL))\n"
            "  InitPlan 2 (returns $1)\n"
            "    ->  Limit\n"
            "          ->  Index Scan Backward using p_pkey on p\n"
            "                Index Cond: ((x = 1) AND (y IS NOT NULL))");
  // No entry of a NULL is read: in a table full of them the first one read is the answer.
  EXPECT_EQ(explain("select max(b) from t"),
            "Result\n"
            "  InitPlan 1 (returns $0)\n"
            "    ->  Limit\n"
            "          ->  Index Scan Backward using t_b on t\n"
            "                Index Cond: (b IS NOT NULL)");
  // Neither for what no index orders, nor beside an aggregate that reads all rows anyway.
  EXPECT_EQ(explain("select max(c) from t"), "Aggregate\n  ->  Seq Scan on t");
  EXPECT_EQ(explain("select max(a), count(*) from t"), "Aggregate\n  ->  Seq Scan on t");
  EXPECT_EQ(explain("select max(a) from t group by b"),
            "HashAggregate\n  Group Key: b\n  ->  Seq Scan on t");
}

TEST_F(Order, DistinctRowsAndGroupsComeInTheOrderOfAnIndex) {
  statistics.rows["t"] = 1'000'000;
  EXPECT_EQ(explain("select distinct b from t order by b limit 5"),
            "Limit\n  ->  Unique\n        ->  Index Scan using t_b on t");
  EXPECT_EQ(explain("select b, count(*) from t group by b order by b desc limit 5"),
            "Limit\n"
            "  ->  GroupAggregate\n"
            "        Group Key: b\n"
            "        ->  Index Scan Backward using t_b on t");
  EXPECT_EQ(explain("select b from t group by b limit 5"),
            "Limit\n  ->  Group\n        Group Key: b\n        ->  Index Scan using t_b on t");
  EXPECT_EQ(explain("select distinct on (b) b, a, c from t order by b, a desc limit 5")
                    .find("Incremental Sort") != std::string::npos,
            true);
  EXPECT_EQ(explain("select distinct on (b) b, a, c from t order by b, a"),
            "Unique\n  ->  Index Scan using t_b on t");
  // One row of the primary key is a group.
  EXPECT_EQ(explain("select a, c, sum(d) from t group by a, c order by a limit 5"),
            "Limit\n"
            "  ->  GroupAggregate\n"
            "        Group Key: a, c\n"
            "        ->  Index Scan using t_pkey on t");
  // All of few groups of many rows.
  EXPECT_EQ(explain("select b, count(*) from t group by b"),
            "HashAggregate\n  Group Key: b\n  ->  Seq Scan on t");
}

TEST_F(Order, AggregatesAreFedInTheOrderThatTheyWant) {
  statistics.rows["p"] = 1'000'000;
  auto fed = [this](std::string_view sql) {
    return the<AggregateNode>(plan(sql)->root).calls[0].is_presorted;
  };
  EXPECT_TRUE(fed("select count(distinct x) from p"));
  EXPECT_TRUE(fed("select x, count(distinct y) from p group by x"));
  EXPECT_TRUE(fed("select string_agg(v::text, ',' order by x desc, y desc) from p"));
  EXPECT_FALSE(fed("select x, count(distinct z) from p group by x"));
  EXPECT_FALSE(fed("select count(distinct v) from p"));
  EXPECT_FALSE(fed("select sum(x) from p"));
}

TEST_F(Order, GroupsAndDistinctRowsAreHashed) {
  EXPECT_EQ(explain("select c, count(*) from t group by c having count(*) > 1"),
            "HashAggregate\n  Group Key: c\n  Filter: (count(*) > 1)\n  ->  Seq Scan on t");
  EXPECT_EQ(explain("select distinct c from t"),
            "HashAggregate\n  Group Key: c\n  ->  Seq Scan on t");
  EXPECT_EQ(the<AggregateNode>(plan("select count(*) from t")->root).strategy,
            AggregateStrategy::plain);
  EXPECT_EQ(the<AggregateNode>(plan("select b from t group by b")->root).strategy,
            AggregateStrategy::hashed);
}

}  // namespace
}  // namespace pgsilo::testing
