// Tables change under their readers and writers: columns come and go, with and without defaults,
// types become others and back, indexes of one name get other keys, constraints, names, trees. Who
// reads beside that meets rows of layouts that his plan does not know (docs/unvalidated_reads.md).
// Nobody may be told anything that nobody wrote, and sums and numbers of rows stay what they are.
// PGSILO_STRESS_ROUNDS=n: n rounds for each client.
#include <atomic>
#include <cstdlib>

#include "base/random.h"
#include "tests/stress/sanitized.h"
#include "tests/stress/server/server_support.h"

namespace pgsilo::server_stress {
namespace {

constexpr int clients = 5;
constexpr int definers = 2;
constexpr int items = sanitized ? 800 : 30000;  // those that stay; their amounts sum up to nothing
constexpr int parts = items / 4;

int rounds() {
  const char* wanted = std::getenv("PGSILO_STRESS_ROUNDS");
  return wanted == nullptr ? (sanitized ? 60 : 25) : std::atoi(wanted);
}

void create_tables(Client& client) {
  client.must(
      "CREATE TABLE item (id int PRIMARY KEY, name text, amount int NOT NULL, kind int,"
      " tag varchar(20))");
  client.must("CREATE TABLE part (id int PRIMARY KEY, item int REFERENCES item, note text)");
  client.must("CREATE INDEX item_kind ON item (kind)");
  client.must("CREATE INDEX part_item ON part (item)");
  client.must(
      "INSERT INTO item SELECT i, 'n' || i || ':', 0, i % 50, i % 9 FROM generate_series(1, " +
      std::to_string(items) + ") i");
  client.must("INSERT INTO part SELECT i, i, 'p' || i FROM generate_series(1, " +
              std::to_string(parts) + ") i");
}

// A statement may come when a column has another name, or its plan another result.
const States renamed = {"42703", "0A000"};

class User {
 public:
  User(const InProcessServer& server, uint64_t seed) : client_(server), random_(seed) {}

  void round() {
    void (User::* actions[])() = {
        &User::look_at_all,     &User::look_at_all,   &User::look_at_names, &User::find_one,
        &User::find_by_kind,    &User::join,          &User::group,         &User::rename_one,
        &User::rename_one,      &User::rename_one,    &User::rename_some,   &User::move_together,
        &User::move_in_a_block, &User::come_and_go,   &User::upsert,        &User::refer,
        &User::copy_out,        &User::copy_in,       &User::look_back,     &User::use_scratch,
        &User::move_in_a_block, &User::look_at_parts, &User::rename_some,   &User::look_at_extras,
    };
    (this->*actions[random_.below(std::size(actions))])();
  }

 private:
  std::string below(uint64_t bound) { return std::to_string(random_.below(bound)); }
  std::string item() { return std::to_string(1 + random_.below(items)); }
  std::string part() { return std::to_string(1 + random_.below(parts)); }

  // One of the ways to say it: alone, parsed anew, prepared.
  Answer run(const std::string& sql, const std::vector<std::string>& parameters) {
    return random_.one_in(2) ? client_.run_prepared(sql, parameters)
                             : client_.run_extended(sql, parameters);
  }

  // 0: none that should not be there.
  void expect_none(const std::string& sql, const States& allowed = renamed) {
    Answer answer = client_.run(sql);
    expect(answer, allowed, sql);
    if (answer.good()) {
      EXPECT_EQ(answer.number(0, 0), 0) << sql;
    }
  }

  void expect_whole(const Answer& answer) {
    expect(answer, renamed, "sum");
    if (!answer.good()) return;
    EXPECT_EQ(answer.number(0, 0), items);
    EXPECT_EQ(answer.number(0, 1), 0);
    EXPECT_LE(answer.number(0, 2), 100);
    EXPECT_EQ(answer.text(0, 3).substr(0, 1), "n");
  }

  static constexpr const char* whole =
      "SELECT count(name), sum(amount), max(length(name)), max(name) FROM item WHERE id <= $1";

