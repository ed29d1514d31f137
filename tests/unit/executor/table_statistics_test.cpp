// What samples of tables say, and what the planner makes of it.
#include "executor/table_statistics.h"

#include <gtest/gtest.h>

#include "catalog/statistics/table_sample.h"
#include "sql/limits.h"
#include "tests/unit/executor/sql_session.h"

namespace pgsilo::testing {
namespace {

struct Statistics : ::testing::Test {
  CatalogEngine engine;
  SqlSession session{engine};

  std::string run(std::string_view sql) { return session.run(sql); }
  // As the planner is told, outside of a statement.
  double distinct(std::string_view table, std::vector<int16_t> columns) {
    session.begin();
    session.view.refresh();
    double told = relation_statistics()
                      .sample(*session.view.find_table({}, table), limits::statistics_target)
                      ->distinct(columns);
    session.abort();
    return told;
  }
  double rows(const std::string& sql) {
    std::string plan = run("explain " + sql);
    size_t at = plan.find(" rows=");
    return at == std::string::npos ? -1 : std::stod(plan.substr(at + 6));
  }
};

TEST_F(Statistics, OfASmallTableAreExact) {
  run("create table t (a int, b int, c text)");
  run("insert into t select g % 7, case when g % 4 = 0 then g end, 'x' from generate_series(1, "
      "1000) g");
  EXPECT_EQ(distinct("t", {1}), 7);
  EXPECT_EQ(distinct("t", {2}), 250);
  EXPECT_EQ(distinct("t", {3}), 1);
  EXPECT_EQ(distinct("t", {1, 3}), 0);  // no index begins with them
  EXPECT_EQ(rows("select * from t where a = 3"), 143);
  EXPECT_EQ(rows("select * from t where b is null"), 750);
  EXPECT_EQ(rows("select * from t where b = 4"), 1);
  EXPECT_EQ(rows("select * from t where c = 'x'"), 1000);
  EXPECT_EQ(rows("select a, count(*) from t group by a"), 7);
  EXPECT_EQ(rows("select distinct b from t"), 250);
}

TEST_F(Statistics, OfALargeTableAreNear) {
  run("create table t (id int primary key, few int, tens int, pair int)");
  run("insert into t select g, g % 5, g / 10, g % 5 * 3 from generate_series(1, 60000) g");
  run("create index on t (few, pair)");
  EXPECT_EQ(distinct("t", {2}), 5);
  EXPECT_GT(distinct("t", {3}), 3000);  // of 6,000 that lie together
  EXPECT_LT(distinct("t", {3}), 12000);
  EXPECT_GT(distinct("t", {1}), 50000);
  EXPECT_EQ(distinct("t", {2, 4}), 5);
  // Columns that go together are not taken for independent.
  EXPECT_NEAR(rows("select few, pair, count(*) from t group by few, pair"), 5, 0);
}

TEST_F(Statistics, AreTakenAgainWhenTheTableHasGrownAndByAnalyze) {
  run("create table t (id int primary key, v int)");
  run("insert into t select g, 1 from generate_series(1, 200) g");
  EXPECT_EQ(distinct("t", {2}), 1);
  run("update t set v = id");
  EXPECT_EQ(distinct("t", {2}), 1);
  run("analyze t");
  EXPECT_EQ(distinct("t", {2}), 200);
  run("update t set v = 1");
  run("insert into t select g, 1 from generate_series(201, 800) g");
  EXPECT_EQ(distinct("t", {2}), 1);
  run("update t set v = id");
  run("vacuum (analyze off) t");
  EXPECT_EQ(distinct("t", {2}), 1);
  run("vacuum (analyze) t");
  EXPECT_EQ(distinct("t", {2}), 800);
  run("update t set v = 1");
  run("analyze");
  EXPECT_EQ(distinct("t", {2}), 1);
  run("alter table t add column w int default 3");
  EXPECT_EQ(distinct("t", {3}), 1);
}

TEST_F(Statistics, AnalyzeMakesPlansAnew) {
  run("create table t (id int primary key)");
  Arena syntax;
  std::string sql = "select * from t";
  auto parsed = parse(sql, syntax);
  session.begin();
  session.view.refresh();
  auto plan = session.plan(*parsed[0].statement, sql);
  EXPECT_TRUE(plan->still_valid(session.view, 0));
  session.abort();
  run("analyze t");
  session.begin();
  session.view.refresh();
  EXPECT_FALSE(plan->still_valid(session.view, limits::plan_size_check_us));
  session.abort();
}

// The tree has a layer for each pair of the key's first two columns: all of them are looked at.
TEST_F(Statistics, OfATableWithACompositeKeyAreNear) {
  run("create table t (w int, d int, o int, primary key (w, d, o))");
  run("insert into t select w, d, o from generate_series(1, 8) w, generate_series(1, 10) d, "
      "generate_series(1, 250) o");
  EXPECT_EQ(distinct("t", {1}), 8);
  EXPECT_EQ(distinct("t", {2}), 10);
  EXPECT_NEAR(distinct("t", {3}), 250, 30);
  EXPECT_NEAR(distinct("t", {1, 2}), 80, 8);
}

// Its layers have all been made in the same way, so their nodes begin at the same keys.
TEST_F(Statistics, OfATableWithLayersThatAreAlikeAreNear) {
  run("create table t (d int, e int, o int, n int, primary key (d, e, o, n))");
  run("insert into t select d, 1, o, n from generate_series(1, 40) d, generate_series(1, 750) o, "
      "generate_series(1, 10) n");
  EXPECT_NEAR(distinct("t", {3}), 750, 250);
  EXPECT_NEAR(distinct("t", {4}), 10, 1);
}

TEST_F(Statistics, OfATableWithAnotherIndexBeginAnew) {
  run("create table t (id int primary key, a int, b int)");
  run("insert into t select g, g % 10, g % 10 from generate_series(1, 1000) g");
  EXPECT_EQ(distinct("t", {2, 3}), 0);
  run("create index on t (a, b)");
  EXPECT_EQ(distinct("t", {2, 3}), 10);
  run("truncate t");
  EXPECT_EQ(distinct("t", {2}), 0);
}

TEST_F(Statistics, OfWideRowsReadNoMoreThanTheirShare) {
  run("create table t (id int primary key, v int, wide text)");
  run("insert into t select g, g % 3, repeat('x', 40000) from generate_series(1, 2000) g");
  session.begin();
  session.view.refresh();
  TableSample sample =
      take_table_sample(*session.view.find_table({}, "t"), limits::statistics_target);
  session.abort();
  EXPECT_EQ(sample.columns[1].distinct, 3);
  EXPECT_GT(sample.rows_read, 50u);
  EXPECT_LT(sample.rows_read, 500u);
}

TEST(DistinctEstimate, OfAllRowsIsWhatWasSeen) {
  EXPECT_EQ(estimate_distinct(1000, 1000, 17, 3), 17);
  EXPECT_EQ(estimate_distinct(0, 0, 0, 0), 0);
}

TEST(DistinctEstimate, OfAPartGrowsWithWhatWasSeenOnce) {
  EXPECT_NEAR(estimate_distinct(1e6, 2000, 2000, 2000), 1e6, 1);  // all differ: so do the others
  EXPECT_EQ(estimate_distinct(1e6, 2000, 10, 0), 10);             // each came often: that is all
  double some = estimate_distinct(1e6, 2000, 1500, 1200);
  EXPECT_GT(some, 1500);
  EXPECT_LT(some, 1e6);
}

TEST(TableSampleTest, KnowsColumnsAndBeginningsOfIndexesInAnyOrder) {
  TableSample sample;
  sample.columns = {{10, 0}, {20, 0}};
  sample.prefixes = {{{2, 1}, 50}};
  int16_t one[] = {2};
  int16_t both[] = {1, 2};
  int16_t other[] = {1, 3};
  int16_t later[] = {3};
  EXPECT_EQ(sample.distinct(one), 20);
  EXPECT_EQ(sample.distinct(both), 50);
  EXPECT_EQ(sample.distinct(other), 0);
  EXPECT_EQ(sample.distinct(later), 0);  // a column that came since
}

}  // namespace
}  // namespace pgsilo::testing
