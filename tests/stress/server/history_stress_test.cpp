// I10 through SQL: whatever random transactions were answered has one serial order that keeps real
// time (tests/history), on tables with an ordinary and with a unique index: among themselves,
// beside indexes and columns that come and go, and while statements are cancelled and sessions
// ended. PGSILO_HISTORIES=n: n histories of each kind.
#include <atomic>
#include <cstdio>

#include "tests/history/history_checker.h"
#include "tests/stress/sanitized.h"
#include "tests/stress/server/history_reporter_support.h"

namespace pgsilo::server_stress {
namespace {

using history::History;
using history::HistoryChecker;
using history::Recorder;
using history::Verdict;
using history::Version;

constexpr int rounds = sanitized ? 250 : 1000;
constexpr int clients = history_clients;

std::set<Version> notes(Client& client) {
  Answer answer = client.must("SELECT version FROM note");
  std::set<Version> found;
  for (int row = 0; row < answer.rows(); ++row)
    found.insert(static_cast<Version>(answer.number(row, 0)));
  return found;
}

size_t committed_in_all = 0;

enum class Disturbance : uint8_t { none, definitions, ended_sessions };

void disturb(Disturbance disturbance, const InProcessServer& server,
             const SessionProcesses& processes, const std::atomic<int>& running, uint64_t seed) {
  if (disturbance == Disturbance::definitions)
    change_definitions(server, "item (attribute, version)", "seat", running);
  if (disturbance == Disturbance::ended_sessions) end_sessions(server, processes, running, seed);
}

void check_history(uint64_t seed, Disturbance disturbance) {
  InProcessServer server;
  Client client(server);
  create_history_tables(client);
  SessionProcesses processes(clients);
  bool endangered = disturbance == Disturbance::ended_sessions;
  std::vector<std::unique_ptr<Reporter>> reporters;
  for (int i = 0; i < clients; ++i) {
    reporters.push_back(std::make_unique<Reporter>(
        server, i, seed * clients + static_cast<uint64_t>(i), endangered ? &processes : nullptr));
  }
  std::atomic<int> running = clients;
  in_threads(clients + 1, [&](int thread) {
    if (thread == clients) return disturb(disturbance, server, processes, running, seed);
    Reporter& reporter = *reporters[static_cast<size_t>(thread)];
    for (int round = 0; round < rounds && !::testing::Test::HasFailure(); ++round)
      reporter.transaction();
    // The rest are conflicts and duplicates. Only that the test tests something.
    EXPECT_GT(reporter.recorder().committed(), static_cast<size_t>(rounds / 50));
    --running;
  });
  Recorder last(clients);
  read_history_tables(client, last);
  History all = last.history();
  history::Findings findings = last.findings();
  std::set<Version> left = notes(client);
  for (const auto& reporter : reporters) {
    reporter->settle(left);
    committed_in_all += reporter->recorder().committed();
    const History& part = reporter->recorder().history();
    all.insert(all.end(), part.begin(), part.end());
    findings.add(reporter->recorder().findings());
  }
  EXPECT_EQ(findings.complete(&all), "") << "seed " << seed;
  if (::testing::Test::HasFailure()) return;
  Verdict verdict = HistoryChecker(all).check();
  EXPECT_EQ(verdict.violation, "") << "seed " << seed;
  EXPECT_GT(verdict.edges, 100u);
  EXPECT_GT(verdict.choices, 100u);
  server.stop_and_check();
}

void check_histories(Disturbance disturbance) {
  committed_in_all = 0;
  auto [seed, end] = history::seeds_wanted();
  for (; seed < end && !::testing::Test::HasFailure(); ++seed) check_history(seed, disturbance);
  std::printf("%zu transactions committed\n", committed_in_all);
}

TEST(SqlHistoryStress, AnswersHaveOneSerialOrder) { check_histories(Disturbance::none); }

TEST(SqlHistoryStress, AnswersBesideDefinitionsHaveOneSerialOrder) {
  check_histories(Disturbance::definitions);
}

TEST(SqlHistoryStress, AnswersBesideCancelsAndKillsHaveOneSerialOrder) {
  check_histories(Disturbance::ended_sessions);
}

// SQL that changes a part of item 1.
std::string change_of_item(int part, bool uses, const std::string& version) {
  std::string sql = change_of_part(history_tables[0], part, uses, version);
  return sql.replace(sql.find("$1"), 2, "1");
}

// Changes part a with a pause, in which something else is done. How often it ran again.
int64_t retries(Client& slow, Client& other, bool uses, const std::string& beside) {
  other.must("SELECT pg_stat_reset()");
  other.must("SELECT pg_advisory_lock(7)");
  std::string sql =
      change_of_item(0, uses, "CASE WHEN pg_advisory_xact_lock(7) IS NOT NULL THEN 2 END");
  EXPECT_EQ(PQsendQuery(slow.connection(), sql.c_str()), 1);
  std::string waits = "SELECT count(*) FROM pg_locks WHERE NOT granted";
  while (other.must(waits).number(0, 0) == 0 && !::testing::Test::HasFailure()) {
  }
  other.must(beside);
  other.must("SELECT pg_advisory_unlock(7)");
  EXPECT_EQ(Answer(PQgetResult(slow.connection())).tag(), "UPDATE 1");
  while (Answer(PQgetResult(slow.connection()))) {
  }
  return other.must("SELECT sum(retries) FROM pgsilo_stat_statements").number(0, 0);
}

// The changes in the histories go the way of docs/hot_records.md.
TEST(SqlHistoryStress, ChangesOfPartsRestOnWhatTheyUse) {
  InProcessServer server;
  Client slow(server), other(server);
  create_history_tables(other);
  other.must("INSERT INTO item (id, attribute, version) VALUES (1, 1, 1)");
  EXPECT_EQ(retries(slow, other, /*uses=*/false, change_of_item(1, false, "3")), 0);
  EXPECT_EQ(retries(slow, other, false, "UPDATE item SET tally = tally + 1 WHERE id = 1"), 0);
  EXPECT_GT(retries(slow, other, /*uses=*/true, change_of_item(1, false, "4")), 0);
  EXPECT_GT(retries(slow, other, false, change_of_item(0, false, "5")), 0);
  Answer row = other.must(
      "SELECT a1 >> 32, a2 >> 32, a3 >> 32, a3 & 15, b1 >> 32, b2 >> 32, tally FROM item");
  const int64_t expected[] = {2, 5, 2, 4, 4, 3, 1};
  for (int column = 0; column < 7; ++column) EXPECT_EQ(row.number(0, column), expected[column]);
}

}  // namespace
}  // namespace pgsilo::server_stress
