// Joins, grouping, sorting, subqueries and set operations; expected rows are PostgreSQL 15's.
#include <gtest/gtest.h>

#include "tests/unit/executor/sql_session.h"

namespace pgsilo::testing {
namespace {

struct Queries : ::testing::Test {
  CatalogEngine engine;
  SqlSession session{engine};

  Queries() {
    run("create table t (a int primary key, b int, c text)");
    run("insert into t values (1, 10, 'x'), (2, 20, 'y'), (3, 20, null), (4, null, 'x')");
    run("create table u (b int, d text)");
    run("insert into u values (10, 'ten'), (20, 'twenty'), (20, 'zwanzig'), (30, 'thirty'), (null, "
        "'none')");
  }
  std::string run(std::string_view sql) { return session.run(sql); }
};

TEST_F(Queries, Joins) {
  EXPECT_EQ(run("select a, d from t join u on t.b = u.b order by a, d"),
            "1|ten\n2|twenty\n2|zwanzig\n3|twenty\n3|zwanzig");
  EXPECT_EQ(run("select a, d from t left join u on t.b = u.b and d <> 'ten' order by a, d"),
            "1|NULL\n2|twenty\n2|zwanzig\n3|twenty\n3|zwanzig\n4|NULL");
  EXPECT_EQ(run("select a, d from t left join u on t.b = u.b where d is null order by a"),
            "4|NULL");
  EXPECT_EQ(
      run("select a, d from t full join u on t.b = u.b where a is null or d is null order by a, d"),
      "4|NULL\nNULL|none\nNULL|thirty");
  EXPECT_EQ(run("select count(*) from t, u"), "20");
  EXPECT_EQ(run("select x.a, y.a from t x join t y on x.a = y.a - 1 order by 1"), "1|2\n2|3\n3|4");
}

TEST_F(Queries, Subqueries) {
  EXPECT_EQ(run("select a from t where b in (select b from u) order by a"), "1\n2\n3");
  EXPECT_EQ(run("select a from t where b not in (select b from u where b is not null) order by a"),
            "");
  EXPECT_EQ(run("select d from u where b not in (select b from t)"), "");
  EXPECT_EQ(run("select a from t where exists (select 1 from u where u.b = t.b and d like 'z%') "
                "order by a"),
            "2\n3");
  EXPECT_EQ(run("select a, (select count(*) from u where u.b = t.b) from t order by a"),
            "1|1\n2|2\n3|2\n4|0");
  EXPECT_EQ(run("select a from t where b > all (select b from u where b < 20) order by a"), "2\n3");
  EXPECT_EQ(run("select (select b from u)"),
            "ERROR: 21000: more than one row returned by a subquery used as an expression");
  EXPECT_EQ(
      run("with w as (select b, count(*) n from u group by b) select sum(n), count(b) from w"),
      "5|3");
}

TEST_F(Queries, GroupingAndOrder) {
  EXPECT_EQ(
      run("select c, count(*), sum(b), min(b), max(a) from t group by c order by c nulls first"),
      "NULL|1|20|20|3\nx|2|10|10|4\ny|1|20|20|2");
  EXPECT_EQ(run("select b, count(*) from t group by b having count(*) > 1"), "20|2");
  EXPECT_EQ(run("select count(distinct b), sum(distinct b), count(b), count(*) from t"),
            "2|30|3|4");
  EXPECT_EQ(run("select count(*), sum(a), max(c) from t where a > 100"), "0|NULL|NULL");
  EXPECT_EQ(run("select string_agg(c, ',' order by a desc), count(*) filter (where b = 20) from t"),
            "x,y,x|2");
  EXPECT_EQ(run("select a, b from t order by b desc nulls last, a desc"),
            "3|20\n2|20\n1|10\n4|NULL");
  EXPECT_EQ(run("select a from t order by a desc limit 2 offset 1"), "3\n2");
  EXPECT_EQ(run("select a from t order by b, c limit 2"), "1\n2");
  EXPECT_EQ(run("select distinct c from t order by c"), "x\ny\nNULL");
  EXPECT_EQ(run("select distinct on (b) b, a from t order by b, a desc"), "10|1\n20|3\nNULL|4");
  EXPECT_EQ(run("select a from t limit -1"), "ERROR: 2201W: LIMIT must not be negative");
}

TEST_F(Queries, SetOperations) {
  EXPECT_EQ(run("select b from t union select b from u order by 1"), "10\n20\n30\nNULL");
  EXPECT_EQ(run("select b from t intersect select b from u order by 1"), "10\n20\nNULL");
  EXPECT_EQ(run("select b from u except all select b from t order by 1"), "30");
  EXPECT_EQ(run("select b from u intersect all select b from t order by 1"), "10\n20\n20\nNULL");
  EXPECT_EQ(run("select 1 union all select 1 union all select 2"), "1\n1\n2");
}

TEST_F(Queries, ThreeValuedLogic) {
  EXPECT_EQ(
      run("select null and false, null and true, null or true, null or false, not null::bool"),
      "f|NULL|t|NULL|NULL");
  EXPECT_EQ(run("select 1 in (2, null), 1 in (1, null), 1 not in (2, null), 2 not in (2, null)"),
            "NULL|t|NULL|f");
  EXPECT_EQ(run("select 9 in (1,2,3,4,5,6,7,8,9,null), 0 in (1,2,3,4,5,6,7,8,9,null), 0 not in "
                "(1,2,3,4,5,6,7,8,9)"),
            "t|NULL|t");
  EXPECT_EQ(run("select null is distinct from 1, null is distinct from null, nullif(1, 1), "
                "greatest(1, null, 3)"),
            "t|f|NULL|3");
  EXPECT_EQ(run("select case 3 when 1 then 'a' when 3 then 'b' end, 3 = any ('{1,2,3}'::int[])"),
            "b|t");
}

TEST_F(Queries, IndexRanges) {
  run("create table r (k int, v int8, w text, primary key (k, v))");
  run("insert into r select g % 10, g, 'w' || g from generate_series(1, 100) g");
  run("create index on r (w desc, k)");
  EXPECT_EQ(run("select v from r where k = 3 and v > 20 and v <= 43 order by v"), "23\n33\n43");
  EXPECT_EQ(run("select v from r where k = 3 order by v desc limit 2"), "93\n83");
  EXPECT_EQ(run("select max(v) from r where k = 7"), "97");
  EXPECT_EQ(run("select v from r where k in (9, 2, 2, null) and v < 15 order by k, v"), "2\n12\n9");
  EXPECT_EQ(run("select v from r where w >= 'w97' order by w"), "97\n98\n99");
  EXPECT_EQ(run("select v from r where w = 'w55'"), "55");
  EXPECT_EQ(run("select count(*) from r where k = 5000000000"), "0");
  EXPECT_EQ(run("select count(*) from r where k < 5000000000"), "100");
  EXPECT_EQ(run("select count(*) from r where k > null"), "0");
}

TEST_F(Queries, NullsInIndexes) {
  run("create index on t (b)");
  run("create unique index on t (c, b)");
  EXPECT_EQ(run("select a from t where b is null"), "4");
  EXPECT_EQ(run("select a from t where b < 100 order by a"), "1\n2\n3");
  EXPECT_EQ(run("insert into t values (5, null, 'x')"), "INSERT 0 1");
  EXPECT_EQ(run("insert into t values (6, 10, 'x')"),
            "ERROR: 23505: duplicate key value violates unique constraint \"t_c_b_idx\"\n"
            "DETAIL: Key (c, b)=(x, 10) already exists.");
}

// Rows that arrive are one reason to look whether the statement must end, comparisons are another.
TEST_F(Queries, LongSortsGiveWay) {
  class Budget final : public TimeBudget {
   public:
    bool yield_if_spent() override {
      ++looks;
      return false;
    }
    int looks = 0;
  } budget;
  session.context.time_budget = &budget;
  run("select g * 7919 % 100003 as k from generate_series(1, 100000) g");
  int without_sort = budget.looks;
  run("select g * 7919 % 100003 as k from generate_series(1, 100000) g order by k");
  // A sort of a hundred thousand compares more than a million times.
  EXPECT_GT(budget.looks, without_sort + 200);
  session.context.time_budget = nullptr;
}

// A long read does not go on registering what it reads once it may read the past.
TEST_F(Queries, LongReadsGoOnAtASnapshot) {
  class Budget final : public TimeBudget {
   public:
    bool yield_if_spent() override { return true; }
  } budget;
  class Reader final : public LongReader {
   public:
    explicit Reader(ExecutionContext& context) : context_(context) {}
    bool read_snapshot() override {
      ++told;
      most = std::max(most, context_.transaction->registered_reads());
      return may && context_.transaction->become_snapshot() == TransactionStatus::ok;
    }
    bool may = true;
    int told = 0;
    size_t most = 0;

   private:
    ExecutionContext& context_;
  } reader(session.context);
  run("create table long_read (v int)");
  run("insert into long_read select g from generate_series(1, 120000) g");
  session.context.time_budget = &budget;
  session.context.long_reader = &reader;
  EXPECT_EQ(run("select count(*), sum(v) from long_read"), "120000|7200060000");
  EXPECT_EQ(reader.told, 1);
  EXPECT_LT(reader.most, ExecutionContext::much_read + 1000);
  reader.may = false;
  EXPECT_EQ(run("select count(*), sum(v) from long_read"), "120000|7200060000");
  EXPECT_GT(reader.most, 119000u);
  session.context.time_budget = nullptr;
  session.context.long_reader = nullptr;
}

}  // namespace
}  // namespace pgsilo::testing
