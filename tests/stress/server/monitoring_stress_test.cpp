// Sessions that lock each other's rows and tables, come, go and are ended, while others look at all
// of them.
#include <atomic>
#include <string>

#include "tests/stress/sanitized.h"
#include "tests/stress/server/server_support.h"

namespace pgsilo::server_stress {
namespace {

constexpr int rounds = sanitized ? 60 : 300;
constexpr int writers = 4;

// What becomes of a statement is not the point: conflicts, deadlocks and ends are welcome.
void write(const InProcessServer& server, int number) {
  Client client(server);
  for (int round = 0; round < rounds; ++round) {
    std::string id = std::to_string((round + number) % 5);
    client.run("SET application_name = 'writer " + std::to_string(number) + "'");
    client.run("BEGIN");
    client.run("UPDATE watched SET v = v + 1 WHERE id = " + id);
    client.run_prepared("UPDATE watched SET v = v - 1 WHERE id = $1", {std::to_string(number)});
    client.run(round % 3 == 0 ? "ROLLBACK" : "COMMIT");
    client.run("UPDATE watched SET v = v + 1 WHERE id = " + id);
    if (round % 20 == number) client.run("ALTER TABLE watched ALTER v SET DEFAULT " + id);
    if (PQstatus(client.connection()) != CONNECTION_OK) client.connect();
  }
}

void watch(Client& client) {
  Answer sessions = client.must(
      "SELECT pid, state, query, xact_start <= clock_timestamp(), wait_event FROM pg_stat_activity"
      " WHERE datname = 'postgres'");
  ASSERT_GT(sessions.rows(), 0);
  for (int row = 0; row < sessions.rows(); ++row) {
    EXPECT_TRUE(sessions.null(row, 3) || sessions.text(row, 3) == "t");
    client.must("SELECT pg_blocking_pids(" + sessions.text(row, 0) + ")");
  }
  client.must("SELECT * FROM pg_locks l LEFT JOIN pg_stat_activity a ON a.pid = l.pid");
  Answer waits = client.must(
      "SELECT count(*) FROM pg_locks WHERE NOT granted AND waitstart IS NULL"
      " AND locktype = 'relation'");
  EXPECT_EQ(waits.number(0, 0), 0);
  Answer counted = client.must(
      "SELECT numbackends, xact_commit FROM pg_stat_database WHERE datname = 'postgres'");
  EXPECT_GT(counted.number(0, 0), 0);
  // Behind the other watcher's pg_stat_reset() there may be no statement to count.
  Answer statements =
      client.must("SELECT (sum(calls) >= sum(failures)) IS NOT FALSE FROM pgsilo_stat_statements");
  EXPECT_EQ(statements.text(0, 0), "t");
}

TEST(MonitoringStress, SessionsAreSeenAndEndedAtAnyMoment) {
  InProcessServer server;
  {
    Client client(server);
    client.must("CREATE TABLE watched (id int PRIMARY KEY, v int)");
    client.must("CREATE INDEX watched_v ON watched (v)");
    client.must("INSERT INTO watched SELECT i, 0 FROM generate_series(0, 9) i");
  }
  std::atomic<int> writing{writers};
  in_threads(writers + 2, [&](int thread) {
    if (thread < writers) {
      write(server, thread);
      --writing;
      return;
    }
    Client client(server);
    for (int round = 0; writing > 0; ++round) {
      watch(client);
      if (::testing::Test::HasFailure()) break;
      if (round % 10 == 5) {
        client.must(
            "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = "
            "'writer 1'");
      }
      if (round % 20 == 10) {
        client.must(
            "SELECT pg_terminate_backend(pid, 1000) FROM pg_stat_activity WHERE "
            "application_name = 'writer 2'");
      }
      if (round % 50 == 20) client.must("SELECT pg_stat_reset()");
    }
  });
  Client client(server);
  EXPECT_EQ(client.must("SELECT count(*) FROM pg_locks").number(0, 0), 0);
  EXPECT_EQ(client
                .must("SELECT count(*) FROM pg_stat_activity WHERE state <> 'idle' AND pid <> "
                      "pg_backend_pid()")
                .number(0, 0),
            0);
  server.stop_and_check();
}

}  // namespace
}  // namespace pgsilo::server_stress
