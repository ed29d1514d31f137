// When a partial index has all rows that a query wants, and how expressions find their index.
#include "tests/unit/planner/planner_fixture.h"

namespace pgsilo::testing {
namespace {

struct PartialIndex : Planner {
  // Of the form "from t where ...": whether the index by which only some rows are kept is used.
  bool uses(std::string_view condition) {
    return explain(concat("select * from m where ", condition)).find("m_some") != std::string::npos;
  }
  void index(std::string_view predicate) {
    static_cast<void>(session.run("drop index m_some"));
    define(concat("create index m_some on m (k) where ", predicate));
  }

  PartialIndex() { define("create table m (k int, n int, s text, f bool, x int)"); }
};

TEST_F(PartialIndex, TheSameCondition) {
  index("s = 'open'");
  EXPECT_TRUE(uses("k = 1 and s = 'open'"));
  EXPECT_TRUE(uses("'open' = s and k = 1"));
  EXPECT_FALSE(uses("k = 1"));
  EXPECT_FALSE(uses("k = 1 and s = 'shut'"));
  EXPECT_FALSE(uses("k = 1 and s <> 'open'"));
  EXPECT_FALSE(uses("k = 1 or s = 'open'"));
}

TEST_F(PartialIndex, ComparisonsWithConstants) {
  index("n > 10");
  for (const char* narrower : {"n > 10", "n > 11", "n >= 11", "n = 11", "12 < n", "n in (11, 12)",
                               "n > 10 and n < 20", "(n = 11 or n > 30)"})
    EXPECT_TRUE(uses(concat("k = 1 and ", narrower))) << narrower;
  for (const char* wider : {"n >= 10", "n > 9", "n = 10", "n < 20", "n <> 10", "x > 11",
                            "n in (10, 12)", "(n = 11 or x > 30)"})
    EXPECT_FALSE(uses(concat("k = 1 and ", wider))) << wider;
  index("n <= 10");
  EXPECT_TRUE(uses("k = 1 and n < 10"));
  EXPECT_TRUE(uses("k = 1 and n <= 10"));
  EXPECT_FALSE(uses("k = 1 and n < 11"));
  index("n <> 10");
  EXPECT_TRUE(uses("k = 1 and n > 10"));
  EXPECT_TRUE(uses("k = 1 and n = 9"));
  EXPECT_FALSE(uses("k = 1 and n >= 10"));
}

TEST_F(PartialIndex, NotNullFollowsFromWhatIsStrict) {
  index("n is not null");
  EXPECT_TRUE(uses("k = 1 and n = 5"));
  EXPECT_TRUE(uses("k = 1 and n + 1 > x"));
  EXPECT_TRUE(uses("k = 1 and n in (1, 2)"));
  EXPECT_FALSE(uses("k = 1 and coalesce(n, 1) = 1"));
  EXPECT_FALSE(uses("k = 1 and n is null"));
  EXPECT_FALSE(uses("k = 1 and (n = 5 or x = 5)"));
  EXPECT_TRUE(uses("k = 1 and n = any('{5,6}'::int[])"));
  // What is false of a NULL is true the other way round.
  EXPECT_FALSE(uses("k = 1 and not (n = any('{}'::int[]))"));
  EXPECT_FALSE(uses("k = 1 and (n is not null) = false"));
  EXPECT_FALSE(uses("k = 1 and n <> all('{}'::int[])"));
}

TEST_F(PartialIndex, ListsOfConditions) {
  index("n > 10 and f");
  EXPECT_TRUE(uses("k = 1 and n = 11 and f"));
  EXPECT_FALSE(uses("k = 1 and n = 11"));
  index("n > 10 or f");
  EXPECT_TRUE(uses("k = 1 and n = 11"));
  EXPECT_TRUE(uses("k = 1 and f"));
  EXPECT_TRUE(uses("k = 1 and (n = 11 or f)"));
  EXPECT_FALSE(uses("k = 1 and not f"));
  index("n in (1, 2, 3)");
  EXPECT_TRUE(uses("k = 1 and n = 2"));
  EXPECT_TRUE(uses("k = 1 and n in (3, 1)"));
  EXPECT_FALSE(uses("k = 1 and n in (3, 4)"));
}

TEST_F(PartialIndex, BooleansInAllTheirForms) {
  index("f");
  for (const char* same : {"f", "f = true", "f <> false", "f is true", "true = f"})
    EXPECT_TRUE(uses(concat("k = 1 and ", same))) << same;
  for (const char* other : {"not f", "f = false", "f is not false", "f is not null",
                            "not (f is false)", "f is unknown"})
    EXPECT_FALSE(uses(concat("k = 1 and ", other))) << other;
  index("f = false");
  for (const char* same : {"not f", "f = false", "f is false", "not (f = true)"})
    EXPECT_TRUE(uses(concat("k = 1 and ", same))) << same;
  for (const char* other : {"f", "f is not true", "not (f is true)", "f is null"})
    EXPECT_FALSE(uses(concat("k = 1 and ", other))) << other;
}

TEST_F(PartialIndex, WithoutAKeyItHasTheRowsAtOnce) {
  index("s = 'open'");
  statistics.rows["m"] = 100000;
  EXPECT_TRUE(uses("s = 'open'"));
}

// Who waits for a row asks again.
TEST_F(PartialIndex, IsNotTakenAtItsWordForRowsThatAreLocked) {
  index("s = 'open'");
  constexpr const char* filter = "Filter: (s = 'open'::text)";
  EXPECT_EQ(explain("select x from m where s = 'open' and k = 1").find(filter), std::string::npos);
  for (const char* locking : {"select x from m where s = 'open' and k = 1 for update",
                              "update m set x = 1 where s = 'open' and k = 1",
                              "delete from m where s = 'open' and k = 1"}) {
    std::string text = explain(locking);
    EXPECT_NE(text.find("using m_some"), std::string::npos) << text;
    EXPECT_NE(text.find(filter), std::string::npos) << text;
  }
}

// A parameter may be anything.
TEST_F(PartialIndex, NothingIsKnownOfParameters) {
  index("n > 10");
  Oid types[] = {type_oid::int4};
  EXPECT_EQ(find<IndexScanNode>(plan("select * from m where k = 1 and n = $1", types)->root),
            nullptr);
  index("n is not null");
  EXPECT_NE(find<IndexScanNode>(plan("select * from m where k = 1 and n = $1", types)->root),
            nullptr);
}

// What an index has of some rows only says nothing of the others.
TEST_F(PartialIndex, IsUniqueForItsRowsOnly) {
  define("create unique index m_one on m (n) where f");
  EXPECT_EQ(find<PointGetNode>(plan("select * from m where n = 1")->root), nullptr);
  EXPECT_NE(find<PointGetNode>(plan("select * from m where n = 1 and f")->root), nullptr);
  EXPECT_EQ(find<PointGetNode>(plan("select * from m where n = 1 and not f")->root), nullptr);
}

TEST_F(PartialIndex, OfTheNullableSideOfAJoin) {
  index("n > 10");
  statistics.rows["m"] = 100000;
  // The condition is asked of the row before it is joined, or of joined rows only.
  EXPECT_NE(explain("select * from t left join m on m.k = t.b and m.n = 11").find("m_some"),
            std::string::npos);
  EXPECT_EQ(explain("select * from m left join t on m.k = t.b and m.n = 11").find("m_some"),
            std::string::npos);
}

TEST_F(PartialIndex, HasTheGreatest) {
  define("create index m_top on m (n) where f");
  define("create index m_known on m (x) where x is not null");
  EXPECT_NE(explain("select max(n) from m where f").find("Backward using m_top"),
            std::string::npos);
  EXPECT_EQ(explain("select max(n) from m"), "Aggregate\n  ->  Seq Scan on m");
  EXPECT_NE(explain("select min(x) from m").find("m_known"), std::string::npos);
}

struct ExpressionIndex : Planner {
  ExpressionIndex() {
    define("create table m (k int, n int, s text)");
    define("create unique index m_lower on m (lower(s))");
    define("create index m_sum on m ((k + n), s)");
  }
};

TEST_F(ExpressionIndex, IsFoundByTheExpression) {
  EXPECT_EQ(explain("select * from m where lower(s) = 'x'"),
            "Index Scan using m_lower on m\n  Index Cond: (lower(s) = 'x'::text)");
  EXPECT_NE(find<PointGetNode>(plan("select * from m where lower(s) = 'x'")->root), nullptr);
  EXPECT_EQ(find<PointGetNode>(plan("select * from m where upper(s) = 'x'")->root), nullptr);
  EXPECT_EQ(explain("select * from m where k + n = 3 and s = 'a'"),
            "Index Scan using m_sum on m\n  Index Cond: (((k + n) = 3) AND (s = 'a'::text))");
  EXPECT_EQ(find<IndexScanNode>(plan("select * from m where n + k = 3")->root), nullptr);
}

TEST_F(ExpressionIndex, GivesItsOrder) {
  statistics.rows["m"] = 100000;
  EXPECT_EQ(explain("select * from m order by lower(s) limit 3"),
            "Limit\n  ->  Index Scan using m_lower on m");
}

TEST_F(ExpressionIndex, OfTheRelationThatIsMeant) {
  EXPECT_NE(explain("select * from u, m where lower(m.s) = u.v and u.a = 1").find("m_lower"),
            std::string::npos);
}

}  // namespace
}  // namespace pgsilo::testing
