// One call of a function, however long its values are, keeps nobody else waiting, nor does a long
// text, nor what takes long to plan: the sessions of its worker are served meanwhile, and its own
// time limit ends it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/sanitizers.h"
#include "tests/protocol/monitoring_support.h"
#include "tests/protocol/wait_time.h"

namespace pgsilo::protocol_test {
namespace {

using Clock = std::chrono::steady_clock;

int64_t milliseconds_since(Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start).count();
}

// Each takes a good part of a second at least.
struct LongStatement {
  const char* name;
  std::string sql;
  std::string_view value;  // the first of its answer, with so many units behind it
  std::string_view unit = {};
  int units = 0;

  std::string answer() const {
    std::string whole(value);
    for (int i = 0; i < units; ++i) whole += unit;
    return whole;
  }
};

std::string repeated(const std::string& part, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += part;
  return text;
}

// item(0), item(1) and so on.
template <typename Item>
std::string listed(int count, std::string_view between, Item item) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    if (i != 0) text += between;
    text += item(std::to_string(i));
  }
  return text;
}

// A query that counts what `name` has `times` doubled, without keeping it.
std::string doubled(std::string name, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) {
    std::string half = std::exchange(name, name + "c");
    text += (i == 0 ? "" : ", ") + name + " as not materialized (select * from " + half +
            " union all select * from " + half + ")";
  }
  return text + " select count(*) from " + name;
}

std::vector<LongStatement> long_statements() {
  return {
      {"Md5", "select md5(repeat('abcd', 25000000))", "89dcaa9af9ae1eead01f1df2582bb664"},
      {"Format", "select length(format('%100000000s %1$s', repeat('a', 10000000)))", "110000001"},
      {"Replace", "select length(replace(repeat('ab', 25000000), 'b', 'cd'))", "75000000"},
      {"SearchesAnew", "select position(repeat('a', 20000) || 'b' in repeat('a', 100000000))", "0"},
      {"Translate", "select length(translate(repeat('ab', 25000000), 'b', 'c'))", "50000000"},
      {"Upper", "select length(upper(repeat('\u00e4', 50000000)))", "50000000"},
      {"Trim", "select length(trim(repeat('a', 30000), repeat('b', 10000) || 'a'))", "0"},
      {"Like", "select repeat('a', 40000) like '%' || repeat('a', 20000) || 'b%'", "f"},
      {"Hexadecimal", "select length(decode(encode(repeat('a', 50000000)::bytea, 'hex'), 'hex'))",
       "50000000"},
      {"Base64", "select length(decode(encode(repeat('a', 50000000)::bytea, 'base64'), 'base64'))",
       "50000000"},
      {"Pattern", "select repeat('a', 30000000) ~ 'a*[bc]$'", "f"},
      {"PatternBacktracks", "select repeat('a', 801) || 'b' ~ '^(a*)(a*)\\1\\2b'", "f"},
      {"PatternDissected",
       "select length((regexp_match(repeat('ab', 2000000), "
       "'^(?:(a)|(b))*(.*)$'))[2])",
       "1"},
      {"PatternReplaced", "select length(regexp_replace(repeat('ab', 5000000), 'b', 'cd', 'g'))",
       "15000000"},
      {"Array", "select length((string_to_array(repeat('a,', 5000000), ','))::text)", "10000004"},
      {"ArrayRead", "select array_length(('{' || repeat('1,', 5000000) || '1}')::int[], 1)",
       "5000001"},
      {"NumberPicture", "select length(to_char(1, repeat('9', 30000000)))", "30000001"},
      // It takes the parser time quadratic in its length.
      {"Text", "select 1 " + repeated("/*", 10000) + repeated("*/", 9999), "42601"},
      {"Aggregates",
       "select count(*) from (values (1)) t(a) having " +
           listed(2000, " and ", [](const std::string& i) { return "sum(a + " + i + ") > 0"; }),
       "1"},
      // 65,536 of them.
      {"Subqueries", "with c as not materialized (select 1), " + doubled("c", 16), "65536"},
      {"Row", "select decode(repeat('41', 50000000), 'hex')", "\\x", "41", 50000000},
  };
}

