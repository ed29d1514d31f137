// A session whose moves from worker to worker are looked at from another one.
// Thread safety: none.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/protocol/monitoring_support.h"

namespace pgsilo::protocol_test {

class SessionMoveTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (runs_on_postgres()) GTEST_SKIP() << "no workers";
    always_ = observer.client().first_value("show session_balancing") == "always";
    client.start();
  }
  std::string of(const RawClient& session, const std::string& column) {
    return observer.client().first_value("select " + column + " from pgsilo_sessions where pid = " +
                                         std::to_string(session.process));
  }
  int moves() { return std::stoi(of(client, "moves")); }
  // Four transactions; where sessions always move this one has moved with each.
  void go_round() {
    int before = moves();
    for (int i = 0; i < 4; ++i) ASSERT_EQ(client.ask(query("select 1")), "TDCZI");
    if (always_) {
      EXPECT_EQ(moves(), before + 4);
    }
  }
  // One transaction that only runs this statement; the first column of its rows.
  std::string run(const std::string& statement, const std::vector<std::string>& parameters = {}) {
    client.send(protocol_test::bind("", statement, parameters) + execute() + sync());
    return first_column(client.read_answer());
  }
  // The same where something keeps it in its place.
  void stay() {
    int before = moves();
    for (int i = 0; i < 4; ++i) ASSERT_EQ(client.ask(query("select 1")), "TDCZI");
    EXPECT_EQ(moves(), before);
  }

  RawClient client;
  Observer observer;
  bool always_ = false;
};

}  // namespace pgsilo::protocol_test
