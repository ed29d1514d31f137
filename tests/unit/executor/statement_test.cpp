// Statements from text to result over the real planner, catalog and storage.
#include <gtest/gtest.h>

#include "tests/unit/executor/sql_session.h"

namespace pgsilo::testing {
namespace {

struct Statements : ::testing::Test {
  CatalogEngine engine;
  SqlSession session{engine};
  std::string run(std::string_view sql) { return session.run(sql); }
};

TEST_F(Statements, WithoutTables) {
  EXPECT_EQ(run("select 1, 'a' || 'b', null, 2 + 3 * 4"), "1|ab|NULL|14");
  EXPECT_EQ(run("select case when 1 > 2 then 'x' else 'y' end, coalesce(null, 5)"), "y|5");
  EXPECT_EQ(run("select 1 / 0"), "ERROR: 22012: division by zero");
  EXPECT_EQ(run("select sum(g), count(*), avg(g) from generate_series(1, 10) g"),
            "55|10|5.5000000000000000");
  EXPECT_EQ(run("values (1, 'a'), (2, 'b')"), "1|a\n2|b");
}

TEST_F(Statements, CreateInsertSelect) {
  EXPECT_EQ(run("create table t (a int primary key, b text)"), "CREATE TABLE");
  EXPECT_EQ(run("insert into t values (1, 'one'), (2, 'two'), (3, null)"), "INSERT 0 3");
  EXPECT_EQ(run("select b from t where a = 2"), "two");
  EXPECT_EQ(run("select * from t order by a desc"), "3|NULL\n2|two\n1|one");
  EXPECT_EQ(run("update t set b = b || '!' where a < 3"), "UPDATE 2");
  EXPECT_EQ(run("select a, b from t order by a"), "1|one!\n2|two!\n3|NULL");
  EXPECT_EQ(run("delete from t where a = 1"), "DELETE 1");
  EXPECT_EQ(run("select count(*) from t"), "2");
  EXPECT_EQ(run("insert into t values (2, 'again')"),
            "ERROR: 23505: duplicate key value violates unique constraint \"t_pkey\"\n"
            "DETAIL: Key (a)=(2) already exists.");
  EXPECT_EQ(
      run("insert into t values (null, 'x')"),
      "ERROR: 23502: null value in column \"a\" of relation \"t\" violates not-null constraint\n"
      "DETAIL: Failing row contains (null, x).");
  EXPECT_EQ(run("update t set a = a + 10 returning a, b"), "12|two!\n13|NULL");
  EXPECT_EQ(run("drop table t"), "DROP TABLE");
  EXPECT_EQ(run("select * from t"), "ERROR: 42P01: relation \"t\" does not exist");
}

TEST_F(Statements, SeeNotTheirOwnChanges) {
  run("create table t (a int primary key, b int)");
  run("insert into t select g, g from generate_series(1, 100) g");
  EXPECT_EQ(run("update t set a = a + 1000"), "UPDATE 100");
  EXPECT_EQ(run("select min(a), max(a), count(*) from t"), "1001|1100|100");
  EXPECT_EQ(run("insert into t select a + 1, b from t where a = 1100"), "INSERT 0 1");
  EXPECT_EQ(run("insert into t select a + 5000, b from t"), "INSERT 0 101");
  EXPECT_EQ(run("select count(*) from t"), "202");
}

}  // namespace
}  // namespace pgsilo::testing