class LongWork : public testing::Test {
 protected:
  // On each worker there are some.
  static constexpr int bystander_count = 8;
  // What a statement of theirs waits at most.
  static constexpr int64_t patience_ms = 200;
  static constexpr int64_t end_ms = 1000;
  static constexpr int64_t patient_ms = 60'000;
  void SetUp() override {
    worker.start();
    for (RawClient& client : bystanders) client.start();
  }
  // While `worker` is busy, for so long at most.
  int64_t longest_wait_ms(int64_t limit_ms = 1000) {
    int64_t longest_ms = 0;
    Clock::time_point began = Clock::now();
    while (worker.is_silent(1) && milliseconds_since(began) < limit_ms) {
      for (RawClient& client : bystanders) {
        WaitTime wait(client);
        EXPECT_EQ(client.ask(query("select 1")), "TDCZI");
        longest_ms = std::max(longest_ms, wait.milliseconds());
      }
    }
    return longest_ms;
  }
  void cancel() {
    bystanders[0].ask(query("select pg_cancel_backend(" + std::to_string(worker.process) + ")"));
  }
  // The answer of `worker`, which is to end by now.
  std::string end(Clock::time_point asked) {
    std::string answer = worker.answer();
    EXPECT_LE(milliseconds_since(asked), end_ms);
    EXPECT_EQ(worker.ask(query("select 1")), "TDCZI");
    return answer;
  }
  // Its row may be on its way, which the client has yet to read.
  static bool is_canceled(const std::string& answer) {
    return answer == "E(57014)ZI" || answer == "TE(57014)ZI" || answer == "TDE(57014)ZI";
  }

  RawClient worker;
  RawClient bystanders[bystander_count];
};

class LongWorkTest : public LongWork, public testing::WithParamInterface<LongStatement> {};

// Only their number is long, and their answers have room on their way.
TEST_F(LongWork, OfManyStatementsLetsOthersRun) {
  worker.send(query(repeated("select where false;", 10000)));
  EXPECT_LE(longest_wait_ms(), patience_ms);
  EXPECT_TRUE(worker.answer() == repeated("TC", 10000) + "ZI");
}

// Each has its own time limit, as in PostgreSQL; a cancel request ends them all.
TEST_F(LongWork, OfManyStatementsIsCancelled) {
  worker.send(query(repeated("select where false;", 50000) + "select pg_sleep(1000)"));
  EXPECT_LE(longest_wait_ms(), patience_ms);
  Clock::time_point asked = Clock::now();
  cancel();
  EXPECT_TRUE(worker.answer().ends_with("E(57014)ZI"));
  EXPECT_LE(milliseconds_since(asked), end_ms);
}

class EndedWorkTest : public testing::Test {
 protected:
  void SetUp() override { client.start(); }
  size_t resident_bytes() const {
    size_t pages = 0, resident = 0;
    std::ifstream("/proc/" + std::to_string(client.server_process()) + "/statm") >> pages >>
        resident;
    return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
  }
  const std::string long_value = "select length(repeat('a', 256000000))";
  RawClient client;
};

TEST_P(LongWorkTest, IsRight) {
  EXPECT_TRUE(worker.first_value(GetParam().sql) == GetParam().answer());
}

// One that is not over in time whatever happens: it is ended within its call.
TEST_F(EndedWorkTest, EndsInTheMidstOfACall) {
  ASSERT_EQ(client.ask(query("set statement_timeout = '100ms'")), "CZI");
  Clock::time_point asked = Clock::now();
  std::string answer = client.ask(query("select md5(repeat('abcd', 200000000))"));
  EXPECT_TRUE(answer == "E(57014)ZI" || answer == "TE(57014)ZI") << answer;
  EXPECT_LE(milliseconds_since(asked), 1000);
}

// What is looked at as a whole: as it comes, before it is parsed, when it is planned, in the log.
TEST_F(LongWork, OnALongTextLetsOthersRun) {
  constexpr size_t length = 100'000'000;
  std::string text = "select length('" + std::string(length, 'a') + "')";
  for (const char* end : {"", " from from"}) {
    std::string message = query(text + end);
    std::jthread sender([&] { worker.send(message); });
    EXPECT_LE(longest_wait_ms(patient_ms), patience_ms);
    EXPECT_EQ(worker.answer(), *end == '\0' ? "TDCZI" : "E(42601)ZI");
  }
}

// It takes time in proportion to the text; what is too complex is told so before it is matched.
TEST_F(LongWork, OfAPatternHasItsLimits) {
  EXPECT_EQ(worker.first_value("select (repeat('ab', 40) || 'c') ~ '^((ab|a|b)+)+$'"), "f");
  worker.send(query("select repeat('a', 20000000) ~ '^(a|b)*c'"));
  EXPECT_LE(longest_wait_ms(), patience_ms);
  EXPECT_EQ(worker.answer(), "TDCZI");
  worker.send(query("select 'a' ~ repeat('a', 10000000)"));
  EXPECT_LE(longest_wait_ms(), patience_ms);
  EXPECT_EQ(worker.answer(), "E(2201B)ZI");
}

