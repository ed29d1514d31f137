// A server of its own at its memory_limit (PGSILO_FLAGS: a small one), a client, and tables that
// fill it. Thread safety: none.
#pragma once

#include <gtest/gtest.h>
#include <libpq-fe.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "sql/limits.h"

namespace pgsilo::memory_test {

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
    return first_value();
  }
  std::string first_value() const {
    return PQntuples(result_.get()) == 0 ? "no row" : PQgetvalue(result_.get(), 0, 0);
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

inline bool comes_true(const std::function<bool()>& condition) {
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
    EXPECT_TRUE(comes_true([this] { return free_bytes() > free_at_begin_ - may_be_kept; }))
        << free_bytes() << " of " << free_at_begin_;
    wait_for_measurement();
  }
  // The plans of texts, in the caches of both workers (limits::kept_plans_fraction of the server's
  // memory_limit): the balance of load moves the session from one to the other. And 2 MB.
  static constexpr long long may_be_kept = (160 << 20) / limits::kept_plans_fraction + (2 << 20);
  // Who was refused is refused again without a measurement for so long (MemoryCeiling::rest_us).
  static void wait_for_measurement() { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }
  void must(const std::string& sql) {
    ASSERT_EQ(client.run(sql), "") << sql << ": " << client.message() << client.detail();
  }
  long long free_bytes() { return client.number("select memory_limit - used from pgsilo_memory"); }
  // Whether that is true of the session's row in pg_stat_activity.
  bool waits(const PGconn* session, const std::string& condition) {
    return waits(PQbackendPID(session), condition);
  }
  bool waits(int process, const std::string& condition) {
    return client.number("select count(*) from pg_stat_activity where " + condition +
                         " and pid = " + std::to_string(process)) == 1;
  }
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
  std::string fill_once(Client& by) {
    for (;; rows += batch) {
      std::string state = by.run(insert(rows, batch));
      if (!state.empty()) return state;
      if (rows > 10000000) return "never";
    }
  }
  // Until it is refused also a moment later: the log takes memory while it prepares a segment.
  std::string fill(Client& by) {
    for (;;) {
      const int before = rows;
      std::string state = fill_once(by);
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      if (state != "53200" || rows == before) return state;
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
  // How many sessions are ended while growth is refused some times more.
  long long ended_while_refused() {
    const long long ended = client.number("select sessions_ended from pgsilo_memory");
    const long long refused = client.number("select refusals from pgsilo_memory");
    EXPECT_TRUE(comes_true([&] {
      fill(client);
      return client.number("select refusals from pgsilo_memory") >= refused + 5;
    }));
    return client.number("select sessions_ended from pgsilo_memory") - ended;
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

}  // namespace pgsilo::memory_test
