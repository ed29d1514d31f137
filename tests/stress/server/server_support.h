// A whole server inside the test's process, so that sanitizers see both its threads and its memory,
// and clients that talk to it through libpq. Thread safety: the server: one thread; a client: one
// thread each.
#pragma once

#include <gtest/gtest.h>
#include <libpq-fe.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/database.h"

namespace pgsilo::server_stress {

// In a fresh directory, on a Unix socket there; several workers even where there are few CPUs.
class InProcessServer {
 public:
  // `session_balancing`: its setting.
  explicit InProcessServer(std::string session_balancing = "on");
  ~InProcessServer();  // stops, and removes the directory
  InProcessServer(const InProcessServer&) = delete;
  InProcessServer& operator=(const InProcessServer&) = delete;

  // The arguments of PQconnectdb.
  const std::string& address() const { return address_; }
  void restart();
  // I9: stops the server and compares every table with each of its indexes.
  void stop_and_check();

 private:
  void start();

  const std::string session_balancing_;
  std::string directory_;
  std::string address_;
  std::unique_ptr<Database> database_;
};

// What one statement was answered.
class Answer {
 public:
  Answer() = default;
  explicit Answer(PGresult* result) : result_(result, PQclear) {}
  explicit operator bool() const { return result_ != nullptr; }
  bool good() const {
    ExecStatusType status = PQresultStatus(result_.get());
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
  }
  // Empty if it is good.
  std::string state() const { return field(PG_DIAG_SQLSTATE); }
  std::string constraint() const { return field(PG_DIAG_CONSTRAINT_NAME); }
  std::string message() const { return PQresultErrorMessage(result_.get()); }
  std::string tag() const { return PQcmdStatus(result_.get()); }
  bool is_conflict() const { return state() == "40001" || state() == "40P01"; }
  int rows() const { return PQntuples(result_.get()); }
  int columns() const { return PQnfields(result_.get()); }
  bool null(int row, int column) const { return PQgetisnull(result_.get(), row, column) != 0; }
  std::string text(int row, int column) const { return PQgetvalue(result_.get(), row, column); }
  int64_t number(int row, int column) const { return std::stoll(text(row, column)); }
  ExecStatusType status() const { return PQresultStatus(result_.get()); }

 private:
  std::string field(int code) const {
    const char* text = PQresultErrorField(result_.get(), code);
    return text == nullptr ? "" : text;
  }
  std::unique_ptr<PGresult, decltype(&PQclear)> result_{nullptr, PQclear};
};

using States = std::vector<std::string_view>;

// It is good, or one of these.
void expect(const Answer& answer, const States& allowed, const std::string& what);
// What somebody who defines may be told where others do: another one was there first.
inline const States definers_meet = {"42701", "42703", "42P01", "42P07", "42710", "42704",
                                     "55000", "40001", "40P01", "54011", "0A000"};

class Client {
 public:
  explicit Client(const InProcessServer& server) : address_(server.address()) { connect(); }

  void connect();
  PGconn* connection() { return connection_.get(); }
  int process() const { return PQbackendPID(connection_.get()); }
  bool lost() const { return PQstatus(connection_.get()) != CONNECTION_OK; }
  Answer run(const std::string& sql) { return Answer(PQexec(connection(), sql.c_str())); }
  // Must be good.
  Answer must(const std::string& sql);
  // With parameters $1, $2, ... as text: parsed each time, or prepared once per text. Preparing may
  // fail within a block, and then is the answer.
  Answer run_extended(const std::string& sql, const std::vector<std::string>& parameters);
  Answer run_prepared(const std::string& sql, const std::vector<std::string>& parameters);
  // Several statements as one query: the answers up to and including the first error.
  std::vector<Answer> run_together(const std::string& sql);
  // Prepared statements up to one Sync, outside of a block. The same.
  struct Call {
    std::string sql;
    std::vector<std::string> parameters;
  };
  std::vector<Answer> run_pipeline(const std::vector<Call>& calls);

 private:
  // The statement's name, or the error in `*failure`.
  std::string prepare(const std::string& sql, Answer* failure);

  std::string address_;
  std::unique_ptr<PGconn, decltype(&PQfinish)> connection_{nullptr, PQfinish};
  std::vector<std::pair<std::string, std::string>> prepared_;  // (text, name)
};

// Runs `body(thread)` in so many threads at once.
void in_threads(int threads, const std::function<void(int)>& body);

}  // namespace pgsilo::server_stress