  void look_at_all() { expect_whole(run(whole, {std::to_string(items)})); }
  void look_at_names() {
    expect_none("SELECT count(*) FROM item WHERE name NOT LIKE 'n' || id || ':%'");
    expect_none("SELECT count(*) FROM item WHERE tag IS NULL OR length(tag::text) > 5");
  }
  // Columns that come and go, one of them NOT NULL.
  void look_at_extras() {
    expect_none("SELECT count(*) FROM item WHERE extra <> 7 OR length(words) <> 5 AND id <= 10");
    expect_none("SELECT count(*) FROM item WHERE words || name <> 'seven' || name");
    expect(client_.run(
               "UPDATE item SET words = lower(words), extra = 3 + length(words) - 1 WHERE id = " +
               item()),
           renamed, "extras");
  }
  void find_one() {
    std::string id = item();
    Answer answer = run("SELECT * FROM item WHERE id = $1", {id});
    expect(answer, renamed, "find one");
    if (!answer.good()) return;
    ASSERT_EQ(answer.rows(), 1);
    EXPECT_EQ(answer.text(0, 1).find("n" + id + ":"), 0u) << answer.text(0, 1);
  }
  void find_by_kind() {
    std::string kind = below(50);
    Answer answer = client_.run(
        "SELECT count(*), min(id % 50), max(id % 50), max(kind::text) FROM item"
        " WHERE kind = '" +
        kind + "' AND id <= " + std::to_string(items));
    expect(answer, renamed, "kind");
    if (!answer.good()) return;
    EXPECT_EQ(answer.number(0, 0), items / 50);
    for (int column = 1; column < 4; ++column) EXPECT_EQ(answer.text(0, column), kind);
  }
  void join() {
    expect_none("SELECT count(*) FROM part p LEFT JOIN item i ON i.id = p.item WHERE i.id IS NULL");
    expect_none(
        "SELECT count(*) FROM part p JOIN item i ON i.id = p.item"
        " WHERE p.note <> 'p' || p.id OR i.name NOT LIKE 'n' || p.item || ':%'");
  }
  void group() {
    Answer answer = client_.run(
        "SELECT kind::text, count(*), max(name), sum(length(name)) FROM item WHERE id <= " +
        std::to_string(items) + " GROUP BY kind ORDER BY max(name)");
    expect(answer, renamed, "group");
    if (answer.good()) {
      EXPECT_EQ(answer.rows(), 50);
    }
  }
  void look_at_parts() {
    Answer answer = client_.run("SELECT note, id FROM part ORDER BY note, id LIMIT 40");
    expect(answer, renamed, "parts");
    for (int i = 0; i < answer.rows(); ++i) EXPECT_EQ(answer.text(i, 0), "p" + answer.text(i, 1));
  }

  // Many, all over the table: some of them while others are in the middle of it.
  void rename_one() {
    for (int i = 0; i < 20; ++i) {
      Answer answer =
          run("UPDATE item SET name = 'n' || id || ':' || repeat('x', $1) WHERE id = $2",
              {below(60), item()});
      expect(answer, renamed, "rename one");
    }
  }
  void rename_some() {
    std::string kind = below(50);
    expect(client_.run("UPDATE item SET name = 'n' || id || ':' || repeat('y', " + below(60) +
                       ") WHERE kind = '" + kind + "'"),
           renamed, "rename some");
  }

  std::vector<std::string> movement() {
    std::string amount = below(100);
    auto change = [&](const char* sign) {
      return std::string("UPDATE item SET amount = amount ") + sign + amount +
             " WHERE id = " + item();
    };
    return {change("+"), change("-")};
  }
  void move_together() {
    std::vector<std::string> both = movement();
    for (const Answer& answer : client_.run_together(both[0] + ";" + both[1]))
      expect(answer, {}, "move together");
  }
  void move_in_a_block() {
    client_.must(random_.one_in(2) ? "BEGIN" : "BEGIN ISOLATION LEVEL READ COMMITTED");
    std::vector<std::string> statements = movement();
    if (random_.one_in(2)) statements.insert(statements.begin() + 1, "SELECT max(name) FROM item");
    for (const std::string& sql : statements) {
      Answer answer = client_.run(sql);
      expect(answer, {"40001", "40P01", "42703"}, sql);
      if (answer.good()) continue;
      client_.must("ROLLBACK");
      return;
    }
    expect(client_.run("COMMIT"), {"40001"}, "commit");
  }

