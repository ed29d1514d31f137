// Changes of rows and tables, alone and against each other: index entries stay in step, conflicts
// are told apart from errors.
#include <gtest/gtest.h>

#include <string>

#include "executor/compiled_statement.h"
#include "executor/plan_cache.h"
#include "planner/plan/transaction_plan.h"
#include "sql/limits.h"
#include "tests/unit/executor/sql_session.h"

namespace pgsilo::testing {
namespace {

struct Changes : ::testing::Test {
  CatalogEngine engine;
  SqlSession session{engine};
  std::string run(std::string_view sql) { return session.run(sql); }
};

// I9: what a table holds is what each of its indexes leads to.
TEST_F(Changes, KeepIndexesInStep) {
  run("create table t (a int primary key, b int, c text)");
  run("create index tb on t (b)");
  run("create unique index tc on t (c)");
  run("insert into t select g, g % 7, 'c' || g from generate_series(1, 50) g");
  EXPECT_EQ(run("update t set b = 100 where a <= 10"), "UPDATE 10");
  EXPECT_EQ(run("update t set a = a + 100 where b = 100 and a > 5"), "UPDATE 5");
  EXPECT_EQ(run("delete from t where b = 3"), "DELETE 5");
  EXPECT_EQ(run("update t set c = null where a > 45 and a < 100"), "UPDATE 5");
  EXPECT_EQ(run("select count(*) from t where b = 100"), "10");
  EXPECT_EQ(run("select a from t where c = 'c7'"), "107");
  EXPECT_EQ(run("select count(*) from t where c is null"), "5");
  EXPECT_EQ(run("select count(*) from t"), "45");
  EXPECT_EQ(run("select count(*) from t where b >= 0"), "45");
  EXPECT_EQ(run("update t set c = 'c1' where a = 2"),
            "ERROR: 23505: duplicate key value violates unique constraint \"tc\"\n"
            "DETAIL: Key (c)=(c1) already exists.");
}

// Not a conflict: that would be run again for ever.
TEST_F(Changes, AMissingEntryIsACorruptedIndex) {
  run("create table t (a int primary key, b int)");
  run("create index tb on t (b)");
  run("insert into t values (1, 10), (2, 20)");
  session.view.refresh();
  const IndexDescriptor* index = nullptr;
  for (const auto& candidate : session.view.find_table({}, "t")->indexes) {
    if (candidate->name == "tb") index = candidate.get();
  }
  ASSERT_NE(index, nullptr);
  session.begin();
  {
    TransactionScan scan(session.transaction, *index->relation, KeyRange{}, ScanDirection::forward,
                         session.buffer);
    RowRef entry;
    ASSERT_EQ(scan.next(&entry), TransactionStatus::ok);
    ASSERT_EQ(session.transaction.remove(entry), TransactionStatus::ok);
  }
  ASSERT_EQ(session.commit(), TransactionStatus::ok);
  std::string error = "ERROR: XX002: index \"tb\" lacks the entry of a row of table \"t\"";
  EXPECT_EQ(run("update t set b = 11 where a = 1"), error);
  EXPECT_EQ(run("delete from t where a = 1"), error);
  EXPECT_EQ(run("update t set b = 21 where a = 2"), "UPDATE 1");
}

TEST_F(Changes, UpdateFromAndDeleteUsing) {
  run("create table t (a int primary key, b int)");
  run("create table s (a int, d int)");
  run("insert into t values (1, 0), (2, 0), (3, 0)");
  run("insert into s values (1, 5), (1, 5), (3, 7)");
  EXPECT_EQ(run("update t set b = s.d from s where t.a = s.a"), "UPDATE 2");
  EXPECT_EQ(run("select * from t order by a"), "1|5\n2|0\n3|7");
  EXPECT_EQ(run("delete from t using s where t.a = s.a and s.d = 7 returning t.*, s.d"), "3|7|7");
  EXPECT_EQ(run("update t set b = (select sum(b) from t) returning b"), "5\n5");
}

TEST_F(Changes, ReturnRowsUnderALimit) {
  run("create table t (a int primary key)");
  Arena syntax;
  std::string sql = "insert into t select g from generate_series(1, 5) g returning a";
  auto parsed = parse(sql, syntax);
  session.begin();
  auto plan = session.plan(*parsed[0].statement, sql);
  TextResult first(plan->result_columns(), session.context.types);
  TextResult second(plan->result_columns(), session.context.types);
  {
    Execution execution(plan, session.context, {});
    EXPECT_EQ(execution.run(first, 2), RunStatus::suspended);
    EXPECT_EQ(execution.run(second, 0), RunStatus::done);
    EXPECT_EQ(execution.command_tag(), "INSERT 0 3");
  }
  EXPECT_EQ(session.commit(), TransactionStatus::ok);
  EXPECT_EQ(first.text, "1\n2");
  EXPECT_EQ(second.text, "3\n4\n5");
}

TEST_F(Changes, RunAgainWithOtherParameters) {
  run("create table t (a int primary key, b int)");
  run("insert into t select g, 0 from generate_series(1, 10) g");
  Arena syntax;
  std::string sql = "update t set b = b + $1 where a = $2";
  auto parsed = parse(sql, syntax);
  session.begin();
  auto plan = session.plan(*parsed[0].statement, sql);
  ASSERT_EQ(session.commit(), TransactionStatus::ok);
  Datum parameters[] = {Datum::of_int(3), Datum::of_int(4)};
  session.transaction.begin(TransactionMode::one_shot);
  Execution execution(plan, session.context, parameters);
  DiscardingResultSink sink;
  execution.run(sink);
  EXPECT_EQ(execution.command_tag(), "UPDATE 1");
  ASSERT_EQ(session.commit(), TransactionStatus::ok);
  parameters[1] = Datum::of_int(99);
  session.transaction.begin(TransactionMode::one_shot);
  execution.restart(parameters);
  execution.run(sink);
  EXPECT_EQ(execution.command_tag(), "UPDATE 0");
  ASSERT_EQ(session.commit(), TransactionStatus::ok);
  EXPECT_EQ(run("select sum(b) from t"), "3");
}

// A suspended portal goes on seeing what it saw, whatever its transaction writes meanwhile.
TEST_F(Changes, LeaveSuspendedQueriesAlone) {
  run("create table t (a int primary key)");
  run("insert into t select g from generate_series(1, 6) g");
  Arena syntax;
  std::string sql = "select a from t";
  auto parsed = parse(sql, syntax);
  session.begin_block();
  session.view.refresh();
  auto plan = session.plan(*parsed[0].statement, sql);
  TextResult result(plan->result_columns(), session.context.types);
  {
    Execution execution(plan, session.context, {});
    EXPECT_EQ(execution.run(result, 2), RunStatus::suspended);
    EXPECT_EQ(run("delete from t where a = 5"), "DELETE 1");
    EXPECT_EQ(run("insert into t values (100)"), "INSERT 0 1");
    EXPECT_EQ(execution.run(result, 0), RunStatus::done);
    EXPECT_EQ(execution.command_tag(), "SELECT 4");
  }
  EXPECT_EQ(run("select count(*), max(a) from t"), "6|100");
  EXPECT_EQ(session.commit_block(), "ok");
  EXPECT_EQ(result.text, "1\n2\n3\n4\n5\n6");
}

TEST_F(Changes, TellConflictsFromErrors) {
  run("create table t (a int primary key, b int)");
  run("insert into t values (1, 0), (2, 0)");
  SqlSession other(engine);
  session.begin_block(TransactionMode::one_shot);
  EXPECT_EQ(run("select sum(b) from t"), "0");
  EXPECT_EQ(other.run("update t set b = 1 where a = 2"), "UPDATE 1");
  EXPECT_EQ(run("update t set b = 1 where a = 1"), "UPDATE 1");
  EXPECT_EQ(session.commit_block(), "conflict_record");
  // A range that another transaction put a row into.
  session.begin_block(TransactionMode::one_shot);
  EXPECT_EQ(run("select count(*) from t where a > 2"), "0");
  EXPECT_EQ(other.run("insert into t values (3, 0)"), "INSERT 0 1");
  EXPECT_EQ(run("update t set b = 5 where a = 1"), "UPDATE 1");
  EXPECT_NE(session.commit_block(), "ok");
  EXPECT_EQ(run("select a, b from t order by a"), "1|0\n2|1\n3|0");
}

TEST_F(Changes, OfTablesAreTransactional) {
  run("create table t (a int primary key)");
  session.begin_block();
  EXPECT_EQ(run("alter table t add column b int default 3"), "ALTER TABLE");
  EXPECT_EQ(run("insert into t values (1)"), "INSERT 0 1");
  EXPECT_EQ(run("create index on t (b)"), "CREATE INDEX");
  EXPECT_EQ(run("select * from t where b = 3"), "1|3");
  session.abort_block();
  EXPECT_EQ(run("select * from t"), "");
  EXPECT_EQ(run("select b from t"), "ERROR: 42703: column \"b\" does not exist");
}

TEST_F(Changes, MakePlansInvalid) {
  run("create table t (a int primary key)");
  Arena syntax;
  std::string sql = "select * from t";
  auto parsed = parse(sql, syntax);
  session.begin();
  auto plan = session.plan(*parsed[0].statement, sql);
  EXPECT_TRUE(plan->still_valid(session.view, 0));
  ASSERT_EQ(session.commit(), TransactionStatus::ok);
  run("create table unrelated (a int)");
  session.view.refresh();
  EXPECT_TRUE(plan->still_valid(session.view, 0));
  run("alter table t add column b int");
  session.view.refresh();
  EXPECT_FALSE(plan->still_valid(session.view, 0));
}

// What was computed while it was made stays with a plan.
TEST_F(Changes, LongPlansAreNotKeptForOthers) {
  auto cacheable = [&](std::string_view sql) {
    Arena syntax;
    auto parsed = parse(sql, syntax);
    session.begin();
    session.view.refresh();
    auto made = session.plan(*parsed[0].statement, sql);
    session.abort();
    return made->cacheable();
  };
  EXPECT_TRUE(cacheable("select length(repeat('a', 10000))"));
  EXPECT_FALSE(cacheable("select length(repeat('a', 10000000))"));
}

TEST_F(Changes, PlansCountInTheCacheOfTexts) {
  run("create table t (a int primary key)");
  auto planned = [&](const CachedText& text, size_t index) {
    session.begin();
    session.view.refresh();
    auto made = session.plan(*text.syntax->statements[index].statement, text.syntax->text);
    session.abort();
    return made;
  };
  std::string sql = "select a from t where a = 1;";
  for (int i = 1; i < 100; ++i) sql += "select a + 1 from t;";
  PlanCache cache({.bytes = size_t{1} << 20});
  std::shared_ptr<CachedText> text = parse_text(sql, {});
  cache.insert("text", text);
  size_t empty = cache.bytes();
  auto first = planned(*text, 0);
  EXPECT_GT(first->bytes(), 1000u);
  cache.keep_plan(*text, 0, first);
  EXPECT_EQ(cache.bytes(), empty + first->bytes());
  cache.keep_plan(*text, 0, planned(*text, 0));  // in its place
  EXPECT_EQ(cache.bytes(), empty + first->bytes());
  // A text has room for some of its plans.
  for (size_t i = 1; i < 100; ++i) cache.keep_plan(*text, i, planned(*text, i));
  EXPECT_NE(text->plans[1], nullptr);
  EXPECT_EQ(text->plans[99], nullptr);
  EXPECT_LE(cache.bytes(), size_t{1} << 17);
  // Nobody would find those of a text that has made room for others.
  ASSERT_TRUE(cache.give_back());
  EXPECT_EQ(text->plans[0], nullptr);
  cache.keep_plan(*text, 0, first);
  EXPECT_EQ(text->plans[0], nullptr);
  EXPECT_EQ(cache.bytes(), 0u);
}

// So does what a list is looked up in: a list just too long has room without it.
TEST_F(Changes, ListsOfPlansAreNotKeptForOthers) {
  run("create table listed (a int)");
  std::string sql = "select a from listed where a in (0";
  for (size_t bytes = 0; bytes <= limits::max_kept_plan_bytes;) {
    for (int i = 0; i < 500; ++i) sql += "," + std::to_string(sql.size());
    Arena syntax;
    std::string text = sql + ")";
    auto parsed = parse(text, syntax);
    session.begin();
    session.view.refresh();
    auto made = session.plan(*parsed[0].statement, text);
    session.abort();
    const CompiledStatement& compiled = made->compiled();
    bytes = compiled.planned->arena.bytes_reserved() + compiled.arena.bytes_reserved();
    if (!made->cacheable()) {
      EXPECT_LE(bytes, limits::max_kept_plan_bytes);
      return;
    }
  }
  ADD_FAILURE() << "only what is planned counts";
}

TEST_F(Changes, OfSizeMakePlansInvalid) {
  run("create table t (a int primary key)");
  run("insert into t select generate_series(1, 100)");
  Arena syntax;
  std::string sql = "select * from t";
  auto parsed = parse(sql, syntax);
  constexpr int64_t later = limits::plan_size_check_us;
  auto is_valid = [&](const ExecutablePlan& plan, int64_t now_us) {
    session.begin();
    session.view.refresh();
    bool valid = plan.still_valid(session.view, now_us);
    session.abort();
    return valid;
  };
  auto make = [&] {
    session.begin();
    session.view.refresh();
    auto made = session.plan(*parsed[0].statement, sql);
    session.abort();
    return made;
  };
  auto plan = make();
  EXPECT_TRUE(is_valid(*plan, 0));
  run("insert into t select generate_series(101, 250)");  // twice as many and the slack
  EXPECT_TRUE(is_valid(*plan, 2 * later));
  run("insert into t values (251)");
  EXPECT_TRUE(is_valid(*plan, 3 * later - 1));  // nobody has looked
  EXPECT_FALSE(is_valid(*plan, 3 * later));
  EXPECT_FALSE(is_valid(*plan, 3 * later + 1));  // for everybody who holds it
  plan = make();
  EXPECT_TRUE(is_valid(*plan, 0));
  run("delete from t where a > 101");
  EXPECT_TRUE(is_valid(*plan, later));
  run("delete from t where a = 101");
  EXPECT_FALSE(is_valid(*plan, 2 * later));
  EXPECT_FALSE(is_valid(*plan, 0));  // nor by a clock that was set back
}

TEST_F(Changes, AlterTable) {
  run("create table t (a int, b text)");
  run("insert into t values (1, '10'), (2, '20')");
  EXPECT_EQ(run("alter table t add primary key (a)"), "ALTER TABLE");
  EXPECT_EQ(run("select b from t where a = 2"), "20");
  EXPECT_EQ(run("alter table t alter column b type int"),
            "ERROR: 42804: column \"b\" cannot be cast automatically to type integer");
  EXPECT_EQ(run("alter table t alter column b type int using b::int * 2"), "ALTER TABLE");
  EXPECT_EQ(run("select sum(b) from t"), "60");
  EXPECT_EQ(
      run("alter table t add check (b > 20)"),
      "ERROR: 23514: check constraint \"t_b_check\" of relation \"t\" is violated by some row");
  EXPECT_EQ(run("alter table t add column c int not null default 9, drop column b"), "ALTER TABLE");
  EXPECT_EQ(run("select * from t order by a"), "1|9\n2|9");
  EXPECT_EQ(run("alter table t drop constraint t_pkey"), "ALTER TABLE");
  EXPECT_EQ(run("insert into t values (2, 1)"), "INSERT 0 1");
  EXPECT_EQ(run("alter table t add unique (a)").substr(0, 12), "ERROR: 23505");
}

}  // namespace
}  // namespace pgsilo::testing
