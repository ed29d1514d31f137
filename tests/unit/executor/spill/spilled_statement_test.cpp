// Statements whose operators have little room: the same rows as with much, and nothing left behind.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/file_simulated.h"
#include "base/memory_budget.h"
#include "base/process_memory.h"
#include "base/thread_parker.h"
#include "executor/spill/temporary_files.h"
#include "tests/unit/executor/sql_session.h"

namespace pgsilo::testing {
namespace {

constexpr size_t little = size_t{64} << 10;
constexpr size_t much = size_t{1} << 30;

struct SpilledStatement : ::testing::Test {
  SpilledStatement() {
    static_cast<void>(disk.create_directory("temporary"));
    storage.start(2);
    session.context.temporary_files = &files;
    set_room(much);
    run("create table a (id int primary key, k int, v text)");
    run("create table b (id int primary key, k int, v text)");
    run("insert into a select i, case when i % 11 = 0 then null else i % 900 end, repeat(chr(97 + "
        "i "
        "% 26), i % 60) || i from generate_series(1, 4000) i");
    run("insert into b select i, case when i % 7 = 0 then null else i % 700 + 300 end, "
        "repeat(chr(97 + i % 26), i % 60) || i from generate_series(1, 3000) i");
  }

  void set_room(size_t bytes) {
    session.context.work_memory_bytes = session.context.hash_memory_bytes = bytes;
  }
  std::string run(std::string_view sql) { return session.run(sql); }
  // With room for little; what was written is added up.
  std::string run_spilled(std::string_view sql) {
    set_room(little);
    int64_t before = counters.bytes.value();
    int64_t files_before = counters.files.value();
    std::string answer = run(sql);
    written = counters.bytes.value() - before;
    made = counters.files.value() - files_before;
    set_room(much);
    return answer;
  }
  int64_t written_for(std::string_view sql) {
    EXPECT_EQ(run_spilled(sql).substr(0, 5).find("ERROR"), std::string::npos) << sql;
    return written;
  }

  static std::vector<std::string> sorted_lines(const std::string& text) {
    std::vector<std::string> lines;
    for (size_t at = 0; at <= text.size();) {
      size_t end = std::min(text.find('\n', at), text.size());
      lines.push_back(text.substr(at, end - at));
      at = end + 1;
    }
    std::sort(lines.begin(), lines.end());
    return lines;
  }
  // `is_ordered`: all of it.
  void expect_same(const std::string& sql, bool is_ordered) {
    std::string expected = run(sql);
    std::string got = run_spilled(sql);
    if (is_ordered) {
      EXPECT_EQ(expected, got) << sql;
    } else {
      EXPECT_EQ(sorted_lines(expected), sorted_lines(got)) << sql;
    }
    EXPECT_EQ(files.bytes(), 0u) << sql;
  }