  void come_and_go() {
    std::string id = std::to_string(items + 1 + random_.below(20));
    if (random_.one_in(2)) {
      expect(run("DELETE FROM item WHERE id = $1", {id}), {"23503"}, "delete");
    } else {
      expect(client_.run("INSERT INTO item (id, name, amount, kind, tag) VALUES (" + id + ", 'n" +
                         id + ":', 0, NULL, '1')"),
             {"23505", "42703"}, "insert");
    }
  }
  void upsert() {
    std::string id = item();
    expect(
        client_.run("INSERT INTO item (id, name, amount, kind, tag) VALUES (" + id + ", 'n" + id +
                    ":u', 0, NULL, '1') ON CONFLICT (id) DO UPDATE SET name = excluded.name"),
        renamed, "upsert");
  }
  void refer() {
    std::string id = std::to_string(parts + 1 + random_.below(20));
    if (random_.one_in(2)) {
      expect(client_.run("DELETE FROM part WHERE id = " + id), {}, "delete part");
    } else {
      expect(run("INSERT INTO part VALUES ($1, $2, $3)", {id, item(), "p" + id}),
             {"23505", "0A000"}, "refer");
    }
    expect(run("UPDATE part SET item = $1 WHERE id = $2", {item(), part()}), renamed, "move part");
  }

  void copy_out() {
    Answer answer = client_.run("COPY (SELECT id, name FROM item) TO STDOUT");
    if (answer.status() != PGRES_COPY_OUT) return expect(answer, renamed, "copy out");
    char* line = nullptr;
    while (PQgetCopyData(client_.connection(), &line, 0) > 0) {
      std::string text = line;
      PQfreemem(line);
      size_t tab = text.find('\t');
      EXPECT_EQ(text.find("n" + text.substr(0, tab) + ":", tab + 1), tab + 1) << text;
    }
    while (Answer end{PQgetResult(client_.connection())}) expect(end, {}, "copy out");
  }
  // What is sent to a statement cannot be sent again: it may meet a conflict.
  void copy_in() {
    Answer answer = client_.run("COPY part (id, item, note) FROM STDIN");
    if (answer.status() != PGRES_COPY_IN) return expect(answer, {"40001"}, "copy in");
    std::string id = std::to_string(parts + 30 + random_.below(20));
    std::string row = id + "\t" + item() + "\tp" + id + "\n";
    EXPECT_EQ(PQputCopyData(client_.connection(), row.data(), static_cast<int>(row.size())), 1);
    EXPECT_EQ(PQputCopyEnd(client_.connection(), nullptr), 1);
    while (Answer end{PQgetResult(client_.connection())})
      expect(end, {"23505", "40001", "40P01"}, "copy in");
    expect(client_.run("DELETE FROM part WHERE id = " + id), {}, "after copy in");
  }

  void look_back() {
    client_.must("BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE");
    std::string sql =
        "SELECT count(*), sum(amount), max(id), max(tag::text) FROM item WHERE id <= " +
        std::to_string(items);
    Answer first = client_.must(sql), second = client_.must(sql);
    int columns = client_.must("SELECT * FROM item WHERE id = 1").columns();
    EXPECT_EQ(client_.must("SELECT * FROM item WHERE id = 2").columns(), columns);
    client_.must("COMMIT");
    if (::testing::Test::HasFailure()) return;
    for (const Answer* answer : {&first, &second}) {
      EXPECT_EQ(answer->number(0, 0), items);
      EXPECT_EQ(answer->number(0, 1), 0);
    }
  }

