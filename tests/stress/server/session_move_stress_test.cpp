// Sessions that go from worker to worker behind each transaction, while others cancel and end them,
// look at them and hold locks, and the server stops in the midst of it. Each answer is that of the
// session's own state. Runs under ThreadSanitizer too.
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "tests/stress/sanitized.h"
#include "tests/stress/server/server_support.h"

namespace pgsilo::server_stress {
namespace {

constexpr int clients = 8;
constexpr int rounds = sanitized ? 150 : 1500;

// What it has set is there in each round; what it prepares holds it where it is until it lets go of
// it.
void keep_state(const InProcessServer& server, int number, std::atomic<int>& moved) {
  Client client(server);
  std::string mine = std::to_string(number);
  client.must("SET my.number TO " + mine);
  std::string process = client.must("SELECT pg_backend_pid()").text(0, 0);
  Random random(static_cast<uint64_t>(number));
  for (int round = 0; round < rounds && !::testing::Test::HasFailure(); ++round) {
    EXPECT_EQ(client.must("SHOW my.number").text(0, 0), mine);
    EXPECT_EQ(client.must("SELECT pg_backend_pid()").text(0, 0), process);
    if (random.one_in(8)) {
      client.must("SELECT pg_advisory_lock(" + mine + ")");
      EXPECT_EQ(client.must("SELECT pg_advisory_unlock(" + mine + ")").text(0, 0), "t");
    }
    if (random.one_in(4)) {
      client.must("PREPARE mine (int) AS SELECT " + mine + " * 1000 + $1");
      uint64_t value = random.below(1000);
      Answer answer = client.must("EXECUTE mine (" + std::to_string(value) + ")");
      EXPECT_EQ(answer.number(0, 0), number * 1000 + static_cast<int64_t>(value));
      client.must("DEALLOCATE mine");
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
  }
  wakes = true;
  sleeps.join();
}

TEST(SessionMoveStress, NothingIsLostOnTheWay) {
  InProcessServer server("always");
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