  SimulatedFileSystem disk{1};
  TemporaryStorage storage{disk, "temporary", 1000};
  TemporaryFiles::Counters counters;
  ThreadParker parker;
  TemporaryFiles files{storage, counters, &parker, nullptr, nullptr};
  CatalogEngine engine;
  SqlSession session{engine};
  int64_t written = 0;
  int64_t made = 0;  // files
};

// One for each operator, and way in which it ends.
const std::string_view spilling[] = {
    "select * from a order by v, id",
    "select * from a order by v, id limit 10 offset 3500",
    "select v, count(*), sum(k) from a group by v",
    "select k, array_agg(id order by id) from a group by k",
    "select distinct v, k from a",
    "select id, k, v from a intersect select id, k, v from b",
    "select k, id from a except all select k, id from b",
    "select v from a union select v from b",
    "select a.id, b.id from a join b on a.k = b.k and a.v <> b.v",
    "select a.id, b.id, b.v from a left join b on a.k = b.k",
    "select a.id, b.id from a right join b on a.k = b.k",
    "select a.id, b.id from a full join b on a.k = b.k",
    "select a.id from a full join b on a.v || 'x' = b.v || 'x'",
    "select * from a where (k, v) in (select k, v from b)",
    "select * from a where not exists (select 1 from b where b.k = a.k)",
    "with w as materialized (select * from a) select count(*) from w x, w y where x.id = y.id - 1",
    "select g, (select count(*) from a join b on a.k = b.k and a.id % 4 = g) from "
    "generate_series(0, 3) g",
    "select g, l.* from generate_series(1, 3) g, lateral (select v || g, count(*) from a group by "
    "1 "
    "order by 1, 2 limit 5) l",
};

TEST_F(SpilledStatement, GivesTheSameRows) {
  for (std::string_view sql : spilling) {
    expect_same(std::string(sql), false);
    EXPECT_NE(written, 0) << sql;
  }
}

// Above a joined, grouped or sorted row there may be anything; here it is one of these.
struct RandomStatements {
  explicit RandomStatements(uint32_t seed) : random(seed) {}
  size_t below(size_t count) { return random() % count; }
  std::string_view one(std::initializer_list<std::string_view> of) {
    return *(of.begin() + below(of.size()));
  }
  static std::string key(std::string_view form, std::string_view side) {
    std::string key;
    for (size_t i = 0; i < form.size(); ++i) {
      bool is_column = (form[i] == 'k' || form[i] == 'v' || form.substr(i, 2) == "id") &&
                       (i == 0 || form[i - 1] == '(');
      if (is_column) key += concat(side, ".");
      key += form[i];
    }
    return key;
  }
  std::string source() {
    if (below(5) == 0) return "a";
    std::string_view join = one({"join", "join", "left join", "right join", "full join"});
    std::string_view form = one({"k", "k", "id", "v", "k % 400", "v || 'x'"});
    std::string left = concat("a.", form);
    std::string right = concat("b.", form);
    std::string more = join != "full join" && below(3) == 0 ? " and a.id % 5 <> b.id % 4" : "";
    return concat("a ", join, " b on ", left, " = ", right, more);
  }
  // `is_ordered`: its rows have one order.
  std::string statement(bool* is_ordered) {
    std::string from = source();
    std::string where =
        below(3) == 0 ? concat(" where a.id % ", std::to_string(2 + below(5)), " <> 1") : "";
    if (from == "a" || below(4) != 0) {
      size_t kind = below(5);
      *is_ordered = kind >= 3;
      std::string_view form = one({"k", "k", "id", "v", "k % 50", "id / 7", "coalesce(k, 5)"});
      std::string by = key(form, "a");
      if (kind == 0)
        return concat("select ", by, ", count(*), sum(a.id), min(a.v) from ", from, where,
                      " group by 1");
      if (kind == 1) return concat("select distinct ", by, ", a.id % 3 from ", from, where);
      if (kind == 2 && from == "a")
        return concat("select ", by, " from a", where, " except all select ", key(form, "b"),
                      " from b");
      std::string limit = below(2) == 0 ? concat(" limit ", std::to_string(1 + below(900))) : "";
      bool joined = from != "a";
      return concat("select a.id, a.v", joined ? ", b.id" : "", " from ", from, where, " order by ",
                    by, one({"", " desc"}), ", 1, 2", joined ? ", 3" : "", limit);
    }
    *is_ordered = false;
    std::string_view exists = one({"exists", "not exists"});
    std::string_view form = one({"k", "id", "v", "k % 400"});
    return concat("select a.id, a.v from a where ", exists, " (select 1 from b where a.", form,
                  " = b.", form, below(2) == 0 ? " and b.id > a.id)" : ")");
  }