  // A table that is dropped, made and emptied all the time.
  void use_scratch() {
    States allowed = {"42P01"};
    std::string id = below(50);
    expect(client_.run("INSERT INTO scratch VALUES (" + id + ", 's" + id +
                       "') ON CONFLICT (id) DO UPDATE SET name = excluded.name"),
           allowed, "scratch");
    expect_none("SELECT count(*) FROM scratch WHERE name <> 's' || id", allowed);
    expect(run("DELETE FROM scratch WHERE id = $1", {id}), allowed, "scratch");
  }

  Client client_;
  Random random_;
};

// Each step is undone by the next one that is called of its kind.
class Definer {
 public:
  Definer(const InProcessServer& server, uint64_t seed) : client_(server), random_(seed) {}

  void change() {
    uint64_t kind = random_.below(14);
    for (const std::string& sql : steps(kind)) {
      expect(client_.run(sql), definers_meet, sql);
    }
  }

 private:
  std::vector<std::string> steps(uint64_t kind) {
    switch (kind) {
      case 0:
      case 1:
      case 10:
      case 11:
      case 12:
      case 13:
        return {"ALTER TABLE item ADD COLUMN extra int DEFAULT 7",
                "ALTER TABLE item DROP COLUMN extra"};
      case 2:
        return {
            "ALTER TABLE item ADD COLUMN words text NOT NULL DEFAULT 'seven', ADD COLUMN more text",
            "ALTER TABLE part ADD COLUMN words text", "ALTER TABLE item DROP COLUMN words",
            "ALTER TABLE item DROP COLUMN more", "ALTER TABLE part DROP COLUMN words"};
      case 3:
        return {"ALTER TABLE item ALTER COLUMN kind TYPE text USING kind::text",
                "ALTER TABLE item ALTER COLUMN kind TYPE int USING kind::int"};
      case 4:
        return {"ALTER TABLE item ALTER COLUMN tag TYPE numeric(9,0) USING tag::text::numeric",
                "ALTER TABLE item ALTER COLUMN tag TYPE varchar(20)"};
      case 5:
        return {"CREATE INDEX item_some ON item (name)", "DROP INDEX item_some",
                "CREATE INDEX item_some ON item (amount, kind)", "DROP INDEX item_some"};
      case 6:
        return {
            "ALTER TABLE part DROP CONSTRAINT part_item_fkey",
            "ALTER TABLE part ADD CONSTRAINT part_item_fkey FOREIGN KEY (item) REFERENCES item"};
      case 7:
        return {"ALTER TABLE item RENAME COLUMN name TO label",
                "ALTER TABLE item RENAME COLUMN label TO name"};
      case 8:
        return {"CREATE TABLE scratch (id int PRIMARY KEY, name text)", "TRUNCATE scratch",
                "DROP TABLE scratch", "CREATE TABLE scratch (id int PRIMARY KEY, name varchar(9))",
                "CREATE INDEX ON scratch (name)"};
      default:
        return {"ALTER TABLE item ADD CONSTRAINT named CHECK (name IS NOT NULL)",
                "ALTER TABLE item ALTER COLUMN tag SET NOT NULL",
                "ALTER TABLE item DROP CONSTRAINT named",
                "ALTER TABLE item ALTER COLUMN tag DROP NOT NULL"};
    }
  }

  Client client_;
  Random random_;
};

TEST(ChangingLayoutStress, NobodyReadsWhatNobodyWrote) {
  InProcessServer server;
  {
    Client client(server);
    create_tables(client);
  }
  std::atomic<int> running = clients;
  in_threads(clients + definers, [&](int thread) {
    auto seed = static_cast<uint64_t>(thread) + 1;
    if (thread >= clients) {
      Definer definer(server, seed);
      while (running.load() > 0 && !HasFailure()) definer.change();
      return;
    }
    User user(server, seed);
    for (int left = rounds(); left > 0 && !HasFailure(); --left) user.round();
    --running;
  });
  server.stop_and_check();
  server.restart();
  Client client(server);
  Answer sums =
      client.must("SELECT count(*), sum(amount) FROM item WHERE id <= " + std::to_string(items));
  EXPECT_EQ(sums.number(0, 0), items);
  EXPECT_EQ(sums.number(0, 1), 0);
}

}  // namespace
}  // namespace pgsilo::server_stress