// What constants were on their way goes with the plan that had it.
TEST_F(EndedWorkTest, AValueDoesNotStay) {
  if (runs_on_postgres()) GTEST_SKIP() << "there the process belongs to the session";
  EXPECT_EQ(client.first_value(long_value), "256000000");
  EXPECT_EQ(client.first_value("select used < 200000000 from pgsilo_memory"), "t");
}

// Its pages go back: not at once, which would take its worker as long as the value is.
TEST_F(EndedWorkTest, TheMemoryOfAValueGoesBackSoon) {
#if defined(PGSILO_ASAN) || defined(PGSILO_TSAN)
  GTEST_SKIP() << "another allocator";
#endif
  if (runs_on_postgres()) GTEST_SKIP() << "there the process belongs to the session";
  std::this_thread::sleep_for(std::chrono::seconds(1));  // what others have left behind
  size_t before = resident_bytes();
  size_t kept = 0;
  for (int tries = 0; tries < 10 && kept < before + 128'000'000; ++tries) {
    // A statement that comes again may keep its last row.
    std::string statement = long_value + " as try_" + std::to_string(tries);
    EXPECT_EQ(client.first_value(statement), "256000000");
    kept = resident_bytes();
  }
  EXPECT_GE(kept, before + 128'000'000);
  Clock::time_point ended = Clock::now();
  while (resident_bytes() > before + 64'000'000 && milliseconds_since(ended) < 5000)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_LE(resident_bytes(), before + 64'000'000);
}

// The list of locks is as long as they are many.
TEST_F(LongWork, AListOfManyLocks) {
  RawClient holder;
  holder.start();
  holder.ask(query("drop table if exists long_work_test"));
  ASSERT_EQ(holder.ask(query("create table long_work_test as select g as id from "
                             "generate_series(1, 200000) g")),
            "CZI");
  ASSERT_EQ(holder.ask(query("begin; select count(*) from (select id from long_work_test for "
                             "share) locked")),
            "CTDCZT");
  std::string count = "select count(*) >= 200000 from pg_locks";
  worker.send(query(count));
  EXPECT_LE(longest_wait_ms(), patience_ms);
  EXPECT_EQ(worker.answer(), "TDCZI");
  if (!runs_on_postgres()) {
    EXPECT_EQ(worker.first_value(count), "t");
  }
  ASSERT_EQ(worker.ask(query("set statement_timeout = '20ms'")), "CZI");
  EXPECT_EQ(worker.ask(query(count)), "TE(57014)ZI");
  EXPECT_EQ(holder.ask(query("rollback")), "CZI");
  EXPECT_EQ(holder.ask(query("drop table long_work_test")), "CZI");
}

// The last one costs about what the first did, and to drop them all keeps nobody waiting.
TEST_F(LongWork, OnManyIndexesOfATable) {
  constexpr int size = 100, rounds = 10;
  auto names = [](int count, std::string_view between, const std::string& before,
                  const std::string& behind) {
    return listed(count, between, [&](const std::string& i) { return before + i + behind; });
  };
  worker.ask(query("drop table if exists long_work_test"));
  ASSERT_EQ(worker.ask(query("create table long_work_test (b int, c int)")), "CZI");
  int64_t first_ms = 0, last_ms = 0;
  for (int round = 0; round < rounds; ++round) {
    std::string name = "long_work_" + std::to_string(round) + "_";
    WaitTime time(worker);
    EXPECT_EQ(worker.ask(query(names(size, ";", "create index " + name, " on long_work_test(b)"))),
              repeated("C", size) + "ZI");
    last_ms = time.milliseconds();
    if (round == 0) first_ms = last_ms;
  }
  EXPECT_LE(last_ms, 4 * first_ms + 100);
  worker.send(query("drop index " + listed(rounds, ",", [&](const std::string& round) {
                      return names(size, ",", "long_work_" + round + "_", "");
                    })));
  EXPECT_LE(longest_wait_ms(patient_ms), patience_ms);
  EXPECT_EQ(worker.answer(), "CZI");
  EXPECT_EQ(worker.ask(query("drop table long_work_test")), "CZI");
}

