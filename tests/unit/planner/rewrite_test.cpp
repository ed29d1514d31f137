// Queries made into others: subqueries to joins, merged subqueries, folded constants; and what
// changes of rows know about them.
#include "tests/unit/planner/planner_fixture.h"

namespace pgsilo::testing {
namespace {

struct Rewrite : Planner {};

TEST_F(Rewrite, ExistsIsASemiJoinNotExistsAnAntiJoin) {
  statistics.rows = {{"t", 100'000}, {"u", 100'000}};
  auto planned = plan("select * from t where exists (select 1 from u where u.t_a = t.a)");
  const auto* join = find<HashJoinNode>(planned->root);
  ASSERT_NE(join, nullptr);
  EXPECT_EQ(join->join_type, JoinType::semi);
  EXPECT_EQ(join->columns.size(), 5u);  // the left row only
  planned = plan("select * from t where not exists (select 1 from u where u.t_a = t.a)");
  join = find<HashJoinNode>(planned->root);
  ASSERT_NE(join, nullptr);
  EXPECT_EQ(join->join_type, JoinType::anti);
}

TEST_F(Rewrite, AnExistsOfAUniqueKeyIsAnInnerJoin) {
  statistics.rows = {{"t", 1'000'000}, {"u", 10}};
  // A few rows of u drive lookups in t.
  EXPECT_EQ(explain("select * from t where exists (select from u where t.a = u.a and t_a = 3)"),
            "Nested Loop\n"
            "  ->  Seq Scan on u\n"
            "        Filter: (t_a = 3)\n"
            "  ->  Index Scan using t_pkey on t\n"
            "        Index Cond: (a = u.a)");
  // A comparison with itself, or of another column, says nothing.
  for (const char* condition : {"t.a = t.d and t.d > u.a", "t.d = u.t_a", "t.a > u.t_a"}) {
    auto planned =
        plan(concat("select * from u where exists (select from t where ", condition, ")"));
    const auto* hashed = find<HashJoinNode>(planned->root);
    const auto* loop = find<NestedLoopNode>(planned->root);
    ASSERT_TRUE(hashed != nullptr || loop != nullptr);
    EXPECT_EQ(hashed != nullptr ? hashed->join_type : loop->join_type, JoinType::semi) << condition;
  }
}

// A condition of a join inside that reads the outer row is decided inside: beside the semi or anti
// join nothing of it would be left, or it would be missed for another row.
TEST_F(Rewrite, AnExistsWhoseJoinsReadTheOuterRowIsNoJoin) {
  for (const char* inside :
       {"u join w on w.u_a = u.a and w.a = t.d", "u left join w on w.u_a = u.a and w.a = t.d",
        "w right join u on w.u_a = u.a and u.a = t.b",
        "u join (w left join p on p.x = w.a and p.y = t.d) on w.u_a = u.a"}) {
    for (const char* test : {"exists (select 1", "not exists (select 1", "t.b in (select u.a"}) {
      auto planned =
          plan(concat("select a from t where ", test, " from ", inside, " where u.t_a = t.a)"));
      std::string where = concat(test, " from ", inside);
      EXPECT_EQ(find<HashJoinNode>(planned->root), nullptr) << where;
      EXPECT_EQ(find<NestedLoopNode>(planned->root), nullptr) << where;
    }
  }
  // Of a query further out they may read.
  EXPECT_NE(explain("select (select count(*) from u where exists (select 1 from w join p on "
                    "p.x = w.a and p.y = t.d where w.u_a = u.a)) from t")
                .find("Semi Join"),
            std::string::npos);
}

TEST_F(Rewrite, ALateralSubqueryWhoseOuterJoinsReadOtherRelationsIsNotMerged) {
  for (const char* sql :
       {"select * from t join lateral (select u.a, w.u_a from u left join w on w.u_a = u.a and "
        "w.a = t.d) s on true",
        "select * from t join lateral (select u.a, w.u_a from u left join (w join p on p.x = w.a "
        "and p.y = t.d) on w.u_a = u.a) s on true",
        "select * from t left join lateral (select u.a, w.u_a from u join w on w.u_a = u.a and "
        "w.a = t.d) s on true"}) {
    auto planned = plan(sql);
    // The subquery is planned by itself, once for all rows of t.
    const auto* loop = try_as<NestedLoopNode>(planned->root);
    ASSERT_NE(loop, nullptr) << sql;
    EXPECT_EQ(loop->parameters.size(), 1u) << sql;
  }
  // An inner join's conditions might as well stand in WHERE.
  EXPECT_EQ(explain("select * from t join lateral (select u.a from u join w on w.u_a = u.a and "
                    "w.a = t.d) s on t.a = 5"),
            explain("select t.*, u.a from t, u, w where w.u_a = u.a and w.a = t.d and t.a = 5"));
}

TEST_F(Rewrite, AnExistsWithoutOuterColumnsIsAnsweredOnce) {
  EXPECT_EQ(explain("select * from t where exists (select 1 from u where u.t_a = 3)"),
            "Result\n"
            "  One-Time Filter: $0\n"
            "  InitPlan 1 (returns $0)\n"
            "    ->  Seq Scan on u\n"
            "          Filter: (t_a = 3)\n"
            "  ->  Seq Scan on t");
}

// The first row is enough, but it may be the last that a scan comes to.
TEST_F(Rewrite, AnExistsThatIsNoJoinUsesAnIndex) {
  for (const char* query :
       {"select exists (select 1 from t where a = t_a) from u",
        "select count(*) filter (where exists (select 1 from t where a = t_a)) from u",
        "select exists (select 1 from t where a = t_a offset 0) from u",
        "select case when not exists (select 1 from t where a = t_a) then 1 end from u"}) {
    std::string explained = explain(query);
    EXPECT_NE(explained.find("Index Scan using t_pkey on t"), std::string::npos) << explained;
  }
}

TEST_F(Rewrite, InIsAJoin) {
  statistics.rows = {{"t", 1'000'000}, {"u", 10}};
  // A few rows of u drive lookups in t: only an inner join over different rows allows that.
  EXPECT_EQ(explain("select * from t where a in (select t_a from u)"),
            "Nested Loop\n"
            "  ->  HashAggregate\n"
            "        Group Key: u.t_a\n"
            "        ->  Seq Scan on u\n"
            "  ->  Index Scan using t_pkey on t\n"
            "        Index Cond: (a = u.t_a)");
  std::string text = explain("select * from t where a in (select u.t_a from u where u.t_a = t.d)");
  EXPECT_NE(text.find(" Semi Join"), std::string::npos) << text;
}

// Whatever the two sides are compared as.
TEST_F(Rewrite, InIsAJoinOrHashedForAllTypes) {
  define("create table k (v varchar(10), n numeric, i int, b bigint, c char(3), f float8)");
  for (const char* test :
       {"v in (select v from k", "v in (select c from k", "n in (select i from k",
        "i in (select b from k", "f in (select n from k", "(i, v) in (select b, v from k",
        "i in (select b + 1 from k", "v in (select v from k group by v"}) {
    auto planned = plan(concat("select * from k where ", test, ")"));
    EXPECT_TRUE(find<HashJoinNode>(planned->root) != nullptr ||
                find<NestedLoopNode>(planned->root) != nullptr)
        << test;
    std::string negated = explain(concat("select * from k where not ", test, ")"));
    EXPECT_NE(negated.find("NOT (hashed SubPlan"), std::string::npos) << negated;
  }
  // Each row of these depends on what is returned.
  for (const char* inside :
       {"distinct v from k", "v from k order by v limit 3", "v from k union select v from k"}) {
    std::string explained = explain(concat("select * from k where v in (select ", inside, ")"));
    EXPECT_NE(explained.find("(hashed SubPlan"), std::string::npos) << explained;
  }
}

// The subquery's rows would be made anew for each row of t.
TEST_F(Rewrite, TheRowsOfInDoNotDependOnAQueryAround) {
  std::string explained = explain(
      "select (select count(*) from w where w.a = t.d and w.a in (select t_a from u)) from t");
  EXPECT_NE(explained.find("Group Key: u.t_a"), std::string::npos) << explained;
  EXPECT_EQ(explained.find("u.t_a = t.d"), std::string::npos) << explained;
  EXPECT_NE(explained.find("Index Cond: (a = t.d)"), std::string::npos) << explained;
}

TEST_F(Rewrite, NotInIsNoJoin) {
  // A NULL in the subquery makes all of it unknown.
  auto planned = plan("select * from t where a not in (select t_a from u)");
  EXPECT_EQ(find<HashJoinNode>(planned->root), nullptr);
  EXPECT_EQ(find<NestedLoopNode>(planned->root), nullptr);
}

TEST_F(Rewrite, SimpleSubqueriesAreMerged) {
  EXPECT_EQ(explain("select s.n from (select a + 1 as n, a as k from t where d = 2) s where k = 5"),
            "Index Scan using t_pkey on t\n  Index Cond: (a = 5)\n  Filter: (d = 2)");
  EXPECT_EQ(explain("with s as (select a from t) select * from s where a = 5"),
            "Index Scan using t_pkey on t\n  Index Cond: (a = 5)");
}

TEST_F(Rewrite, SubqueriesThatDecideWhichRowsThereAreAreNotMerged) {
  for (const char* sql : {"select * from (select a from t limit 3) s where a = 5",
                          "select * from (select distinct d as a from t) s where a = 5",
                          "select * from (select count(*) as a from t) s where a = 5",
                          "with s as materialized (select a from t) select * from s where a = 5"}) {
    EXPECT_EQ(find<PointGetNode>(plan(sql)->root), nullptr) << sql;
  }
}

TEST_F(Rewrite, AWithQueryUsedTwiceRunsOnce) {
  auto planned = plan("with s as (select a from t where d = 1) select * from s x, s y");
  EXPECT_EQ(planned->ctes.size(), 1u);
  EXPECT_NE(find<CteScanNode>(planned->root), nullptr);
  planned = plan("with s as not materialized (select a from t where d = 1) select * from s x, s y");
  EXPECT_EQ(planned->ctes.size(), 0u);
}

TEST_F(Rewrite, ConstantsAreComputedOnce) {
  EXPECT_EQ(explain("select * from t where a = 2 + 3 * 4"),
            "Index Scan using t_pkey on t\n  Index Cond: (a = 14)");
  EXPECT_EQ(explain("select * from t where c = lower('ABC') || 'd'"),
            "Seq Scan on t\n  Filter: (c = 'abcd'::text)");
  EXPECT_EQ(explain("select * from t where a = case when 1 < 2 then 5 else d end"),
            "Index Scan using t_pkey on t\n  Index Cond: (a = 5)");
  EXPECT_EQ(explain("select * from t where a = coalesce(null, 5)"),
            "Index Scan using t_pkey on t\n  Index Cond: (a = 5)");
}

// Unless something before it decides, whether or not a row comes to it.
TEST_F(Rewrite, WhatFailsFailsBeforeTheRun) {
  EXPECT_THROW(explain("select * from t where c = 'x' and 1 / 0 = d"), SqlError);
  EXPECT_THROW(explain("select case when d = 1 then 1 / 0 end from t"), SqlError);
  EXPECT_NO_THROW(explain("select case when false then 1 / 0 end from t"));
  EXPECT_NO_THROW(explain("select coalesce(1, 1 / 0) from t where false and 1 / 0 = d"));
}

TEST_F(Rewrite, BooleanLawsShortenConditions) {
  EXPECT_EQ(explain("select * from t where a = 5 and true"),
            "Index Scan using t_pkey on t\n  Index Cond: (a = 5)");
  EXPECT_EQ(explain("select * from t where not (a < 5 or b is null)"),
            "Index Scan using t_pkey on t\n  Index Cond: (a >= 5)\n  Filter: (b IS NOT NULL)");
  // Nothing is read.
  for (const char* never :
       {"select * from t where a = 5 and 1 = 2", "select * from t where d = null"}) {
    auto planned = plan(never);
    const auto* filter = try_as<FilterNode>(planned->root);
    ASSERT_NE(filter, nullptr) << never;
    const auto* constant = try_as<ConstantExpression>(filter->one_time_filter);
    ASSERT_NE(constant, nullptr) << never;
    EXPECT_TRUE(constant->value.null || !constant->value.as_bool());
  }
}

TEST_F(Rewrite, FunctionsThatAreNotImmutableAreNotFolded) {
  EXPECT_NE(explain("select * from t where c = current_setting('x')").find("current_setting"),
            std::string::npos);
}

TEST_F(Rewrite, UpdatesTouchOnlyIndexesOfAssignedColumns) {
  auto planned = plan("update t set d = 1 where a = 5");
  const auto* update = try_as<UpdateNode>(planned->root);
  ASSERT_NE(update, nullptr);
  EXPECT_EQ(update->child->kind, PlanKind::point_get);
  EXPECT_TRUE(update->changed_indexes.empty());
  EXPECT_FALSE(update->changes_primary_key);
  EXPECT_TRUE(update->not_null_columns.empty());
  planned = plan("update t set b = 1, d = b where a = 5");
  update = as<UpdateNode>(planned->root);
  ASSERT_EQ(update->changed_indexes.size(), 1u);
  EXPECT_EQ(update->changed_indexes[0]->name, "t_b");
  ASSERT_EQ(update->not_null_columns.size(), 1u);
  EXPECT_EQ(update->not_null_columns[0], 3);
  planned = plan("update t set a = a + 1");
  update = as<UpdateNode>(planned->root);
  EXPECT_TRUE(update->changes_primary_key);
  EXPECT_EQ(update->changed_indexes.size(), 2u);
}

TEST_F(Rewrite, InsertsCheckOnlyWhatMayBeNull) {
  auto planned = plan("insert into t (a, d) values (1, 2)");
  EXPECT_TRUE(as<InsertNode>(planned->root)->not_null_columns.empty());
  planned = plan("insert into t (a, c) values (1, 'x')");
  ASSERT_EQ(as<InsertNode>(planned->root)->not_null_columns.size(), 1u);
  EXPECT_EQ(as<InsertNode>(planned->root)->not_null_columns[0], 3);
}

TEST_F(Rewrite, StatementsSayWhatTheyMayDo) {
  EXPECT_TRUE(plan("select * from t")->read_only);
  EXPECT_FALSE(plan("delete from t")->read_only);
  EXPECT_TRUE(plan("select 1")->one_shot);
  EXPECT_FALSE(plan("begin")->one_shot);
}

}  // namespace
}  // namespace pgsilo::testing
