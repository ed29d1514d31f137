// The ring (FoundationDB's Cycle) through SQL: rows 0..n-1 name the next one, all together one
// cycle. Each transaction turns three neighbours, which anything but serializable execution tears:
// as one statement or as a block, by key or by the index on the next one, in place or by deleting
// and inserting. Beside them statements are cancelled, sessions are ended, and indexes and columns
// come and go. PGSILO_STRESS_ROUNDS=n: n rounds for each client.
#include <array>
#include <atomic>
#include <cstdlib>

#include "base/random.h"
#include "tests/stress/sanitized.h"
#include "tests/stress/server/disturbance_support.h"

namespace pgsilo::server_stress {
namespace {

constexpr int size = 20;
constexpr int clients = 6;

int rounds() {
  const char* wanted = std::getenv("PGSILO_STRESS_ROUNDS");
  if (wanted != nullptr) return std::atoi(wanted);
  return sanitized ? 150 : 800;
}

void create_ring(Client& client) {
  std::string n = std::to_string(size);
  client.must("CREATE TABLE ring (id int PRIMARY KEY, next int NOT NULL)");
  client.must("CREATE INDEX ring_next ON ring (next)");
  client.must("INSERT INTO ring SELECT i, (i + 1) % " + n + " FROM generate_series(0, " + n +
              " - 1) i");
}

void expect_one_cycle(const Answer& answer) {
  ASSERT_EQ(answer.rows(), size);
  int at = 0;
  for (int step = 1; step <= size; ++step) {
    ASSERT_EQ(answer.number(at, 0), at);
    at = static_cast<int>(answer.number(at, 1));
    ASSERT_TRUE(at != 0 || step == size) << "a cycle of length " << step;
  }
}

// One session. What it is told must be of one ring, whether it commits then or not.
class Turner {
 public:
  Turner(const InProcessServer& server, SessionProcesses& processes, size_t session)
      : client_(server), processes_(processes), session_(session), random_(session + 1) {
    processes_.publish(session_, client_);
  }

  void round() {
    if (random_.one_in(10)) {
      audit();
    } else if (random_.one_in(2)) {
      turn_in_one_statement();
    } else {
      turn_in_a_block();
    }
    if (!client_.lost()) return;
    client_.connect();
    processes_.publish(session_, client_);
  }

  int turned() const { return turned_; }

 private:
  std::string any_id() { return std::to_string(random_.below(size)); }

  bool ended(const Answer& answer) const { return answer.state() == "57014" || client_.lost(); }
  void audit() {
    Answer answer = client_.run("SELECT id, next FROM ring ORDER BY id");
    EXPECT_TRUE(answer.good() || ended(answer)) << answer.message();
    if (answer.good()) expect_one_cycle(answer);
  }

  // a -> b -> c -> d becomes a -> c -> b -> d.
  void turn_in_one_statement() {
    Answer answer = client_.run(
        "UPDATE ring r SET next = CASE r.id WHEN a THEN c WHEN b THEN d ELSE b END FROM"
        " (SELECT x.id AS a, y.id AS b, z.id AS c, z.next AS d FROM ring x, ring y, ring z"
        "  WHERE x.id = " +
        any_id() +
        " AND y.id = x.next AND z.id = y.next) turn"
        " WHERE r.id = a OR r.id = b OR r.id = c");
    EXPECT_TRUE(answer.good() || ended(answer)) << answer.message();
    if (!answer.good()) return;
    EXPECT_EQ(answer.tag(), "UPDATE 3");
    ++turned_;
  }

  void turn_in_a_block() {
    bool good = does("BEGIN") && turn() && !random_.one_in(10);
    if (good && does("COMMIT")) {
      ++turned_;
      return;
    }
    while (!client_.lost() && !client_.run("ROLLBACK").good()) {
    }
  }

  bool turn() {
    std::array<std::string, 4> ids{any_id(), "", "", ""};
    for (size_t i = 1; i < ids.size(); ++i) {
      if (!follow(ids[i - 1], &ids[i])) return false;
    }
    auto& [a, b, c, d] = ids;
    std::string to_d = random_.one_in(3) ? "DELETE FROM ring WHERE id = " + b +
                                               "; INSERT INTO ring VALUES (" + b + ", " + d + ")"
                                         : "UPDATE ring SET next = " + d + " WHERE id = " + b;
    if (random_.one_in(4) &&
        !(does("SAVEPOINT here") && does("DELETE FROM ring") && does("ROLLBACK TO here")))
      return false;
    // By the index: a alone leads to b.
    return does("UPDATE ring SET next = " + c + " WHERE next = " + b) && does(to_d) &&
           does("UPDATE ring SET next = " + b + " WHERE id = " + c);
  }

  bool follow(const std::string& id, std::string* next) {
    Answer answer = client_.run("SELECT next FROM ring WHERE id = " + id);
    if (!may_fail(answer)) return false;
    EXPECT_EQ(answer.rows(), 1);
    if (answer.rows() == 1) *next = answer.text(0, 0);
    return answer.rows() == 1;
  }

  bool does(const std::string& sql) { return may_fail(client_.run(sql)); }
  bool may_fail(const Answer& answer) const {
    EXPECT_TRUE(answer.good() || answer.is_conflict() || ended(answer)) << answer.message();
    return answer.good();
  }

  Client client_;
  SessionProcesses& processes_;
  const size_t session_;
  Random random_;
  int turned_ = 0;
};

TEST(RingStress, StaysOneCycleBesideCancelsKillsAndDefinitions) {
  InProcessServer server;
  Client client(server);
  create_ring(client);
  SessionProcesses processes(clients);
  std::vector<std::unique_ptr<Turner>> turners;
  for (size_t i = 0; i < clients; ++i)
    turners.push_back(std::make_unique<Turner>(server, processes, i));
  std::atomic<int> running = clients;
  in_threads(clients + 2, [&](int thread) {
    if (thread == clients) return end_sessions(server, processes, running, 1);
    if (thread == clients + 1)
      return change_definitions(server, "ring (next, id)", "ring", running);
    Turner& turner = *turners[static_cast<size_t>(thread)];
    for (int round = 0; round < rounds() && !HasFailure(); ++round) turner.round();
    EXPECT_GT(turner.turned(), rounds() / 50);
    --running;
  });
  expect_one_cycle(client.must("SELECT id, next FROM ring ORDER BY id"));
  turners.clear();
  server.stop_and_check();
}

}  // namespace
}  // namespace pgsilo::server_stress
