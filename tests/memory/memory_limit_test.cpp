// A server at its memory_limit: what grows fails with 53200, everything else goes on, and memory
// comes back. Runs beside a server of its own (PGSILO_FLAGS: a small memory_limit).
#include <gtest/gtest.h>
#include <libpq-fe.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "base/sanitizers.h"

namespace pgsilo::memory_test {
namespace {

class Client {
 public:
  Client() : connection_(PQconnectdb(""), PQfinish) {
    EXPECT_EQ(PQstatus(connection_.get()), CONNECTION_OK) << PQerrorMessage(connection_.get());
    PQsetNoticeProcessor(
        connection_.get(),
        [](void* told, const char* text) { static_cast<std::string*>(told)->append(text); },
        &told_);
  }
  // The SQLSTATE; empty: it was good.
  std::string run(const std::string& sql) { return keep(PQexec(connection_.get(), sql.c_str())); }
  std::string run(const std::string& sql, const std::string& parameter) {
    const char* values[] = {parameter.c_str()};
    return keep(
        PQexecParams(connection_.get(), sql.c_str(), 1, nullptr, values, nullptr, nullptr, 0));
  }
  std::string value(const std::string& sql) {
    EXPECT_EQ(run(sql), "") << sql << ": " << message();
    if (PQntuples(result_.get()) == 0) return "no row";
    return PQgetvalue(result_.get(), 0, 0);
  }
  // Of what was sent by hand.
  std::string result() { return keep(PQgetResult(connection_.get())); }
  long long number(const std::string& sql) { return std::stoll(value(sql)); }
  std::string message() const { return PQresultErrorMessage(result_.get()); }
  std::string detail() const {
    const char* text = PQresultErrorField(result_.get(), PG_DIAG_MESSAGE_DETAIL);
    return text == nullptr ? "" : text;
  }
  std::string tag() const { return PQcmdStatus(result_.get()); }
  // What came without being asked for: libpq hands out the last words of a session in several ways.
  std::string last_words() const { return told_ + message() + PQerrorMessage(connection_.get()); }
  PGconn* connection() { return connection_.get(); }

 private:
  std::string keep(PGresult* result) {
    result_.reset(result);
    const char* state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    if (state != nullptr) return state;
    return PQstatus(connection_.get()) == CONNECTION_OK ? "" : "lost";
  }

