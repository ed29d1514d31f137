// Sessions that go from worker to worker behind each transaction, while others cancel and end them,
// look at them and hold locks, and the server stops in the midst of it. Each answer is that of the
// session's own state. Runs under ThreadSanitizer too.
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/process_memory.h"
#include "base/random.h"
#include "tests/stress/sanitized.h"
#include "tests/stress/server/server_support.h"

namespace pgsilo::server_stress {
namespace {

constexpr int clients = 8;
constexpr int rounds = sanitized ? 150 : 1500;

// What it has set and prepared is there in each round, and the values of sequences are its own. All
// prepare the same texts; some under settings that they change then, so that plans which others
// run as well go from worker to worker.
void keep_state(const InProcessServer& server, int number, std::atomic<int>& moved) {
  Client client(server);
  std::string mine = std::to_string(number);
  client.must("SET my.number TO " + mine);
  std::string process = client.must("SELECT pg_backend_pid()").text(0, 0);
  const std::string day = "SELECT '03/04/2020'::date + $1::int";
  client.must("SET datestyle TO 'iso, dmy'");
  EXPECT_EQ(client.run_prepared(day, {"0"}).text(0, 0), "2020-04-03");
  client.must("PREPARE mine (int) AS SELECT " + mine + " * 1000 + $1");
  bool changes = number % 2 == 0;
  int64_t last = 0;
  Random random(static_cast<uint64_t>(number));
  for (int round = 0; round < rounds && !::testing::Test::HasFailure(); ++round) {
    EXPECT_EQ(client.must("SHOW my.number").text(0, 0), mine);
    EXPECT_EQ(client.must("SELECT pg_backend_pid()").text(0, 0), process);
    if (changes && random.one_in(16))
      client.must(random.one_in(2) ? "SET datestyle TO 'iso, mdy'" : "SET datestyle TO 'iso, dmy'");
    EXPECT_EQ(client.run_prepared(day, {"1"}).text(0, 0), "2020-04-04");
    if (random.one_in(8)) {
      client.must("SELECT pg_advisory_lock(" + mine + ")");
      EXPECT_EQ(client.must("SELECT pg_advisory_unlock(" + mine + ")").text(0, 0), "t");
    }
    if (random.one_in(4)) {
      uint64_t value = random.below(1000);
      Answer answer = client.must("EXECUTE mine (" + std::to_string(value) + ")");
      EXPECT_EQ(answer.number(0, 0), number * 1000 + static_cast<int64_t>(value));
    }
    if (last != 0) {
      EXPECT_EQ(client.run_prepared("SELECT currval('moving')", {}).number(0, 0), last);
    }
    if (random.one_in(4)) {
      int64_t next = client.run_prepared("SELECT nextval('moving')", {}).number(0, 0);
      EXPECT_GT(next, last);
      last = next;
    }
  }
  moved += std::stoi(
      client.must("SELECT moves FROM pgsilo_sessions WHERE pid = pg_backend_pid()").text(0, 0));
}

// Cancels at random, and looks at everybody. Cancelled is only what sleeps.
void disturb(const InProcessServer& server, const std::atomic<bool>& stops) {
  Client client(server);
  Client sleeper(server);
  std::string process = sleeper.must("SELECT pg_backend_pid()").text(0, 0);
  std::atomic<bool> wakes{false};
  std::thread sleeps([&] {
    while (!wakes) static_cast<void>(sleeper.run("SELECT pg_sleep(0.001)"));
  });
  while (!stops) {
    client.must("SELECT pg_cancel_backend(" + process + ")");
    client.must("SELECT count(*), sum(moves) FROM pgsilo_sessions");
    client.must("SELECT pid, state, wait_event, query FROM pg_stat_activity");
    client.must("SELECT * FROM pg_locks");
    client.must("SELECT count(*) FROM pgsilo_stat_statements");
  }
  wakes = true;
  sleeps.join();
}

TEST(SessionMoveStress, NothingIsLostOnTheWay) {
  InProcessServer server("always");
  Client(server).must("CREATE SEQUENCE moving CACHE 5");
  std::atomic<int> running{clients}, moved{0};
  std::atomic<bool> stops{false};
  in_threads(clients + 1, [&](int thread) {
    if (thread == clients) return disturb(server, stops);
    keep_state(server, thread + 1, moved);
    if (--running == 0) stops = true;
  });
  if (!::testing::Test::HasFailure()) {
    EXPECT_GT(moved, clients * rounds);
  }
}

// Those who come share what is planned with those who are there, also when it is planned again.
// Each of these plans takes some 100 kB.
TEST(SessionMoveStress, PlansAreShared) {
  if (sanitized) GTEST_SKIP() << "the allocator keeps what was freed";
  InProcessServer server("always");
  Client definer(server);
  definer.must("CREATE TABLE shared (id int PRIMARY KEY, a int)");
  std::string sql = "SELECT count(*) FROM shared WHERE a = 0";
  for (int i = 1; i < 400; ++i) sql += " OR a + " + std::to_string(i) + " = id";
  std::vector<std::unique_ptr<Client>> sessions(60);
  for (auto& session : sessions) session = std::make_unique<Client>(server);
  auto used_after_rounds = [&] {
    for (int round = 0; round < 4; ++round) {
      for (auto& session : sessions) EXPECT_EQ(session->run_prepared(sql, {}).text(0, 0), "0");
    }
    // What a session has run last is kept by itself.
    for (auto& session : sessions) session->must("SELECT 1");
    return static_cast<int64_t>(measure_process_memory().used);
  };
  int64_t before = used_after_rounds();
  definer.must("CREATE INDEX ON shared (a)");
  EXPECT_LT(used_after_rounds() - before, 2'000'000);
}

// The server stops while they are on their way now and then: none is left behind.
TEST(SessionMoveStress, TheServerStopsInTheMidstOfIt) {
  for (int round = 0; round < (sanitized ? 3 : 10); ++round) {
    InProcessServer server("always");
    std::atomic<int> begun{0};
    std::thread stopper([&] {
      while (begun < clients * 20) std::this_thread::yield();
      server.restart();
    });
    in_threads(clients, [&](int) {
      Client client(server);
      for (;;) {
        Answer answer = client.run("SELECT 1");
        ++begun;
        if (answer.good()) continue;
        EXPECT_TRUE(client.lost()) << answer.message();
        break;
      }
    });
    stopper.join();
  }
}

}  // namespace
}  // namespace pgsilo::server_stress