  std::mt19937 random;
};

TEST_F(SpilledStatement, RandomOnesGiveTheSameRows) {
  RandomStatements statements(7);
  uint64_t spilled = 0;
  for (int i = 0; i < 500; ++i) {
    bool is_ordered = false;
    std::string sql = statements.statement(&is_ordered);
    if (is_ordered && sql.find("except all") != std::string::npos) is_ordered = false;
    expect_same(sql, is_ordered);
    EXPECT_NE(run(sql).substr(0, 5), "ERROR") << run(sql);
    spilled += written != 0;
    if (HasFailure()) break;
  }
  EXPECT_GT(spilled, 250u);
}

// Who wants few rows of a join pays for few.
TEST_F(SpilledStatement, ALimitSavesMuchOfAJoin) {
  session.planner_settings.enable_nested_loop = session.planner_settings.enable_merge_join = false;
  for (std::string_view from :
       {"a join b on a.k = b.k", "a left join b on a.k = b.k", "a join b on a.v = b.v"}) {
    int64_t all = written_for(concat("select a.id, a.v, b.v from ", from));
    int64_t one = written_for(concat("select a.id, a.v, b.v from ", from, " limit 1"));
    EXPECT_LT(one * 10, all * 7) << from;
  }
}

// The result is not written where nobody rests on its order.
TEST_F(SpilledStatement, TheOrderOfAJoinIsKeptForWhoWantsIt) {
  std::string_view from = "a join (select k, v, id from b offset 0) b on a.k = b.k";
  std::string rows = concat("select a.id, a.v, b.id, b.v from ", from);
  int64_t unordered = written_for(rows);
  expect_same(concat(rows, " order by a.id, b.id"), true);
  // The result is as long as both sides by far.
  EXPECT_GT(written, 2 * unordered);
  EXPECT_LE(written_for(concat("select count(a.v), count(b.v) from ", from)), unordered);
}

TEST_F(SpilledStatement, RescansOfKeptRowsUseOneFile) {
  run_spilled(
      "select o.g, (select count(*) from generate_series(1, 3) h, (select v || o.g v from a offset "
      "0) "
      "x where x.v > h::text) from generate_series(1, 20) o(g)");
  EXPECT_EQ(made, 1);
}

// The right rows of one key, which each left row of it meets.
TEST_F(SpilledStatement, EqualRowsOfAMergeJoin) {
  session.planner_settings.enable_nested_loop = session.planner_settings.enable_hash_join = false;
  std::string_view sides =
      "(select id, k % 2 k, v from a where id <= 300 offset 0) x JOIN (select id, k % 2 k, v from "
      "b "
      "offset 0) y on x.k = y.k";
  for (std::string_view join : {"join", "left join", "right join", "full join"}) {
    std::string from(sides);
    from.replace(from.find("JOIN"), 4, join);
    expect_same(concat("select count(*), count(x.v), count(y.v), sum(x.id), sum(y.id) from ", from,
                       " and x.id + y.id > 3200"),
                true);
    EXPECT_NE(written, 0) << join;
    // A sort, and two groups where the long side is the right one.
    EXPECT_EQ(made, join == "left join" || join == "full join" ? 3 : 1) << join;
  }
}

// Readers that stand still in many places of a WITH query's rows.
TEST_F(SpilledStatement, ReadersThatStandStill) {
  expect_same(
      "with w as materialized (select id, v from a) select count(*), sum(x.id) from w x, lateral "
      "(select 1 from w y where y.id > x.id limit 1) y where x.id < 300",
      true);
}

// memory_limit is reached wherever it may be: the rows are right, or the statement is refused.
TEST_F(SpilledStatement, RefusalsLeaveNothing) {
  for (std::string_view table : {"a", "b"}) {
    run(concat("insert into ", table,
               " select i, i, repeat(chr(97 + i % 26), i % 60) || i from generate_series(10001, "
               "30000) i"));
  }
  for (std::string_view sql : spilling) {
    std::vector<std::string> expected = sorted_lines(run(sql));
    size_t answered = 0;
    for (size_t kilobytes : {0, 64, 256, 512, 1024, 4096, 16384}) {
      size_t before = measure_process_memory().used;
      MemoryCeiling ceiling(before + (kilobytes << 10), 1, measure_process_memory);
      MemoryBudget budget(ceiling, 0);
      std::string answer;
      bool is_refused = true;
      {
        MemoryBudget::Use use(budget);
        try {
          answer = run(sql);
          is_refused = answer.starts_with("ERROR: 53200: ");
        } catch (const MemoryLimitReached&) {  // while it is planned
        }
      }
      EXPECT_EQ(files.bytes(), 0u) << sql;
      if (is_refused) continue;
      ++answered;
      EXPECT_EQ(sorted_lines(answer), expected) << sql << " with " << kilobytes << " kB";
    }
    EXPECT_NE(answered, 0u) << sql;
  }
}

}  // namespace
}  // namespace pgsilo::testing
