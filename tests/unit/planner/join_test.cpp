// How relations are joined: method by size, order, outer joins that can be less.
#include "tests/unit/planner/planner_fixture.h"

namespace pgsilo::testing {
namespace {

struct Joins : Planner {
  JoinType type_of(std::string_view sql) {
    auto planned = plan(sql);
    if (const auto* hash = find<HashJoinNode>(planned->root)) return hash->join_type;
    if (const auto* merge = find<MergeJoinNode>(planned->root)) return merge->join_type;
    return the<NestedLoopNode>(planned->root).join_type;
  }
};

TEST_F(Joins, SizesDecideBetweenLookupsAndAHashTable) {
  constexpr std::string_view sql = "select * from t, u where t.d = u.a";
  statistics.rows = {{"t", 10}, {"u", 1'000'000}};
  auto planned = plan(sql);
  const auto* loop = find<NestedLoopNode>(planned->root);
  ASSERT_NE(loop, nullptr);
  EXPECT_EQ(loop->left->kind, PlanKind::sequential_scan);
  EXPECT_EQ(loop->right->kind, PlanKind::point_get);
  ASSERT_EQ(loop->parameters.size(), 1u);
  EXPECT_EQ(loop->condition, nullptr);  // the key answers it
  EXPECT_TRUE(loop->right->depends_on_parameters);
  statistics.rows = {{"t", 1'000'000}, {"u", 1'000'000}};
  statistics.distinct["t.d"] = 1'000'000;
  planned = plan(sql);
  EXPECT_NE(find<HashJoinNode>(planned->root), nullptr);
  EXPECT_EQ(find<PointGetNode>(planned->root), nullptr);
}

TEST_F(Joins, TheHashTableIsMadeOfTheSmallerSide) {
  constexpr std::string_view sql = "select * from t, u where t.c = u.v";
  statistics.rows = {{"t", 100'000}, {"u", 100}};
  auto planned = plan(sql);
  const auto* join = find<HashJoinNode>(planned->root);
  ASSERT_NE(join, nullptr);
  EXPECT_EQ(the<SequentialScanNode>(join->right).table->name, "u");
  statistics.rows = {{"t", 100}, {"u", 100'000}};
  planned = plan(sql);
  join = find<HashJoinNode>(planned->root);
  ASSERT_NE(join, nullptr);
  EXPECT_EQ(the<SequentialScanNode>(join->right).table->name, "t");
}

TEST_F(Joins, AUniqueLookupMatchesAtMostOnce) {
  statistics.rows = {{"t", 10}, {"u", 1'000'000}};
  EXPECT_TRUE(
      the<NestedLoopNode>(plan("select * from t, u where t.d = u.a")->root).right_is_unique);
  define("create index u_t_a on u (t_a)");
  auto planned = plan("select * from t, u where t.a = u.t_a");
  const auto* loop = find<NestedLoopNode>(planned->root);
  ASSERT_NE(loop, nullptr);
  EXPECT_FALSE(loop->right_is_unique);
}

TEST_F(Joins, WithoutAnEqualityTheInnerRowsAreKept) {
  auto planned = plan("select * from t, u where t.d < u.t_a");
  const auto* loop = find<NestedLoopNode>(planned->root);
  ASSERT_NE(loop, nullptr);
  EXPECT_EQ(loop->right->kind, PlanKind::materialize);
  EXPECT_NE(loop->condition, nullptr);
}

TEST_F(Joins, SettingsForbid) {
  constexpr std::string_view sql = "select * from t, u where t.c = u.v";
  settings.enable_hash_join = false;
  EXPECT_NE(find<MergeJoinNode>(plan(sql)->root), nullptr);
  settings.enable_merge_join = false;
  EXPECT_NE(find<NestedLoopNode>(plan(sql)->root), nullptr);
  settings.enable_hash_join = true;
  settings.enable_nested_loop = false;
  statistics.rows = {{"t", 1}, {"u", 1}};
  EXPECT_NE(find<HashJoinNode>(plan(sql)->root), nullptr);
}

// Times of one day are many, days few; and a cast that may join values says nothing of how many.
TEST_F(Joins, CastsThatJoinValuesKeepMoreRows) {
  define("create table ev (id int primary key, at timestamp, n numeric, i int, k int)");
  define("create table dd (v int, w int)");
  statistics.rows = {{"ev", 200'000}, {"dd", 20'000}};
  statistics.distinct = {{"ev.at", 200'000}, {"ev.n", 200'000}, {"ev.i", 200'000}};
  auto rows_of = [&](std::string_view condition) {
    return the<SequentialScanNode>(plan(concat("select * from ev where ", condition))->root).rows;
  };
  EXPECT_GE(rows_of("at::date = '2024-01-05'"), 900);
  EXPECT_GE(rows_of("n::int = 5"), 900);
  EXPECT_EQ(rows_of("i::bigint = 5"), 1);
  EXPECT_EQ(rows_of("i::numeric = 5"), 1);
  EXPECT_EQ(rows_of("- i = 5"), 1);
  auto planned = plan("select count(*) from ev join dd on v = k where at::date = '2024-01-05'");
  EXPECT_NE(find<HashJoinNode>(planned->root), nullptr);
}

// However many values there are below it.
TEST_F(Joins, ASubqueryHasNoMoreValuesThanRows) {
  define("create table o (id int primary key, bid int, v int)");
  define("create table dd (v int, w int)");
  statistics.rows = {{"t", 300'000}, {"o", 100'000}, {"dd", 20'000}};
  statistics.distinct = {{"o.bid", 10}};
  for (std::string_view subquery :
       {"(select a from t order by a limit 2)",
        "(select a from (select a from t order by a limit 2) i offset 0)",
        "(select a, count(*) from t where d = 5 group by a limit 3)"}) {
    auto planned =
        plan(concat("select * from ", subquery, " s join o on o.bid = s.a join dd on dd.v = o.v"));
    EXPECT_EQ(find<NestedLoopNode>(planned->root), nullptr) << subquery;
    EXPECT_GE(planned->root->rows, 10'000) << subquery;
  }
}

// Two sides that come by what is equal are read side by side, and the result comes by it, too.
TEST_F(Joins, WhatComesByTheKeyIsMerged) {
  statistics.rows = {{"t", 1'000'000}, {"u", 1'000'000}};
  EXPECT_EQ(explain("select * from t join u on u.a = t.a"),
            "Merge Join\n"
            "  Merge Cond: (u.a = t.a)\n"
            "  ->  Index Scan using u_pkey on u\n"
            "  ->  Index Scan using t_pkey on t");
  EXPECT_EQ(explain("select * from t full join u on u.a = t.a"),
            "Merge Full Join\n"
            "  Merge Cond: (u.a = t.a)\n"
            "  ->  Index Scan using t_pkey on t\n"
            "  ->  Index Scan using u_pkey on u");
  EXPECT_EQ(explain("select * from t where not exists (select 1 from u where u.a = t.a)"),
            "Merge Anti Join\n"
            "  Merge Cond: (u.a = t.a)\n"
            "  ->  Index Scan using t_pkey on t\n"
            "  ->  Index Scan using u_pkey on u");
  // Three tables by one key: the first join's result is merged with the third as it comes.
  statistics.rows["w"] = 1'000'000;
  std::string text =
      explain("select * from t join u on u.a = t.a join w on w.a = u.a order by w.a");
  EXPECT_EQ(text.find("Sort"), std::string::npos) << text;
  EXPECT_EQ(text.find("Hash"), std::string::npos) << text;
}

// Where nothing else is allowed, or where the order is wanted anyway.
TEST_F(Joins, SidesAreSortedForAMerge) {
  settings.enable_hash_join = settings.enable_nested_loop = false;
  EXPECT_EQ(explain("select * from t join u on u.v = t.c"),
            "Merge Join\n"
            "  Merge Cond: (u.v = t.c)\n"
            "  ->  Sort\n"
            "        Sort Key: u.v\n"
            "        ->  Seq Scan on u\n"
            "  ->  Sort\n"
            "        Sort Key: t.c\n"
            "        ->  Seq Scan on t");
  // A key that the rows have not got is computed for the sort.
  EXPECT_NE(explain("select * from t join u on u.t_a + 1 = t.d + 2").find("Sort Key: ((u.t_a + 1)"),
            std::string::npos);
}

// Three rows of a hundred are asked for, again and again.
TEST_F(Joins, WhatIsLookedUpOftenIsKept) {
  statistics.rows = {{"t", 100'000}, {"u", 10'000'000}};
  statistics.distinct["t.d"] = 100;
  EXPECT_EQ(explain("select * from t join u on u.a = t.d"),
            "Nested Loop\n"
            "  ->  Seq Scan on t\n"
            "  ->  Memoize\n"
            "        Cache Key: t.d\n"
            "        Cache Mode: logical\n"
            "        ->  Index Scan using u_pkey on u\n"
            "              Index Cond: (a = t.d)");
  settings.enable_memoize = false;
  EXPECT_EQ(find<MemoizeNode>(plan("select * from t join u on u.a = t.d")->root), nullptr);
}

// What an outer, semi or anti join has on its right may be a join, and still be made for each left
// row of what belongs to it.
TEST_F(Joins, ARightSideOfSeveralTablesIsDrivenByTheLeftRow) {
  define("create index u_t_a on u (t_a)");
  define("create index w_u_a on w (u_a)");
  statistics.rows = {{"t", 10}, {"u", 1'000'000}, {"w", 1'000'000}};
  statistics.distinct = {{"u.t_a", 1'000'000}, {"w.u_a", 1'000'000}};
  EXPECT_EQ(explain("select * from t where exists (select 1 from u join w on w.u_a = u.a "
                    "where u.t_a = t.a)"),
            "Nested Loop Semi Join\n"
            "  ->  Seq Scan on t\n"
            "  ->  Nested Loop\n"
            "        ->  Index Scan using u_t_a on u\n"
            "              Index Cond: (t_a = t.a)\n"
            "        ->  Index Scan using w_u_a on w\n"
            "              Index Cond: (u_a = u.a)");
  EXPECT_EQ(explain("select * from t left join (u join w on w.u_a = u.a) on u.t_a = t.a"),
            "Nested Loop Left Join\n"
            "  ->  Seq Scan on t\n"
            "  ->  Nested Loop\n"
            "        ->  Index Scan using u_t_a on u\n"
            "              Index Cond: (t_a = t.a)\n"
            "        ->  Index Scan using w_u_a on w\n"
            "              Index Cond: (u_a = u.a)");
}

TEST_F(Joins, AConstantReachesBothSidesOfAnEquality) {
  auto planned = plan("select * from t, u where t.a = u.a and t.a = 5");
  const auto* loop = find<NestedLoopNode>(planned->root);
  ASSERT_NE(loop, nullptr);
  EXPECT_EQ(loop->left->kind, PlanKind::point_get);
  EXPECT_EQ(loop->right->kind, PlanKind::point_get);
  EXPECT_TRUE(loop->parameters.empty());
}

// What is derived of an inner join that an outer one extends says nothing of the rows that it adds.
TEST_F(Joins, AConstantOfANullableSideStaysThere) {
  EXPECT_EQ(explain("select * from w left join (t join u on t.a = u.t_a and u.t_a = 3) on true"),
            "Nested Loop Left Join\n"
            "  ->  Seq Scan on w\n"
            "  ->  Materialize\n"
            "        ->  Nested Loop\n"
            "              Join Filter: (t.a = u.t_a)\n"
            "              ->  Index Scan using t_pkey on t\n"
            "                    Index Cond: (a = 3)\n"
            "              ->  Materialize\n"
            "                    ->  Seq Scan on u\n"
            "                          Filter: (t_a = 3)");
}

// More relations than every order is tried of: a full join's left side must not be joined with
// anything else on the way, though nothing connects it.
TEST_F(Joins, AFullJoinAmongManyRelations) {
  std::string from = "t a cross join u b full join w c on b.a = c.u_a";
  std::string where = "true";
  for (int i = 0; i < 8; ++i) {
    std::string name = concat("x", i);
    from += concat(" cross join w ", name);
    if (i > 0) where += concat(" and x", i - 1, ".a = ", name, ".u_a");
  }
  statistics.rows = {{"t", 1000}, {"u", 1000}, {"w", 1}};
  std::string text = explain(concat("select * from ", from, " where ", where));
  EXPECT_NE(text.find(" Full Join"), std::string::npos) << text;
}

TEST_F(Joins, TheOrderBeginsWithTheFewestRows) {
  statistics.rows = {{"t", 100'000}, {"u", 100'000}, {"w", 100'000}};
  EXPECT_EQ(explain("select * from t, u, w where t.a = u.t_a and u.a = w.u_a and w.a = 5"),
            "Nested Loop\n"
            "  ->  Nested Loop\n"
            "        ->  Index Scan using w_pkey on w\n"
            "              Index Cond: (a = 5)\n"
            "        ->  Index Scan using u_pkey on u\n"
            "              Index Cond: (a = w.u_a)\n"
            "  ->  Index Scan using t_pkey on t\n"
            "        Index Cond: (a = u.t_a)");
}

TEST_F(Joins, ConditionsSinkToTheirRelation) {
  EXPECT_EQ(explain("select * from t join u on t.c = u.v and u.t_a > 3 where t.d = 4"),
            "Hash Join\n"
            "  Hash Cond: (t.c = u.v)\n"
            "  ->  Seq Scan on u\n"
            "        Filter: (t_a > 3)\n"
            "  ->  Hash\n"
            "        ->  Seq Scan on t\n"
            "              Filter: (d = 4)");
}

TEST_F(Joins, OuterJoinsBecomeLessWhereTheirNullRowsAreRejected) {
  std::string left = "select * from t left join u on t.c = u.v";
  EXPECT_EQ(type_of(left + " where u.t_a = 1"), JoinType::inner);
  EXPECT_EQ(type_of(left + " where u.t_a is not null"), JoinType::inner);
  EXPECT_EQ(type_of(left + " where t.d > 0 and u.t_a + t.d > 0"), JoinType::inner);
  std::string full = "select * from t full join u on t.c = u.v";
  EXPECT_EQ(type_of(full + " where t.d = 1 and u.t_a = 1"), JoinType::inner);
  EXPECT_NE(type_of(full + " where t.d = 1"), JoinType::full);
  EXPECT_NE(type_of(full + " where t.d = 1"), JoinType::inner);
  // A later inner join that needs the nullable side rejects its nulls too.
  EXPECT_EQ(the<HashJoinNode>(
                plan("select * from t left join u on t.c = u.v join w on w.a = u.t_a")->root)
                .join_type,
            JoinType::inner);
}

TEST_F(Joins, OuterJoinsStayWhereNullRowsMayPass) {
  std::string left = "select * from t left join u on t.c = u.v";
  EXPECT_EQ(type_of(left), JoinType::left);
  EXPECT_EQ(type_of(left + " where t.d = 1"), JoinType::left);
  EXPECT_EQ(type_of(left + " where u.t_a is null"), JoinType::left);
  EXPECT_EQ(type_of(left + " where coalesce(u.t_a, 0) = 0"), JoinType::left);
  EXPECT_EQ(type_of(left + " where u.t_a = 1 or t.d = 1"), JoinType::left);
  EXPECT_EQ(type_of("select * from t full join u on t.c = u.v"), JoinType::full);
}

TEST_F(Joins, TheConditionOfAnOuterJoinSinksToItsRightSideOnly) {
  auto planned = plan("select * from t left join u on t.c = u.v and u.t_a = 1 and t.d = 2");
  const auto* join = find<HashJoinNode>(planned->root);
  ASSERT_NE(join, nullptr);
  EXPECT_NE(join->condition, nullptr);
  EXPECT_EQ(the<SequentialScanNode>(join->left).filter, nullptr);
  EXPECT_NE(the<SequentialScanNode>(join->right).filter, nullptr);
}

}  // namespace
}  // namespace pgsilo::testing
