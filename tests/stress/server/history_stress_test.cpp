// I10 through SQL: whatever random transactions were answered has one serial order that keeps real
// time (tests/history). Autocommit statements, several in one query, pipelines and blocks, as
// simple and as prepared statements, on tables with an ordinary and with a unique index, beside
// indexes that come and go. PGSILO_HISTORIES=n: n histories of each kind.
#include <atomic>
#include <climits>

#include "base/random.h"
#include "tests/history/history_checker.h"
#include "tests/stress/sanitized.h"
#include "tests/stress/server/server_support.h"

namespace pgsilo::server_stress {
namespace {

using history::any_attribute;
using history::History;
using history::HistoryChecker;
using history::Key;
using history::Recorder;
using history::Verdict;
using history::Version;

constexpr int rounds = sanitized ? 250 : 1000;
constexpr int clients = 6;

// The key of row `id` in a history is first + id.
struct Table {
  const char* name;
  Key first;
  int keys;
  int attributes;
  bool unique;
  Key last() const { return first + keys - 1; }
};
constexpr Table tables[] = {{"item", 0, 8, 3, false}, {"seat", 100, 6, 8, true}};

void create_tables(Client& client) {
  for (const Table& table : tables) {
    std::string name = table.name;
    client.must("CREATE TABLE " + name +
                " (id int PRIMARY KEY, attribute int, version bigint, previous bigint)");
    client.must(std::string("CREATE ") + (table.unique ? "UNIQUE " : "") + "INDEX " + name +
                "_attribute ON " + name + " (attribute)");
  }
}

// A statement, and what its answer tells.
struct Statement {
  std::string sql;  // with $1, $2, ...
  std::vector<int64_t> parameters;
  std::function<void(const Answer&)> note;            // when it succeeded
  std::function<void(const Answer&)> note_duplicate;  // 23505

  std::vector<std::string> texts() const {
    std::vector<std::string> texts;
    for (int64_t parameter : parameters) texts.push_back(std::to_string(parameter));
    return texts;
  }
  std::string literal() const {
    std::string text;
    for (size_t i = 0; i < sql.size(); ++i) {
      if (sql[i] != '$') {
        text += sql[i];
      } else {
        text += std::to_string(parameters[static_cast<size_t>(sql[++i] - '1')]);
      }
    }
    return text;
  }
};

// Makes random statements whose answers go into a recorder.
class Author {
 public:
  Author(Recorder& recorder, uint64_t seed) : recorder_(recorder), random_(seed) {}

  uint64_t random(uint64_t bound) { return random_.below(bound); }

  Statement statement() {
    const Table& table = tables[random(2)];
    switch (random(12)) {
      case 0:
        return range(table);
      case 1:
        return by_attribute(table);
      case 2:
        return exists(table);
      case 3:
        return maximum(table);
      case 4:
      case 5:
      case 6:
        return insert(table);
      case 7:
      case 8:
        return update(table);
      case 9:
        return update_by_attribute(table);
      case 10:
        return random(2) == 0 ? remove(table) : remove_by_attribute(table);
      default:
        return by_key(table);
    }
  }

  static std::vector<Recorder::Row> found(const Table& table, const Answer& answer) {
    std::vector<Recorder::Row> rows;
    for (int row = 0; row < answer.rows(); ++row) {
      rows.push_back({table.first + static_cast<Key>(answer.number(row, 0)),
                      static_cast<Version>(answer.number(row, 1))});
    }
    return rows;
  }

 private:
  int any_id(const Table& table) {
    return static_cast<int>(random(static_cast<uint64_t>(table.keys)));
  }
  int any_attribute_of(const Table& table) {
    return static_cast<int>(random(static_cast<uint64_t>(table.attributes)));
  }
  // Versions for all rows of the table: that of row `id` is the first plus `step` times `id`.
  static constexpr int64_t step = 256;
  int64_t versions_for(const Table& table) {
    Version first = recorder_.new_version();
    for (int i = 1; i < table.keys; ++i)
      EXPECT_EQ(recorder_.new_version(), first + static_cast<Version>(step * i));
    return static_cast<int64_t>(first);
  }
  static std::string from(const Table& table) { return std::string(" FROM ") + table.name; }

