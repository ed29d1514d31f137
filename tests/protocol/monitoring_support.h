// Looking at one session from another: what pg_stat_activity says of it, and waiting until it says
// so. Thread safety: none.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include "tests/protocol/raw_client.h"

namespace pgsilo::protocol_test {

// PostgreSQL, which passes these tests too, lacks some of what they look at.
inline bool runs_on_postgres() { return std::getenv("PGSILO_LOG") == nullptr; }

// Looks at other sessions, and at nothing else, from one of its own.
class Observer {
 public:
  Observer() { client_.start(); }
  RawClient& client() { return client_; }

  std::string column(const RawClient& session, const std::string& expression) {
    return client_.first_value("select " + expression + " from pg_stat_activity where pid = " +
                               std::to_string(session.process));
  }
  // Until the expression over the session's row is true.
  void await(const RawClient& session, const std::string& condition) {
    for (int round = 0; round < 2000; ++round) {
      if (column(session, "count(*) filter (where " + condition + ")") == "1") return;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    ADD_FAILURE() << "never: " << condition << "; it is "
                  << column(session, "concat_ws(' ', state, wait_event_type, wait_event, query)");
  }
  void await_end(int process) {
    std::string sql =
        "select count(*) from pg_stat_activity where pid = " + std::to_string(process);
    for (int round = 0; round < 2000; ++round) {
      if (client_.first_value(sql) == "0") return;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    ADD_FAILURE() << "session " << process << " does not end";
  }
  std::string cancel(const RawClient& session) {
    return client_.first_value("select pg_cancel_backend(" + std::to_string(session.process) + ")");
  }
  std::string terminate(const RawClient& session) {
    return client_.first_value("select pg_terminate_backend(" + std::to_string(session.process) +
                               ")");
  }

 private:
  RawClient client_;
};

}  // namespace pgsilo::protocol_test
