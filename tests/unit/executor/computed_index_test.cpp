// Partial indexes and indexes on expressions in step with their tables: each row has the entry that
// its columns make, or none, whatever was done and whatever went wrong.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/random.h"
#include "tests/index_agreement.h"
#include "tests/unit/executor/sql_session.h"

namespace pgsilo::testing {
namespace {

struct ComputedIndexes : ::testing::Test {
  CatalogEngine engine;
  SqlSession session{engine};

  std::string run(std::string_view sql) { return session.run(sql); }
  std::string copy(std::string data) {
    TextCopySource source(std::move(data), 7);
    session.context.copy_source = &source;
    return run("copy t from stdin");
  }
  const TableDescriptor& table() {
    session.view.refresh();
    return *session.view.find_table({}, "t");
  }
  const IndexDescriptor& index(std::string_view name) {
    const TableDescriptor* of = nullptr;
    session.view.refresh();
    return *session.view.find_index({}, name, &of);
  }
  void expect_in_step() {
    for (const auto& each : table().indexes) {
      if (each->is_primary_tree()) continue;
      IndexEntries entries(table(), *each,
                           engine.catalog.index_evaluator(session.view, table(), *each));
      EXPECT_EQ(index_disagreement(table(), *each, entries), "");
    }
  }
  // What the entries are, and who has written them.
  std::map<std::string, uint64_t> entries_of(std::string_view name) {
    std::map<std::string, uint64_t> found;
    Arena arena;
    RowBuffer buffer(arena);
    index(name).relation->tree().for_each([&](Record* record) {
      TidWord word = record->stable_read(buffer);
      if (!word.is_absent()) found[std::string(record->key())] = word.tid().value();
    });
    return found;
  }
};

TEST_F(ComputedIndexes, AreInStepWithTheirTable) {
  run("create table t (a int primary key, b int, c text, d bool)");
  run("insert into t select g, g % 7, 'C' || g, g % 3 = 0 from generate_series(1, 40) g");
  for (std::string_view definition :
       {"create index i1 on t (b) where d", "create index i2 on t ((b * 2), lower(c))",
        "create unique index i3 on t (upper(c)) where b < 5",
        "create unique index i4 on t ((a % 100), (b is null))",
        "create index i5 on t ((b + a) desc nulls first, a) where c like 'C%' or d"})
    EXPECT_EQ(run(definition), "CREATE INDEX");
  expect_in_step();
  Random random(7);
  int changed = 0;
  for (int i = 0; i < 600; ++i) {
    std::string id = std::to_string(1 + random.below(60));
    std::string value = std::to_string(random.below(9));
    const std::string statements[] = {
        concat("update t set b = ", value, " where a = ", id),
        concat("update t set d = not d where a between ", id, " and 3 + ", id),
        concat("update t set c = 'c", value, "' where a = ", id),
        concat("update t set b = null, d = null where a = ", id),
        concat("update t set a = a + 20 where a = ", id),
        concat("delete from t where a = ", id),
        concat("insert into t values (", id, ", ", value, ", 'C", id, "', true)"),
        concat("insert into t values (", id, ", ", value, ", 'X", value,
               "', false) on conflict do nothing"),
        concat("insert into t values (", id, ", ", value, ", 'c", value,
               "', false) on conflict (upper(c)) where b < 5 do update set b = t.b + 1, d = true"),
    };
    std::string answer = run(statements[random.below(std::size(statements))]);
    ASSERT_TRUE(!answer.starts_with("ERROR") || answer.starts_with("ERROR: 23505")) << answer;
    changed += answer.starts_with("ERROR") || answer.ends_with(" 0") ? 0 : 1;
    expect_in_step();
    ASSERT_FALSE(HasFailure()) << answer;
  }
  EXPECT_GT(changed, 200);
  EXPECT_EQ(run("truncate t"), "TRUNCATE TABLE");
  EXPECT_EQ(copy("1\t2\tCopied\tt\n2\t9\tcopied\tf\n3\t\\N\tcopied\t\\N\n"), "COPY 3");
  expect_in_step();
  EXPECT_EQ(entries_of("i1").size(), 1u);
  EXPECT_EQ(entries_of("i3").size(), 1u);
}

TEST_F(ComputedIndexes, AreCopiedIntoWithoutAKey) {
  run("create table t (a int, b text)");
  run("create index i1 on t (lower(b)) where a > 0");
  run("create index i2 on t ((a + 1))");
  EXPECT_EQ(copy("1\tX\n-1\tY\n2\tx\n"), "COPY 3");
  expect_in_step();
  EXPECT_EQ(entries_of("i1").size(), 2u);
}

// Neither does it read what only the index would need.
TEST_F(ComputedIndexes, AnUpdateOfOtherColumnsLeavesEntriesAlone) {
  run("create table t (a int primary key, b text, c int, d int)");
  run("create index i on t (lower(b)) where c > 0");
  run("insert into t values (1, 'X', 1, 0), (2, 'Y', 0, 0)");
  auto before = entries_of("i");
  ASSERT_EQ(before.size(), 1u);
  EXPECT_EQ(run("update t set d = d + 1"), "UPDATE 2");
  EXPECT_EQ(run("update t set b = 'x' where a = 1"), "UPDATE 1");
  EXPECT_EQ(run("update t set c = c + 5 where a = 1"), "UPDATE 1");
  EXPECT_EQ(run("update t set b = 'other', c = -1 where a = 2"), "UPDATE 1");
  EXPECT_EQ(entries_of("i"), before);
  EXPECT_EQ(run("update t set c = 1 where a = 2"), "UPDATE 1");
  EXPECT_EQ(entries_of("i").size(), 2u);
  EXPECT_EQ(run("update t set c = 0"), "UPDATE 2");
  EXPECT_TRUE(entries_of("i").empty());
  expect_in_step();
}

TEST_F(ComputedIndexes, AnErrorOfAnExpressionLeavesNothing) {
  run("create table t (a int primary key, b int)");
  run("create index i1 on t (b)");
  run("create index i2 on t ((100 / b)) where a < 10");
  run("insert into t values (1, 1), (20, 0)");
  std::string error = "ERROR: 22012: division by zero";
  EXPECT_EQ(run("insert into t values (2, 5), (3, 0)"), error);
  EXPECT_EQ(run("update t set b = 0 where a = 1"), error);
  EXPECT_EQ(run("update t set a = 2 where a = 20"), error);
  EXPECT_EQ(run("insert into t values (1, 0) on conflict (a) do update set b = excluded.b"), error);
  EXPECT_EQ(copy("5\t5\n6\t0\n"), error + "\nCONTEXT: COPY t, line 2");
  EXPECT_EQ(run("create index i3 on t ((1 / b))"), error);
  EXPECT_EQ(run("select * from t order by a"), "1|1\n20|0");
  expect_in_step();
  EXPECT_EQ(table().indexes.size(), 3u);
}

TEST_F(ComputedIndexes, TellTheKeyThatIsThere) {
  run("create table t (a int, \"B\" text, c int)");
  run("create unique index i on t (lower(\"B\"), c, (a + 1)) where c > 0");
  run("insert into t values (1, 'X', 1), (1, 'X', 0), (1, 'X', 0), (null, 'X', 1), (null, 'X', 1)");
  std::string error =
      "ERROR: 23505: duplicate key value violates unique constraint \"i\"\n"
      "DETAIL: Key (lower(\"B\"), c, (a + 1))=(x, 1, 2) already exists.";
  EXPECT_EQ(run("insert into t values (1, 'x', 1)"), error);
  EXPECT_EQ(run("update t set c = 1 where c = 0"), error);
  run("create table s as select * from t");
  run("insert into s values (1, 'x', 1)");
  EXPECT_EQ(run("create unique index on s (lower(\"B\"), (c - 1)) where a is not null and c > 0"),
            "ERROR: 23505: could not create unique index \"s_lower_expr_idx\"\n"
            "DETAIL: Key (lower(\"B\"), (c - 1))=(x, 0) is duplicated.");
}

// A row that a constraint forbids has no key to be found by.
TEST_F(ComputedIndexes, CheckNoDomains) {
  run("create domain positive as int check (value > 0)");
  run("create table t (a int primary key, b int, c positive)");
  EXPECT_EQ(run("create index on t ((b::positive))"),
            "ERROR: 0A000: a cast to a domain in an index is not supported");
  EXPECT_EQ(run("create index on t (b) where b::positive > 3"),
            "ERROR: 0A000: a cast to a domain in an index is not supported");
  EXPECT_EQ(run("create index on t ((c + 1))"), "CREATE INDEX");
}

}  // namespace
}  // namespace pgsilo::testing