  Statement by_key(const Table& table) {
    int id = any_id(table);
    return {"SELECT id, version" + from(table) + " WHERE id = $1",
            {id},
            [=, this](const Answer& answer) {
              Key key = table.first + id;
              recorder_.scanned(key, key, any_attribute, found(table, answer));
            },
            {}};
  }

  Statement range(const Table& table) {
    int low = any_id(table), high = any_id(table);
    if (low > high) std::swap(low, high);
    bool down = random(2) == 0;
    int limit = random(2) == 0 ? INT_MAX : 1 + static_cast<int>(random(3));
    return {"SELECT id, version" + from(table) + " WHERE id BETWEEN $1 AND $2 ORDER BY id" +
                (down ? " DESC" : "") + " LIMIT $3",
            {low, high, limit},
            [=, this](const Answer& answer) {
              std::vector<Recorder::Row> rows = found(table, answer);
              Key first = table.first + low, last = table.first + high;
              // What lies behind the last row was not looked at.
              if (answer.rows() == limit) (down ? first : last) = rows.back().key;
              recorder_.scanned(first, last, any_attribute, rows);
            },
            {}};
  }

  Statement by_attribute(const Table& table) {
    int attribute = any_attribute_of(table);
    return {"SELECT id, version" + from(table) + " WHERE attribute = $1",
            {attribute},
            [=, this](const Answer& answer) {
              recorder_.scanned(table.first, table.last(), attribute, found(table, answer));
            },
            {}};
  }

  Statement exists(const Table& table) {
    int attribute = any_attribute_of(table);
    return {"SELECT EXISTS (SELECT 1" + from(table) + " WHERE attribute = $1)",
            {attribute},
            [=, this](const Answer& answer) {
              if (answer.text(0, 0) == "t") {
                recorder_.present(table.first, table.last(), attribute);
              } else {
                recorder_.scanned(table.first, table.last(), attribute, {});
              }
            },
            {}};
  }

  Statement maximum(const Table& table) {
    return {"SELECT max(id)" + from(table),
            {},
            [=, this](const Answer& answer) {
              Key first = table.first;
              if (!answer.null(0, 0)) {
                Key found = first + static_cast<Key>(answer.number(0, 0));
                recorder_.present(found, found);
                first = found + 1;
              }
              recorder_.scanned(first, table.last(), any_attribute, {});
            },
            {}};
  }

  // A row of a unique index got the attribute: no other has it.
  void note_alone(const Table& table, Key key, int attribute) {
    if (!table.unique) return;
    for (Key other = table.first; other <= table.last(); ++other) {
      if (other != key) recorder_.absent(other, attribute);
    }
  }
  void note_duplicate(const Table& table, const Answer& answer, Key key, int attribute) {
    if (answer.constraint() == std::string(table.name) + "_pkey") {
      recorder_.present(key, key);
    } else {
      EXPECT_EQ(answer.constraint(), std::string(table.name) + "_attribute");
      recorder_.present(table.first, table.last(), attribute);
    }
  }

  Statement insert(const Table& table) {
    int id = any_id(table), attribute = any_attribute_of(table);
    Version version = recorder_.new_version();
    Key key = table.first + id;
    bool quiet = random(3) == 0;
    std::string into = std::string("INSERT INTO ") + table.name + " (id, attribute, version) ";
    std::string values = "SELECT $1::int, $2::int, $3::bigint WHERE NOT EXISTS (SELECT 1" +
                         from(table) + " WHERE id = $1)";
    return {into + (quiet ? values : "VALUES ($1, $2, $3)"),
            {id, attribute, static_cast<int64_t>(version)},
            [=, this](const Answer& answer) {
              if (answer.tag() == "INSERT 0 0") {
                recorder_.present(key, key);
                return;
              }
              recorder_.absent(key);
              note_alone(table, key, attribute);
              recorder_.write(key, version, attribute);
            },
            [=, this](const Answer& answer) { note_duplicate(table, answer, key, attribute); }};
  }

