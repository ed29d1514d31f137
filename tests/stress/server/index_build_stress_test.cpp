// Indexes come and go while others insert, change, move and delete rows of the table, at once and
// in blocks, some of which are rolled back. Every index that becomes valid has an entry for each
// row and no other; builds that are cancelled or meet a duplicate leave nothing.
#include <atomic>

#include "base/random.h"
#include "tests/stress/sanitized.h"
#include "tests/stress/server/server_support.h"

namespace pgsilo::server_stress {
namespace {

constexpr int writers = 4;
constexpr int builds = sanitized ? 20 : 100;
constexpr int rows = 2000;

// A writer meets no conflict that it could not run again, and no index without an entry (XX002).
class Writer {
 public:
  Writer(const InProcessServer& server, uint64_t seed) : client_(server), random_(seed) {}

  void round() {
    if (random_.one_in(2)) return expect_good(client_.run(change()));
    bool serializable = random_.one_in(2);
    client_.must(serializable ? "BEGIN" : "BEGIN ISOLATION LEVEL READ COMMITTED");
    Answer answer;
    for (uint64_t left = 1 + random_.below(5); left > 0; --left) {
      answer = client_.run(random_.one_in(6) ? "SAVEPOINT s" : change());
      expect_good(answer, serializable);
      if (!answer.good()) break;
      if (random_.one_in(6)) client_.run("ROLLBACK TO s");
    }
    // A unique index fails whoever comes second.
    expect_good(client_.run(random_.one_in(4) ? "ROLLBACK" : "COMMIT"), serializable);
  }

 private:
  void expect_good(const Answer& answer, bool may_conflict = false) {
    EXPECT_TRUE(answer.good() || answer.state() == "23505" || answer.state() == "25P02" ||
                answer.state() == "40P01" || (may_conflict && answer.state() == "40001"))
        << answer.message();
  }
  std::string any() { return std::to_string(random_.below(rows)); }
  std::string change() {
    std::string row = " WHERE id = " + any();
    switch (random_.below(6)) {
      case 0:
        return "INSERT INTO item VALUES (" + any() + ", " + any() + ", " + any() +
               ") ON CONFLICT (id) DO NOTHING";
      case 1:
        return "DELETE FROM item" + row;
      case 2:
        return "UPDATE item SET id = " + any() + row;
      case 3:
        return "UPDATE item SET a = a + 1 WHERE id BETWEEN " + any() + " AND " + any() +
               " AND b % 10 = 0 AND a < 100";
      default:
        return "UPDATE item SET a = " + any() + ", b = b + " + std::to_string(rows) + row;
    }
  }

  Client client_;
  Random random_;
};

// By the index and by the table at one moment. The index may be used: it is valid. A row whose old
// entry was left in the place of the new one would be counted, but not found by its value.
void check_by_index(Client& client, const std::string& column) {
  client.must("BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE");
  std::string sums = "SELECT count(*), sum(id), sum(a), sum(b) FROM item";
  Answer table = client.must(sums);
  client.must("SET LOCAL enable_seqscan = off");
  Answer index = client.must(sums + " WHERE " + column + " >= -1");
  client.must("SET LOCAL enable_hashjoin = off");
  Answer lost =
      client.must("SELECT count(*) FROM item i WHERE NOT EXISTS (SELECT 1 FROM item j WHERE j." +
                  column + " = i." + column + ")");
  client.must("COMMIT");
  if (::testing::Test::HasFailure()) return;
  EXPECT_EQ(lost.number(0, 0), 0) << column;
  for (int i = 0; i < 4; ++i) EXPECT_EQ(index.text(0, i), table.text(0, i)) << column;
}

void build_and_drop(Client& client, int round) {
  static const std::vector<std::pair<std::string, std::string>> kinds = {
      {"CREATE INDEX made ON item (a)", "a"},
      {"CREATE INDEX CONCURRENTLY made ON item (a, b DESC)", "a"},
      {"CREATE UNIQUE INDEX CONCURRENTLY made ON item (b, id)", "b"},
      {"CREATE UNIQUE INDEX made ON item (b, id)", "b"},
      {"CREATE UNIQUE INDEX CONCURRENTLY made ON item (a)", "a"},
  };
  const auto& [sql, column] = kinds[static_cast<size_t>(round) % kinds.size()];
  bool impatient = round % 3 == 0;
  client.must("SET statement_timeout = " + std::to_string(impatient ? 1 + round % 7 : 0));
  Answer built = client.run(sql);
  client.run("SET statement_timeout = 0");
  bool is_unique = sql.ends_with("UNIQUE INDEX CONCURRENTLY made ON item (a)");
  EXPECT_TRUE(built.good() || (impatient && built.state() == "57014") ||
              (is_unique && built.state() == "23505"))
      << sql << ": " << built.message();
  int64_t there = client.must("SELECT count(*) FROM pg_class WHERE relname = 'made'").number(0, 0);
  EXPECT_EQ(there, built.good() ? 1 : 0);
  if (!built.good()) return;
  check_by_index(client, column);
  client.must("DROP INDEX made");
}

TEST(IndexBuildStress, IndexesAgreeWithTheirTable) {
  InProcessServer server;
  {
    Client client(server);
    client.must("CREATE TABLE item (id int PRIMARY KEY, a int, b int)");
    client.must("INSERT INTO item SELECT i, i, i FROM generate_series(0, " + std::to_string(rows) +
                " - 1) i");
    client.must("CREATE INDEX partial ON item ((a - b), b) WHERE a % 3 = 0");
  }
  std::atomic<bool> building = true;
  in_threads(writers + 1, [&](int thread) {
    if (thread < writers) {
      Writer writer(server, static_cast<uint64_t>(thread) + 1);
      while (building.load() && !HasFailure()) writer.round();
      return;
    }
    Client client(server);
    for (int round = 0; round < builds && !HasFailure(); ++round) build_and_drop(client, round);
    client.must("CREATE INDEX last ON item (a, b)");
    building = false;
  });
  server.stop_and_check();
  server.restart();
  server.stop_and_check();
}

}  // namespace
}  // namespace pgsilo::server_stress
