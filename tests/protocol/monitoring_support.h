// Looking at one session from another: what pg_stat_activity says of it, and waiting until it says
// so. Thread safety: none.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>

#include "tests/protocol/raw_client.h"

namespace pgsilo::protocol_test {

// PostgreSQL, which passes these tests too, lacks some of what they look at.
inline bool runs_on_postgres() { return std::getenv("PGSILO_LOG") == nullptr; }

// Looks at other sessions from one of its own, which does nothing else.
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
  // Sends the message and waits until the session waits for a lock.
  void send_blocked(RawClient& session, const std::string& bytes) {
    session.send(bytes);
    await(session, "wait_event_type = 'Lock'");
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

// Where a statement evaluates this, while_paused() makes it wait; it is not null.
inline const std::string pause = "pg_advisory_xact_lock(77)";

// Sends the message and calls `action` while the session waits at `pause`. It goes on then; its
// answer is the caller's to read.
inline void while_paused(RawClient& session, const std::string& bytes,
                         const std::function<void()>& action) {
  Observer observer;
  observer.client().first_value("select pg_advisory_lock(77)");
  observer.send_blocked(session, bytes);
  action();
  EXPECT_EQ(observer.client().first_value("select pg_advisory_unlock(77)"), "t");
}

}  // namespace pgsilo::protocol_test
