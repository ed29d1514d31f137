// What statements build on their way to a value: that asks as well, and a refusal comes before the
// memory is taken.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include "tests/memory/memory_limit_support.h"

namespace pgsilo::memory_test {
namespace {

class UnaskedMemoryTest : public MemoryLimitTest {
 protected:
  // What workers' shares and what is being allocated may take beyond the limit.
  static constexpr long long overshoot = 16 << 20;

  // The SQLSTATE of what `session` is at; meanwhile the limit holds.
  std::string ends_within_limit(Client& session) {
    while (PQisBusy(session.connection()) != 0) {
      measure();
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      EXPECT_EQ(PQconsumeInput(session.connection()), 1);
    }
    measure();
    EXPECT_GT(std::exchange(least_, 1LL << 40), -overshoot);
    std::string state = session.result();
    while (PGresult* rest = PQgetResult(session.connection())) PQclear(rest);
    return state;
  }
  std::string run_within_limit(Client& session, const std::string& sql) {
    SCOPED_TRACE(sql);
    EXPECT_EQ(PQsendQuery(session.connection(), sql.c_str()), 1);
    return ends_within_limit(session);
  }
  // The same, watched while the message is still on its way.
  std::string send_within_limit(Client& session, const std::string& sql, bool in_parse) {
    std::atomic<bool> sent{false};
    std::thread sender([&] {
      PGconn* connection = session.connection();
      EXPECT_EQ(in_parse ? PQsendPrepare(connection, "", sql.c_str(), 0, nullptr)
                         : PQsendQuery(connection, sql.c_str()),
                1);
      sent = true;
    });
    while (!sent) measure();
    sender.join();
    return ends_within_limit(session);
  }
  // What the server says to a COPY whose data are `times` times this piece.
  std::string copy_within_limit(const std::string& sql, const std::string& piece, int times) {
    SCOPED_TRACE(sql);
    Client session;
    PGresult* begun = PQexec(session.connection(), sql.c_str());
    EXPECT_EQ(PQresultStatus(begun), PGRES_COPY_IN);
    PQclear(begun);
    for (int i = 0; i < times; ++i) {
      // A server that has refused reads the rest all the same.
      if (PQputCopyData(session.connection(), piece.data(), static_cast<int>(piece.size())) != 1)
        break;
      if (i % 10 == 0) measure();
    }
    EXPECT_EQ(PQputCopyEnd(session.connection(), nullptr), 1);
    EXPECT_EQ(PQflush(session.connection()), 0);
    return ends_within_limit(session);
  }

 private:
  void measure() { least_ = std::min(least_, free_bytes()); }
  long long least_ = 1LL << 40;
};

TEST_F(UnaskedMemoryTest, FunctionsAskForWhatTheyBuild) {
  Client session;
  for (const char* sql : {
           "select length(format('%600000000s', 'x'))",
           "select length(concat(x, x, x, x, x, x, x, x)) from (select repeat('x', 50000000)) t(x)",
           "select length(encode(repeat('x', 60000000)::bytea, 'hex'))",
           "select length(regexp_replace(repeat('x', 400000), 'x', repeat('y', 1000), 'g'))",
           "select length(to_char(now(), repeat('Month', 3000000)))",
           "select cardinality(string_to_array(repeat('x,', 20000000), ','))",
           "select cardinality(('{' || repeat('1,', 20000000) || '1}')::int[])",
           "select array_to_string(array[x, x, x, x, x, x, x, x], ',') "
           "from (select repeat('x', 40000000)) t(x)",
       }) {
    EXPECT_EQ(run_within_limit(session, sql), "53200") << sql;
  }
  EXPECT_EQ(session.value("select length(format('%2000000s', 'x'))"), "2000000");
}

TEST_F(UnaskedMemoryTest, ArraysOfSubqueriesAskForTheirElements) {
  Client session;
  EXPECT_EQ(run_within_limit(
                session, "select cardinality(array(select g from generate_series(1, 30000000) g))"),
            "53200");
  EXPECT_EQ(session.value("select cardinality(array(select g from generate_series(1, 300000) g))"),
            "300000");
}

// One line that is too long, or has too many fields, would else be told that it is no number, or
// has too many.
TEST_F(UnaskedMemoryTest, LinesOfCopyAsk) {
  std::string piece(1 << 20, 'x');
  EXPECT_EQ(copy_within_limit("copy filled (id) from stdin", piece, 300), "53200");
  EXPECT_EQ(copy_within_limit("copy filled (id) from stdin csv", piece, 300), "53200");
  std::string fields;
  for (int i = 0; i < 50000; ++i) fields += "a,";
  EXPECT_EQ(
      copy_within_limit("copy filled (id) from stdin with (format csv, header match)", fields, 100),
      "53200");
  EXPECT_EQ(copy_within_limit("copy filled (id) from stdin", piece, 2), "22P02");
}

// The text of a search path is little beside what is made of it.
TEST_F(UnaskedMemoryTest, SettingsAskForWhatTheyKeep) {
  Client session;
  EXPECT_EQ(run_within_limit(
                session, "select set_config('search_path', repeat('x,', 5000000) || 'x', false)"),
            "53200");
  EXPECT_EQ(session.run("set search_path = public"), "");
  std::string value(200000, 'x');
  std::string state;
  for (int i = 0; i < 2000 && state.empty(); ++i)
    state = session.run("set my.key" + std::to_string(i) + " = '" + value + "'");
  EXPECT_EQ(state, "53200");
  EXPECT_GT(free_bytes(), -overshoot);
  EXPECT_EQ(session.value("show my.key0"), value);
  EXPECT_EQ(session.run("set my.key0 = ''"), "");
}

// Values are shared by all savepoints that go back to them.
TEST_F(UnaskedMemoryTest, SavepointsCopyNoSettings) {
  Client session;
  EXPECT_EQ(session.run("begin"), "");
  std::string value(200000, 'x');
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(session.run("set local my.key" + std::to_string(i) + " = '" + value + "'"), "");
  for (int i = 0; i < 200; ++i) EXPECT_EQ(session.run("savepoint s"), "");
  EXPECT_GT(free_bytes(), free_at_begin_ - (16 << 20));
  EXPECT_EQ(session.run("rollback"), "");
}

// A text lies in several places until it is parsed: each is asked for before it is there.
TEST_F(UnaskedMemoryTest, TextsAskForTheirCopies) {
  Client session;
  const long long limit = client.number("select memory_limit from pgsilo_memory");
  for (long long percent : {5, 24, 39, 59, 84}) {
    std::string filling(static_cast<size_t>(limit / 100 * percent), 'z');
    for (const std::string& sql : {"select 1 /*" + filling + "*/", "select '" + filling + "' <> ''",
                                   "select 1 /*/**/" + filling + "*/"}) {
      for (bool in_parse : {false, true}) {
        SCOPED_TRACE(sql.substr(0, 16) + std::to_string(percent) + (in_parse ? "% parse" : "%"));
        EXPECT_EQ(send_within_limit(session, sql, in_parse), percent == 5 ? "" : "53200");
        EXPECT_EQ(session.value("select 2"), "2");
      }
    }
  }
}

}  // namespace
}  // namespace pgsilo::memory_test