  std::string told_;
  std::unique_ptr<PGconn, decltype(&PQfinish)> connection_;
  std::unique_ptr<PGresult, decltype(&PQclear)> result_{nullptr, PQclear};
};

bool comes_true(const std::function<bool()>& condition) {
  for (int round = 0; round < 1000; ++round) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

class MemoryLimitTest : public ::testing::Test {
 protected:
  void SetUp() override {
    drop();
    must("create table filled (id int primary key, payload text)");
    free_at_begin_ = free_bytes();
  }
  void TearDown() override { drop(); }

  void drop() {
    for (const char* table : {"filled", "filled_copy", "filled_too"})
      must(std::string("drop table if exists ") + table);
    EXPECT_TRUE(comes_true([this] { return free_bytes() > free_at_begin_ - (8 << 20); }));
    // Who was refused is refused again without a measurement for so long (MemoryCeiling::rest_us).
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  void must(const std::string& sql) {
    ASSERT_EQ(client.run(sql), "") << sql << ": " << client.message() << client.detail();
  }
  long long free_bytes() { return client.number("select memory_limit - used from pgsilo_memory"); }
  // The least that is free until nobody else is at work.
  long long least_free_meanwhile() {
    long long least = free_bytes();
    EXPECT_TRUE(comes_true([&] {
      least = std::min(least, free_bytes());
      return client.number("select count(*) from pg_stat_activity where state = 'active'") == 1;
    }));
    return least;
  }
  static std::string insert(int first, int rows) {
    return "insert into filled select g, repeat(g::text || ' ', 40) from generate_series(" +
           std::to_string(first) + ", " + std::to_string(first + rows - 1) + ") g";
  }
  // Until a statement is refused; returns its SQLSTATE.
  std::string fill(Client& by) {
    for (;; rows += batch) {
      std::string state = by.run(insert(rows, batch));
      if (!state.empty()) return state;
      if (rows > 10000000) return "never";
    }
  }
  // As soon as it is measured that what was freed last is free.
  void insert_long_row() {
    EXPECT_TRUE(comes_true([this] {
      return client.run("insert into filled values (1, repeat('x', 10000000))").empty();
    }));
  }
  void remove_half(Client& by) const {
    for (int first = 0; first < rows / 2; first += 5000) {
      EXPECT_EQ(by.run("delete from filled where id between " + std::to_string(first) + " and " +
                       std::to_string(first + 4999)),
                "")
          << by.message();
    }
  }
  bool inserts_again(Client& by) {
    return comes_true([&] {
      std::string state = by.run(insert(rows, batch));
      EXPECT_TRUE(state.empty() || state == "53200") << state;
      if (state.empty()) rows += batch;
      return state.empty();
    });
  }

  static constexpr int batch = 500;
  Client client;
  int rows = 0;  // in the table, numbered from 0
  long long free_at_begin_ = 0;
};

TEST_F(MemoryLimitTest, GrowthIsRefusedAndTheRestGoesOn) {
  ASSERT_EQ(fill(client), "53200");
  EXPECT_EQ(client.message().find("ERROR:  out of memory"), 0u) << client.message();
  EXPECT_NE(client.detail().find("memory_limit is "), std::string::npos) << client.detail();
  EXPECT_GT(rows, 10 * batch);
  Client other;
  for (Client* each : {&client, &other}) {
    EXPECT_EQ(each->number("select count(*) from filled"), rows);
    EXPECT_EQ(each->value("select length(payload) from filled where id = 7"), "80");
    EXPECT_EQ(each->value("select id from filled order by id desc limit 1"),
              std::to_string(rows - 1));
    EXPECT_EQ(each->run(insert(rows, batch)), "53200");
    EXPECT_EQ(each->run("create table filled_copy as select * from filled"), "53200");
    EXPECT_EQ(each->run("create index on filled (payload)"), "53200");
    // The new rows do not fit into the places of the old ones.
    EXPECT_EQ(each->run("update filled set payload = payload || payload where id < 2000"), "53200");
  }
  EXPECT_EQ(client.run("update filled set payload = upper(payload) where id < 2000"), "")
      << client.message();
  EXPECT_EQ(client.run("create table filled_too (a int)"), "") << client.message();
  EXPECT_EQ(client.run("drop table filled_too"), "");

  // DELETE that looks at everything, in a block, and piece by piece; then there is room again.
  EXPECT_EQ(other.run("begin"), "");
  EXPECT_EQ(other.run("delete from filled where id % 100 = 0"), "") << other.message();
  EXPECT_EQ(other.run("commit"), "");
  remove_half(other);
  EXPECT_TRUE(inserts_again(client));
  EXPECT_TRUE(inserts_again(other));

  ASSERT_EQ(fill(client), "53200");
  EXPECT_EQ(client.run("truncate filled"), "") << client.message();
  EXPECT_EQ(client.number("select count(*) from filled"), 0);
  EXPECT_TRUE(inserts_again(other));
}

// The reserve of 40 MB is enough for what is remembered of so many rows, and of no more than half
// as many again: that is refused, and leaves nothing behind.
TEST_F(MemoryLimitTest, OneStatementDeletesWhatTheReserveCanRemember) {
#if defined(PGSILO_ASAN) || defined(PGSILO_TSAN)
  GTEST_SKIP() << "the sanitizers' allocators count other sizes";
#endif
  ASSERT_EQ(fill(client), "53200");
  ASSERT_GT(rows, 250000);
  EXPECT_EQ(client.run("delete from filled where id < 210000"), "53200");
  EXPECT_NE(client.message().find("ERROR:  out of memory"), std::string::npos);
  EXPECT_EQ(client.number("select count(*) from filled"), rows);
  EXPECT_EQ(client.run("delete from filled where id < 140000"), "") << client.message();
  EXPECT_EQ(client.number("select count(*) from filled"), rows - 140000);
  EXPECT_TRUE(inserts_again(client));
}

// However many, if it is all of them: the table gets new trees. Not one that rows of others refer
// to, nor in a block, which would keep the table to itself.
TEST_F(MemoryLimitTest, OneStatementDeletesAllRows) {
  must("create index on filled (id)");
  ASSERT_EQ(fill(client), "53200");
  Client other;
  EXPECT_EQ(client.run("delete from filled"), "") << client.message();
  EXPECT_EQ(client.tag(), "DELETE " + std::to_string(rows));
  EXPECT_EQ(other.number("select count(*) from filled"), 0);
  EXPECT_EQ(client.run("delete from filled"), "");
  EXPECT_EQ(client.tag(), "DELETE 0");
  EXPECT_TRUE(inserts_again(other));
  EXPECT_EQ(other.number("select count(*) from filled"), batch);
}

TEST_F(MemoryLimitTest, CopyIsRefused) {
  std::string row = "\t" + std::string(900, 'x') + "\n";
  ASSERT_EQ(client.run("copy filled from stdin"), "");
  std::string piece;
  for (int i = 0; i < 200000; ++i) piece += std::to_string(i) + row;
  ASSERT_EQ(PQputCopyData(client.connection(), piece.data(), static_cast<int>(piece.size())), 1);
  ASSERT_EQ(PQputCopyEnd(client.connection(), nullptr), 1);
  std::unique_ptr<PGresult, decltype(&PQclear)> end(PQgetResult(client.connection()), PQclear);
  EXPECT_STREQ(PQresultErrorField(end.get(), PG_DIAG_SQLSTATE), "53200");
  EXPECT_EQ(PQgetResult(client.connection()), nullptr);
  EXPECT_EQ(client.number("select count(*) from filled"), 0);
  EXPECT_TRUE(inserts_again(client));
}

TEST_F(MemoryLimitTest, ALongTransactionGivesBackWhatItTook) {
  must("begin");
  ASSERT_EQ(fill(client), "53200");
  EXPECT_EQ(client.run("select 1"), "25P02");
  must("rollback");
  EXPECT_EQ(client.number("select count(*) from filled"), 0);
  EXPECT_TRUE(comes_true([this] { return free_bytes() > free_at_begin_ - (8 << 20); }));
  rows = 0;
  EXPECT_TRUE(inserts_again(client));
}

TEST_F(MemoryLimitTest, WhatWasWrittenCanBeCommitted) {
  must("begin");
  std::string state;
  for (;; rows += batch) {
    must("savepoint s");
    state = client.run(insert(rows, batch));
    if (!state.empty()) break;
    must("release s");
  }
  EXPECT_EQ(state, "53200");
  must("rollback to s");
  // Many rows, so that it looks at what the transaction remembers: that is not asked for anew.
  EXPECT_EQ(client.number("select count(*) from generate_series(1, 1000)"), 1000);
  EXPECT_GT(client.number("select promised from pgsilo_memory"), rows * 80LL);
  must("commit");
  EXPECT_EQ(client.number("select promised from pgsilo_memory"), 0);
  EXPECT_EQ(client.number("select count(*) from filled"), rows);
}

TEST_F(MemoryLimitTest, BigResultsOnTheirWayAreRefused) {
  const std::string many = "(select g, md5(g::text) m from generate_series(1, 3000000) g) s";
  EXPECT_EQ(client.run("select * from " + many + " order by m, g offset 2999999"), "53200");
  EXPECT_EQ(client.run("select count(*) from (select m, count(*) from " + many +
                       " group by m offset 0) q"),
            "53200");
  EXPECT_EQ(client.run("select count(*) from " + many +
                       " join (select g h, md5(g::text) n from generate_series(1, 3000000) g) t on "
                       "m = n"),
            "53200");
  EXPECT_EQ(client.run("select length(string_agg(m, '')) from " + many +
                       " join "
                       "generate_series(1, 3) x on true"),
            "53200");
  EXPECT_EQ(client.run("select length(repeat('x', 500000000))"), "53200");
  EXPECT_EQ(client.run("select repeat('a', 2000000) ~ '^(a|b)*c'"), "53200");
  // Small ones are not, and nothing of the big ones stays.
  EXPECT_EQ(client.value("select g from generate_series(1, 1000) g order by g desc limit 1"),
            "1000");
  EXPECT_TRUE(comes_true([this] { return free_bytes() > free_at_begin_ - (8 << 20); }));
}

TEST_F(MemoryLimitTest, LongMessagesAreRefused) {
  std::string parameter(300 << 20, 'x');
  EXPECT_EQ(client.run("select length($1)", parameter), "53200");
  EXPECT_EQ(client.value("select 1"), "1");
  EXPECT_EQ(client.run("select length('" + parameter + "')"), "53200");
  EXPECT_EQ(client.value("select 2"), "2");
  parameter.resize(1 << 20);
  EXPECT_EQ(client.run("select length($1)", parameter), "");
}

// What came before in a pipeline is kept, so that it can run again, only while there is room.
TEST_F(MemoryLimitTest, ShortMessagesOfAPipelineAreNotKept) {
  ASSERT_EQ(fill(client), "53200");
  Client other;
  PGconn* connection = other.connection();
  ASSERT_EQ(PQenterPipelineMode(connection), 1);
  const std::string parameter(100'000, 'x');
  const char* values[] = {parameter.c_str()};
  constexpr int messages = 100;
  for (int i = 0; i < messages; ++i) {
    ASSERT_EQ(
        PQsendQueryParams(connection, "select length($1)", 1, nullptr, values, nullptr, nullptr, 0),
        1);
  }
  while (PQflush(connection) == 1) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(comes_true([&] {
    return client.number(
               "select count(*) from pg_stat_activity where wait_event = 'ClientRead' "
               "and pid = " +
               std::to_string(PQbackendPID(connection))) == 1;
  }));
  EXPECT_GT(free_bytes(), -(3 << 20));
  ASSERT_EQ(PQpipelineSync(connection), 1);
  for (int i = 0; i < messages; ++i) {
    std::unique_ptr<PGresult, decltype(&PQclear)> result(PQgetResult(connection), PQclear);
    EXPECT_STREQ(PQgetvalue(result.get(), 0, 0), "100000");
    EXPECT_EQ(PQgetResult(connection), nullptr);
  }
}

// A client that does not read what it has asked for in a pipeline without Sync: the server goes on
// when that has left.
class UnreadPipelineTest : public MemoryLimitTest {
 protected:
  void SetUp() override {
    MemoryLimitTest::SetUp();
    other_ = std::make_unique<Client>();
    other = other_->connection();
    ASSERT_EQ(PQsetnonblocking(other, 1), 0);
  }
  void TearDown() override {
    other_.reset();
    MemoryLimitTest::TearDown();
  }
  void expect_little_is_held() {
    int unsent = 1;
    EXPECT_TRUE(comes_true([&] {
      unsent = PQflush(other);
      return client.number(
                 "select count(*) from pg_stat_activity where wait_event = 'ClientWrite' and "
                 "pid = " +
                 std::to_string(PQbackendPID(other))) == 1;
    }));
    EXPECT_EQ(unsent, 0);
    EXPECT_GT(free_bytes(), free_at_begin_ - (80 << 20));
  }
  PGconn* other = nullptr;

 private:
  std::unique_ptr<Client> other_;
};

TEST_F(UnreadPipelineTest, AnswersToFlush) {
  ASSERT_EQ(PQenterPipelineMode(other), 1);
  for (int i = 0; i < 400; ++i) {
    ASSERT_EQ(PQsendQueryParams(other, "select repeat('x', 1000000)", 0, nullptr, nullptr, nullptr,
                                nullptr, 0),
              1);
    ASSERT_EQ(PQsendFlushRequest(other), 1);
  }
  expect_little_is_held();
}

TEST_F(UnreadPipelineTest, Descriptions) {
  std::string columns = "select 1";
  for (int i = 0; i < 1500; ++i) columns += ", 1";
  ASSERT_EQ(PQsetnonblocking(other, 0), 0);
  PQclear(PQprepare(other, "wide", columns.c_str(), 0, nullptr));
  ASSERT_EQ(PQsetnonblocking(other, 1), 0);
  ASSERT_EQ(PQenterPipelineMode(other), 1);
  for (int i = 0; i < 6000; ++i) ASSERT_EQ(PQsendDescribePrepared(other, "wide"), 1);
  expect_little_is_held();
}

TEST_F(UnreadPipelineTest, Notices) {
  ASSERT_EQ(
      PQsendQuery(other, "select count(pg_advisory_unlock(g)) from generate_series(1, 1000000) g"),
      1);
  expect_little_is_held();
}

TEST_F(MemoryLimitTest, WhoIdlesInATransactionMakesRoom) {
  ASSERT_EQ(fill(client), "53200");
  Client idle, younger;
  EXPECT_EQ(idle.run("begin"), "");
  EXPECT_EQ(idle.number("select count(*) from filled where id = 1"), 1);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(younger.run("begin"), "");
  EXPECT_EQ(younger.number("select 1 from filled where id = 1"), 1);
  remove_half(client);
  // Nothing of it can be freed while they read. Who asks for room has the oldest of them ended, and
  // the next one if that did not help.
  EXPECT_TRUE(inserts_again(client));
  EXPECT_GE(client.number("select sessions_ended from pgsilo_memory"), 1);
  EXPECT_NE(idle.run("select 1"), "");
  EXPECT_NE(idle.last_words().find(
                "FATAL:  terminating connection because the server is short of memory"),
            std::string::npos)
      << idle.last_words();
  EXPECT_EQ(PQstatus(idle.connection()), CONNECTION_BAD);
}

// Each plan takes some kilobytes, and none of these texts comes again.
TEST_F(MemoryLimitTest, PlansOfManyTextsTakeLittle) {
  for (int text = 0; text < 50; ++text) {
    std::string sql;
    for (int i = 0; i < 400; ++i) sql += "select id+" + std::to_string(text) + " from filled;";
    must(sql);
  }
  EXPECT_GT(free_bytes(), free_at_begin_ - (16 << 20));
  must(insert(0, 100));
}

// Whoever prepares without an end is refused, not those beside him; what is deallocated is free
// again.
TEST_F(MemoryLimitTest, PreparedStatementsAreKeptWhileThereIsRoom) {
  std::string conditions = "id = 0";
  for (int i = 1; i < 300; ++i) conditions += " or id = " + std::to_string(i);
  std::string state;
  int statements = 0;
  for (; state.empty() && statements < 20000; ++statements)
    state = client.run("prepare p" + std::to_string(statements) + " as select " +
                       std::to_string(statements) + " from filled where " + conditions);
  EXPECT_EQ(state, "53200") << statements << " statements";
  EXPECT_GT(free_bytes(), -(4 << 20));
  EXPECT_EQ(client.run("execute p0"), "");
  Client other;
  EXPECT_EQ(other.run("prepare small as select id from filled where id = $1"), "");
  EXPECT_EQ(other.run("execute small(1)"), "");
  must("deallocate all");
  EXPECT_GT(free_bytes(), free_at_begin_ - (16 << 20));
  must(insert(0, 100));
}

TEST_F(MemoryLimitTest, DiscardPlansGivesThoseOfTheSessionBack) {
  must("prepare p as select length(repeat('x', 30000000))");
  must("execute p");
  EXPECT_LT(free_bytes(), free_at_begin_ - 25000000);
  must("discard plans");
  EXPECT_GT(free_bytes(), free_at_begin_ - 10000000);
  EXPECT_EQ(client.value("execute p"), "30000000");
  must("discard all");
  EXPECT_GT(free_bytes(), free_at_begin_ - 10000000);
}

TEST_F(MemoryLimitTest, AStatementThatHasEndedKeepsNoLongValues) {
  must("prepare p (int) as select length(repeat('x', $1)), (select length(repeat('y', $1)))");
  EXPECT_EQ(client.value("execute p (30000000)"), "30000000");
  EXPECT_GT(free_bytes(), free_at_begin_ - 10000000);
  must("deallocate p");
}

// Of each plan that a session keeps for the next time, and of each table in it.
TEST_F(MemoryLimitTest, AStatementThatHasEndedKeepsNoLongRows) {
  insert_long_row();
  for (const char* sql :
       {"select id from filled", "select id from filled where id = 1",
        "select id from filled where id > 0", "select a.id from filled a, filled b",
        "update filled set id = 1", "select id from filled for update"}) {
    EXPECT_EQ(client.run(sql), "") << sql;
    // A checkpoint that runs beside has the row in its hands as well, for a while.
    EXPECT_TRUE(comes_true([this] { return free_bytes() > free_at_begin_ - 15000000; })) << sql;
  }
}

// Of each statement of a text that was sent as one.
TEST_F(MemoryLimitTest, AnIdleSessionKeepsNoLongText) {
  std::string text;
  for (int i = 0; i < 50000; ++i) text += "select 1;";
  must(text);
  EXPECT_TRUE(comes_true([this] { return free_bytes() > free_at_begin_ - 6000000; }));
}

// Each list takes some 50 times its length until it is parsed.
TEST_F(MemoryLimitTest, WhatItTakesToParseIsAskedFor) {
  std::string list = " and 5 in (0";
  for (int i = 1; i < 200000; ++i) list += "," + std::to_string(i);
  list += ")";
  const std::string one = "select 1 where true" + list;
  EXPECT_EQ(client.run(one), "");
  std::vector<std::unique_ptr<Client>> others(8);
  for (auto& other : others) {
    other = std::make_unique<Client>();
    ASSERT_TRUE(PQsendQuery(other->connection(), one.c_str()));
  }
  EXPECT_GT(least_free_meanwhile(), -(40 << 20));
  for (auto& other : others) {
    std::string state = other->result();
    EXPECT_TRUE(state.empty() || state == "53200") << state;
  }
  EXPECT_EQ(client.run(one), "");
  EXPECT_EQ(client.run(one + list + list + list), "53200");
}

// Lists of the parts of long values.
TEST_F(MemoryLimitTest, WhatFunctionsTakeApartIsRefused) {
  for (const char* sql :
       {"select cardinality(string_to_array(v, null)) from long_value",
        "select cardinality(('{' || repeat('a,', 8000000) || 'a}')::text[]) from long_value"}) {
    Client other;
    std::string with = "with long_value as (select repeat('a', 8000000) as v) ";
    ASSERT_TRUE(PQsendQuery(other.connection(), (with + sql).c_str()));
    EXPECT_GT(least_free_meanwhile(), -(44 << 20)) << sql;
    EXPECT_EQ(other.result(), "53200") << sql;
  }
}

TEST_F(MemoryLimitTest, LongRowsOfManyScansAreRefused) {
  insert_long_row();
  std::string all = "select id from filled";
  for (int i = 1; i < 40; ++i) all += " union all select id from filled";
  EXPECT_EQ(client.run(all), "53200");
  EXPECT_GT(free_bytes(), free_at_begin_ - 15000000);
}

// What gives memory back goes on, with long rows as well.
TEST_F(MemoryLimitTest, ALongRowCanBeDeleted) {
  insert_long_row();
  must("create table filled_too (id int primary key, payload text)");
  for (int i = 0;
       client.run("insert into filled_too values (" + std::to_string(i) + ", repeat('z', 100000))")
           .empty();)
    ++i;
  must("delete from filled where length(payload) > 0");
}

// Nobody reads it.
TEST_F(MemoryLimitTest, LongRowsOnTheirWayAreRefused) {
  insert_long_row();
  std::vector<std::unique_ptr<Client>> readers(12);
  for (auto& reader : readers) {
    reader = std::make_unique<Client>();
    const char* sql =
        &reader - readers.data() < 6 ? "copy filled to stdout" : "select * from filled";
    ASSERT_TRUE(PQsendQuery(reader->connection(), sql));
  }
  EXPECT_TRUE(comes_true([&] {
    return client.number(
               "select count(*) from pg_stat_activity where query like '%filled%' and "
               "(wait_event = 'ClientWrite' or state = 'idle')") == 12;
  }));
  // The reserve, and a row of each worker that was admitted before it was used up.
  EXPECT_GT(free_bytes(), -(62 << 20));
}

TEST_F(MemoryLimitTest, TheLimitIsShown) {
  EXPECT_EQ(client.value(
                "select current_setting('memory_limit') = pg_size_pretty(memory_limit) or "
                "current_setting('memory_limit') = replace(pg_size_pretty(memory_limit), ' ', '') "
                "from pgsilo_memory"),
            "t");
  EXPECT_EQ(client.run("set memory_limit = '1GB'"), "55P02");
}

}  // namespace
}  // namespace pgsilo::memory_test