  Statement update(const Table& table) {
    int id = any_id(table), attribute = any_attribute_of(table);
    bool moves = random(2) == 0;
    Version version = recorder_.new_version();
    Key key = table.first + id;
    std::vector<int64_t> parameters{id, static_cast<int64_t>(version)};
    if (moves) parameters.push_back(attribute);
    return {std::string("UPDATE ") + table.name + " SET previous = version, version = $2" +
                (moves ? ", attribute = $3" : "") +
                " WHERE id = $1 RETURNING id, previous, attribute",
            std::move(parameters),
            [=, this](const Answer& answer) {
              recorder_.scanned(key, key, any_attribute, found(table, answer));
              if (answer.rows() == 0) return;
              if (moves) note_alone(table, key, attribute);
              recorder_.write(key, version, static_cast<int>(answer.number(0, 2)));
            },
            [=, this](const Answer& answer) {
              recorder_.present(key, key);
              note_duplicate(table, answer, key, attribute);
            }};
  }

  // Of a table without a unique index the rows move to another attribute.
  Statement update_by_attribute(const Table& table) {
    int attribute = any_attribute_of(table);
    int after = table.unique ? attribute : any_attribute_of(table);
    int64_t version = versions_for(table);
    return {std::string("UPDATE ") + table.name + " SET previous = version, version = $2 + " +
                std::to_string(step) +
                " * id, attribute = $3 WHERE attribute = $1"
                " RETURNING id, previous",
            {attribute, version, after},
            [=, this](const Answer& answer) {
              std::vector<Recorder::Row> rows = found(table, answer);
              recorder_.scanned(table.first, table.last(), attribute, rows);
              for (Recorder::Row row : rows)
                recorder_.write(
                    row.key, static_cast<Version>(version + step * (row.key - table.first)), after);
            },
            {}};
  }

  Statement remove(const Table& table) {
    int id = any_id(table);
    Key key = table.first + id;
    return {"DELETE" + from(table) + " WHERE id = $1 RETURNING id, version",
            {id},
            [=, this](const Answer& answer) {
              recorder_.scanned(key, key, any_attribute, found(table, answer));
              if (answer.rows() != 0) recorder_.erase(key);
            },
            {}};
  }

  Statement remove_by_attribute(const Table& table) {
    int attribute = any_attribute_of(table);
    return {"DELETE" + from(table) + " WHERE attribute = $1 RETURNING id, version",
            {attribute},
            [=, this](const Answer& answer) {
              std::vector<Recorder::Row> rows = found(table, answer);
              recorder_.scanned(table.first, table.last(), attribute, rows);
              for (Recorder::Row row : rows) recorder_.erase(row.key);
            },
            {}};
  }

  Recorder& recorder_;
  Random random_;
};

// Runs random transactions and notes their answers.
class Reporter {
 public:
  Reporter(const InProcessServer& server, int thread, uint64_t seed)
      : client_(server), recorder_(thread), author_(recorder_, seed) {}

  void transaction() {
    switch (author_.random(5)) {
      case 0:
      case 1:
        return block();
      case 2:
        return together();
      case 3:
        return pipeline();
      default:
        return alone();
    }
  }

  void read_everything() {
    for (const Table& table : tables) {
      recorder_.begin();
      Answer answer = client_.must(std::string("SELECT id, version FROM ") + table.name);
      recorder_.scanned(table.first, table.last(), any_attribute, Author::found(table, answer));
      recorder_.commit();
    }
  }

  const Recorder& recorder() const { return recorder_; }

 private:
  std::vector<Statement> statements() {
    std::vector<Statement> made;
    for (uint64_t left = 1 + author_.random(4); left > 0; --left)
      made.push_back(author_.statement());
    return made;
  }

  Answer run(const Statement& statement) {
    switch (author_.random(3)) {
      case 0:
        return client_.run(statement.literal());
      case 1:
        return client_.run_extended(statement.sql, statement.texts());
      default:
        return client_.run_prepared(statement.sql, statement.texts());
    }
  }

