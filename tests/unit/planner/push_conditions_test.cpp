// Conditions on a subquery that decides which rows there are stand in it, where an index serves
// them; those that would change its rows stay outside.
#include "tests/unit/planner/planner_fixture.h"

namespace pgsilo::testing {
namespace {

struct PushConditions : Planner {
  std::string of(const char* subquery, const char* condition) {
    return explain(concat("select * from (", subquery, ") z where ", condition));
  }
};

TEST_F(PushConditions, AKeyOfGroupsOrDifferentRowsIsLookedUp) {
  statistics.rows = {{"t", 100'000}, {"u", 100'000}};
  for (const char* subquery :
       {"select a, count(*) from t group by a", "select distinct a, b from t",
        "select distinct on (a) a, b from t order by a, b", "select a, b from t order by b",
        "select a, generate_series(1, 2) from t", "select a from t union all select b from t",
        "select a from t union select a from u", "select a from t intersect select a from u",
        "select a, n from (select a, count(*) n from t group by a) y where n > 1"}) {
    EXPECT_NE(of(subquery, "a = 7").find("Index Cond: (a = 7)"), std::string::npos) << subquery;
  }
}

TEST_F(PushConditions, WhatDecidesItsRowsOtherwiseIsAsItWas) {
  statistics.rows = {{"t", 100'000}, {"u", 100'000}};
  for (const char* subquery :
       {"select a, b from t limit 5", "select a, b from t offset 5",
        "select distinct on (b) a, b from t order by b", "select a from t except select a from u",
        "select a from t union all (select a from u limit 5)",
        "select generate_series(1, a) as a from t", "select a + (random() * 5)::int as a from t"}) {
    EXPECT_EQ(of(subquery, "a = 7").find("Index Cond"), std::string::npos) << subquery;
  }
  const char* grouped = "select a, count(*) n from t group by a";
  EXPECT_EQ(of(grouped, "a = 7 + (random() * 5)::int").find("Index Cond"), std::string::npos);
  EXPECT_EQ(of(grouped, "a = 7 or n = 1").find("Index Cond"), std::string::npos);
}

TEST_F(PushConditions, OuterJoinsKeepWhatWouldMakeRowsOfNulls) {
  statistics.rows = {{"t", 100'000}, {"u", 100'000}};
  const char* grouped = "(select a, count(*) n from t group by a) z";
  auto left = [&](const char* on, const char* where) {
    return explain(concat("select v, n from u left join ", grouped, " on ", on, " where ", where));
  };
  const char* looked_up = "Index Cond: (a = 7)";
  EXPECT_NE(left("z.a = t_a and z.a = 7", "true").find(looked_up), std::string::npos);
  // On the side that is there anyway it only decides what joins; above the join it sees the NULLs.
  EXPECT_NE(left("z.a = t_a and t_a = 7", "true").find("Join Filter: (u.t_a = 7)"),
            std::string::npos);
  EXPECT_NE(left("z.a = t_a", "coalesce(z.a, 7) = 7").find("\n  Filter: (COALESCE(t.a, 7) = 7)"),
            std::string::npos);
  // A strict condition leaves no rows of NULLs.
  EXPECT_NE(left("z.n = t_a", "z.a = 7").find(looked_up), std::string::npos);
  EXPECT_NE(left("z.n = t_a", "z.a = t_a and t_a = 7").find(looked_up), std::string::npos);
}

TEST_F(PushConditions, AValueGoesAlongEqualities) {
  statistics.rows = {{"t", 100'000}, {"u", 100'000}};
  EXPECT_NE(explain("select * from u join (select a, count(*) from t group by a) z on z.a = u.a "
                    "join (select distinct b from t where b > 3) y on y.b = z.a where u.a = 7")
                .find("Index Cond: (a = 7)\n"),
            std::string::npos);
  std::string plan = explain(
      "select * from u join (select a, count(*) from t group by a) z on z.a = u.a "
      "where u.a = $1");
  EXPECT_NE(plan.find("GroupAggregate"), std::string::npos) << plan;
  EXPECT_EQ(plan.find("Seq Scan"), std::string::npos) << plan;
}

TEST_F(PushConditions, HavingOfKeysIsWhere) {
  statistics.rows = {{"t", 100'000}};
  EXPECT_NE(explain("select a, count(*) from t group by a having a = 7 and count(*) > 1")
                .find("Index Cond: (a = 7)"),
            std::string::npos);
  EXPECT_NE(explain("select count(*) from t having 1 = 2").find("Filter"), std::string::npos);
}

TEST_F(PushConditions, ASubqueryThatSortsIsNotMerged) {
  EXPECT_NE(
      explain("select string_agg(b::text, ',') from (select b from t order by d) z").find("Sort"),
      std::string::npos);
}

}  // namespace
}  // namespace pgsilo::testing