// Of a new table, with so many constraints.
std::string table_of_many(int count, const std::function<std::string(const std::string&)>& item) {
  return query("create table long_work_test (a int, " + listed(count, ", ", item) + ")");
}
std::string unnamed_check(const std::string& i) { return "check (a > -" + i + ")"; }
std::string same_key(const std::string&) { return "unique (a)"; }
std::string long_key(const std::string& i) { return "constraint key_" + i + " unique (a)"; }
std::string reference(const std::string&) { return "foreign key (a) references long_work_too (a)"; }

// They cost about what they are, not the square of it.
TEST_F(LongWork, OnManyConstraintsOfATable) {
  worker.ask(query("drop table if exists long_work_test"));
  auto make_ms = [this](int count, auto item) {
    std::string message = table_of_many(count, item);
    WaitTime time(worker);
    EXPECT_EQ(worker.ask(message), "CZI");
    int64_t took_ms = time.milliseconds();
    EXPECT_EQ(worker.ask(query("drop table long_work_test")), "CZI");
    return took_ms;
  };
  EXPECT_LE(make_ms(2000, unnamed_check), 8 * make_ms(500, unnamed_check) + 100);
  EXPECT_LE(make_ms(40000, same_key), 8 * make_ms(10000, same_key) + 100);
  EXPECT_LE(make_ms(20000, long_key), 8 * make_ms(5000, long_key) + 100);
}

TEST_F(LongWork, OnManyConstraintsLetsOthersRun) {
  worker.ask(query("drop table if exists long_work_test"));
  for (const std::string& message :
       {table_of_many(30000, unnamed_check), table_of_many(100000, same_key)}) {
    worker.send(message);
    EXPECT_LE(longest_wait_ms(patient_ms), patience_ms);
    EXPECT_EQ(worker.answer(), "CZI");
    worker.send(query("drop table long_work_test"));
    EXPECT_LE(longest_wait_ms(patient_ms), patience_ms);
    EXPECT_EQ(worker.answer(), "CZI");
  }
}

TEST_F(LongWork, OnManyConstraintsRunsOutOfTime) {
  ASSERT_EQ(worker
                .ask(query("drop table if exists long_work_test, long_work_too;"
                           "create table long_work_too (a int unique);"
                           "set statement_timeout = '200ms'"))
                .back(),
            'I');
  for (const std::string& message :
       {table_of_many(5000, reference),
        query("alter table long_work_too " + listed(5000, ", ", [](const std::string& i) {
                return "add " + unnamed_check(i);
              }))}) {
    worker.send(message);
    EXPECT_LE(longest_wait_ms(patient_ms), patience_ms);
    EXPECT_EQ(worker.answer(), "E(57014)ZI");
  }
  EXPECT_EQ(worker.ask(query("drop table long_work_too")), "CZI");
}

// Each EXECUTE has its parameters out of the text, which they all share.
TEST_F(LongWork, OfParametersOfExecuteIsNotOfTheWholeText) {
  ASSERT_EQ(worker.ask(query("prepare with_one(int) as select $1; prepare with_none as select 1")),
            "CCZI");
  const std::string long_end = "select length('" + std::string(8'000'000, 'x') + "')";
  auto run_ms = [&](const std::string& statement) {
    std::string message = query(repeated(statement, 5000) + long_end);
    WaitTime time(worker);
    EXPECT_TRUE(worker.ask(message) == repeated("TDC", 5001) + "ZI");
    return time.milliseconds();
  };
  EXPECT_LE(run_ms("execute with_one(1);"), 3 * run_ms("execute with_none;") + 200);
}

TEST_P(LongWorkTest, LetsOthersRun) {
  worker.send(query(GetParam().sql));
  EXPECT_LE(longest_wait_ms(), patience_ms);
  cancel();
  std::string answer = end(Clock::now());
  EXPECT_TRUE(is_canceled(answer) || answer == "TDCZI") << answer;  // it may have been quick
}

TEST_P(LongWorkTest, RunsOutOfTime) {
  // The shortest of them takes some 80 ms.
  ASSERT_EQ(worker.ask(query("set statement_timeout = '20ms'")), "CZI");
  Clock::time_point asked = Clock::now();
  worker.send(query(GetParam().sql));
  EXPECT_LE(longest_wait_ms(), patience_ms);
  std::string answer = end(asked);
  EXPECT_TRUE(is_canceled(answer)) << answer;
}

INSTANTIATE_TEST_SUITE_P(Everywhere, LongWorkTest, testing::ValuesIn(long_statements()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace pgsilo::protocol_test
