// New clients are served by workers that come for them, whatever another worker is doing.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>

#include "tests/protocol/monitoring_support.h"
#include "tests/protocol/wait_time.h"

namespace pgsilo::protocol_test {
namespace {

// It keeps a worker from everything else for a good part of a second: arithmetic on long numbers in
// a single row does not give way.
std::string one_piece() {
  std::string sum = "0";
  for (int i = 0; i < 400; ++i) sum += " + gcd(x + " + std::to_string(i) + ", y)";
  return "select length((" + sum + ")::text) from (select 10::numeric ^ 130000 - 1 as x, " +
         "10::numeric ^ 129999 - 3 as y offset 0) s";
}

TEST(Reception, ClientsDoNotWaitForABusyWorker) {
  if (runs_on_postgres()) GTEST_SKIP() << "no workers";
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "one worker";
  RawClient busy;
  busy.start();
  busy.send(query(one_piece()) + query(one_piece()) + query(one_piece()));
  // While its text is parsed, by a thread of its own, the worker still comes for clients, and has
  // them when it begins.
  ASSERT_TRUE(busy.is_silent(60));
  int64_t longest_ms = 0;
  int served = 0;
  for (; served < 8 && busy.is_silent(1); ++served) {
    WaitTime wait(busy);
    RawClient client;
    client.start();
    longest_ms = std::max(longest_ms, wait.milliseconds());
  }
  EXPECT_EQ(served, 8);
  EXPECT_LE(longest_ms, 200);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(busy.answer(), "TDCZI");
}

}  // namespace
}  // namespace pgsilo::protocol_test