  // False if the transaction ends with this answer.
  bool note(const Statement& statement, const Answer& answer, bool may_conflict) {
    if (answer.good()) {
      statement.note(answer);
      return true;
    }
    if (answer.state() == "23505" && statement.note_duplicate) {
      statement.note_duplicate(answer);
      recorder_.acknowledge();
    } else {
      EXPECT_TRUE(may_conflict && answer.is_conflict())
          << statement.literal() << ": " << answer.message();
    }
    return false;
  }

  void block() {
    recorder_.begin();
    client_.must("BEGIN");
    bool good = true;
    for (const Statement& statement : statements()) {
      good = note(statement, run(statement), /*may_conflict=*/true);
      if (!good) break;
      recorder_.acknowledge();
    }
    bool committed = false;
    if (good && author_.random(10) != 0) {
      Answer answer = client_.run("COMMIT");
      committed = answer.good();
      EXPECT_TRUE(committed || answer.is_conflict()) << answer.message();
    } else {
      client_.must("ROLLBACK");
    }
    committed ? recorder_.commit() : recorder_.abort();
  }

  // The server runs these again by itself until they meet no conflict.
  void one_shot(const std::vector<Statement>& statements, const std::vector<Answer>& answers) {
    bool good = true;
    for (size_t i = 0; i < answers.size() && good; ++i)
      good = note(statements[i], answers[i], /*may_conflict=*/false);
    EXPECT_TRUE(!good || answers.size() == statements.size());
    good ? recorder_.commit() : recorder_.abort();
  }

  void alone() {
    std::vector<Statement> one{author_.statement()};
    recorder_.begin();
    std::vector<Answer> answers;
    answers.push_back(run(one.front()));
    one_shot(one, answers);
  }

  void together() {
    std::vector<Statement> several = statements();
    std::string text;
    for (const Statement& statement : several) text += statement.literal() + ";";
    recorder_.begin();
    one_shot(several, client_.run_together(text));
  }

  void pipeline() {
    std::vector<Statement> several = statements();
    std::vector<Client::Call> calls;
    for (const Statement& statement : several) calls.push_back({statement.sql, statement.texts()});
    recorder_.begin();
    one_shot(several, client_.run_pipeline(calls));
  }

  Client client_;
  Recorder recorder_;
  Author author_;
};

void check_history(uint64_t seed, bool with_definitions) {
  InProcessServer server;
  Client definer(server);
  create_tables(definer);
  std::vector<History> parts(clients + 1);
  std::atomic<int> running = clients;
  in_threads(clients + (with_definitions ? 1 : 0), [&](int thread) {
    if (thread == clients) {
      while (running.load() > 0) {
        definer.must("CREATE INDEX another ON item (attribute, version)");
        definer.must("DROP INDEX another");
      }
      return;
    }
    Reporter reporter(server, thread, seed * clients + static_cast<uint64_t>(thread));
    for (int round = 0; round < rounds && !::testing::Test::HasFailure(); ++round)
      reporter.transaction();
    parts[static_cast<size_t>(thread)] = reporter.recorder().history();
    // The rest are conflicts and duplicates. Only that the test tests something.
    EXPECT_GT(reporter.recorder().committed(), static_cast<size_t>(rounds / 50));
    --running;
  });
  Reporter reporter(server, clients, seed);
  reporter.read_everything();
  parts[clients] = reporter.recorder().history();
  History all;
  for (const History& part : parts) all.insert(all.end(), part.begin(), part.end());
  Verdict verdict = HistoryChecker(all).check();
  EXPECT_EQ(verdict.violation, "") << "seed " << seed;
  EXPECT_GT(verdict.edges, 100u);
  EXPECT_GT(verdict.choices, 100u);
  server.stop_and_check();
}

TEST(SqlHistoryStress, AnswersHaveOneSerialOrder) {
  for (uint64_t seed = 0; seed < history::histories_wanted() && !HasFailure(); ++seed)
    check_history(seed, /*with_definitions=*/false);
}

TEST(SqlHistoryStress, AnswersBesideDefinitionsHaveOneSerialOrder) {
  for (uint64_t seed = 0; seed < history::histories_wanted() && !HasFailure(); ++seed)
    check_history(seed, /*with_definitions=*/true);
}

}  // namespace
}  // namespace pgsilo::server_stress
