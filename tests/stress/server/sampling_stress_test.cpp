// Tables are looked at for the planner, without locks and without registering anything, while they
// change, become others, are emptied and dropped (docs/statistics.md). Sanitizers watch; what
// samples and pg_class say must be what the table may have had.
// PGSILO_STRESS_ROUNDS=n: n rounds for each client.
#include <atomic>
#include <cstdlib>

#include "base/random.h"
#include "tests/stress/sanitized.h"
#include "tests/stress/server/server_support.h"

namespace pgsilo::server_stress {
namespace {

constexpr int lookers = 3;
constexpr int writers = 2;
constexpr int definers = 2;
// More than are looked at one by one (limits::wholly_sampled_rows).
constexpr int rows = 12000;
constexpr int kinds = 40;

int rounds() {
  const char* wanted = std::getenv("PGSILO_STRESS_ROUNDS");
  return wanted == nullptr ? (sanitized ? 40 : 100) : std::atoi(wanted);
}

// Workers count apart: who adds up may see what one has put in and not yet what another took out.
constexpr int most_counted = 2 * rows;

const std::string fill = "INSERT INTO sampled SELECT i / 300, i, i % " + std::to_string(kinds) +
                         ", repeat('x', i % 30) FROM generate_series(1, " + std::to_string(rows) +
                         ") i ON CONFLICT DO NOTHING";

void create_table(Client& client) {
  client.must(
      "CREATE TABLE sampled (layer int, id int, kind int, words text, PRIMARY KEY (layer, id))");
  client.must("CREATE INDEX sampled_kind ON sampled (kind, layer)");
  client.must(fill);
}

// The table, its columns and its indexes come and go.
const States gone = {"42P01", "42703", "0A000"};

// "rows=N" of the topmost node.
double estimate(const Answer& plan) {
  std::string line = plan.text(0, 0);
  size_t at = line.find(" rows=");
  return at == std::string::npos ? -1 : std::stod(line.substr(at + 6));
}

class Looker {
 public:
  Looker(const InProcessServer& server, uint64_t seed) : client_(server), random_(seed) {}

  void round() {
    switch (random_.below(6)) {
      case 0:
        return expect(client_.run("ANALYZE sampled"), gone, "analyze");
      case 1:
        return expect(client_.run(random_.one_in(2) ? "ANALYZE" : "VACUUM (ANALYZE) sampled"), gone,
                      "analyze all");
      case 2:
        return look_at_class();
      case 3:
        return look_at_plan("EXPLAIN SELECT kind, count(*) FROM sampled GROUP BY kind",
                            most_counted);
      case 4:
        return look_at_plan("EXPLAIN SELECT * FROM sampled a JOIN sampled b USING (kind, layer)",
                            1e12);
      default:
        return run_prepared();
    }
  }

 private:
  void look_at_plan(const std::string& sql, double most) {
    Answer answer = client_.run(sql);
    expect(answer, gone, sql);
    if (!answer.good()) return;
    EXPECT_GE(estimate(answer), 0) << sql;
    EXPECT_LE(estimate(answer), most) << sql;
  }
  void look_at_class() {
    Answer answer = client_.run(
        "SELECT reltuples, relpages FROM pg_class WHERE relname IN ('sampled', 'sampled_kind')");
    expect(answer, {}, "pg_class");
    for (int i = 0; i < answer.rows(); ++i) {
      double told = std::stod(answer.text(i, 0));
      EXPECT_GE(told, -1);
      EXPECT_LE(told, most_counted);
      EXPECT_GE(answer.number(i, 1), 0);
    }
  }
  // Its plan is looked at for its age each time.
  void run_prepared() {
    for (int i = 0; i < 5; ++i) {
      expect(client_.run_prepared("SELECT count(*) FROM sampled WHERE kind = $1",
                                  {std::to_string(random_.below(kinds))}),
             gone, "prepared");
    }
  }

  Client client_;
  Random random_;
};

class Writer {
 public:
  Writer(const InProcessServer& server, uint64_t seed) : client_(server), random_(seed) {}

  void round() {
    std::string layer = std::to_string(random_.below(rows / 300));
    switch (random_.below(3)) {
      case 0:
        return expect(client_.run("DELETE FROM sampled WHERE layer = " + layer), gone, "delete");
      case 1:
        return expect(
            client_.run("UPDATE sampled SET kind = (kind + 1) % " + std::to_string(kinds) +
                        ", words = words || 'y' WHERE layer = " + layer),
            gone, "update");
      default:
        return expect(client_.run(fill), {"42P01", "42703", "42601", "0A000", "42804"}, "fill");
    }
  }

 private:
  Client client_;
  Random random_;
};

class Definer {
 public:
  Definer(const InProcessServer& server, uint64_t seed) : client_(server), random_(seed) {}

  void change() {
    for (const std::string& sql : steps(random_.below(7))) {
      expect(client_.run(sql), definers_meet, sql);
    }
  }

 private:
  static std::vector<std::string> steps(uint64_t kind) {
    switch (kind) {
      case 0:
        return {"TRUNCATE sampled", fill};
      case 1:
        return {
            "DROP TABLE sampled",
            "CREATE TABLE sampled (layer int, id int, kind int, words text, PRIMARY KEY (layer, "
            "id))",
            fill, "CREATE INDEX sampled_kind ON sampled (kind, layer)"};
      case 2:
        return {"ALTER TABLE sampled ADD COLUMN more int DEFAULT 7",
                "ALTER TABLE sampled DROP COLUMN more"};
      case 3:
        return {"ALTER TABLE sampled ALTER COLUMN kind TYPE bigint",
                "ALTER TABLE sampled ALTER COLUMN kind TYPE int"};
      case 4:
        return {"DROP INDEX sampled_kind",
                "CREATE INDEX CONCURRENTLY sampled_kind ON sampled (kind, layer)"};
      case 5:
        return {"CREATE INDEX sampled_words ON sampled (words, kind)", "DROP INDEX sampled_words"};
      default:
        return {"ALTER TABLE sampled RENAME TO resampled",
                "ALTER TABLE resampled RENAME TO sampled"};
    }
  }

  Client client_;
  Random random_;
};

TEST(SamplingStress, LooksAtTablesThatBecomeOthers) {
  InProcessServer server;
  {
    Client client(server);
    create_table(client);
  }
  std::atomic<int> running = lookers;
  in_threads(lookers + writers + definers, [&](int thread) {
    auto seed = static_cast<uint64_t>(thread) + 1;
    if (thread < lookers) {
      Looker looker(server, seed);
      for (int left = rounds(); left > 0 && !HasFailure(); --left) looker.round();
      --running;
    } else if (thread < lookers + writers) {
      Writer writer(server, seed);
      while (running.load() > 0 && !HasFailure()) writer.round();
    } else {
      Definer definer(server, seed);
      while (running.load() > 0 && !HasFailure()) definer.change();
    }
  });
  {
    Client client(server);
    client.must("ANALYZE");
    Answer told = client.must(
        "SELECT reltuples = (SELECT count(*) FROM sampled) FROM pg_class"
        " WHERE relname = 'sampled'");
    EXPECT_EQ(told.text(0, 0), "t");
  }
  server.stop_and_check();
}

}  // namespace
}  // namespace pgsilo::server_stress
