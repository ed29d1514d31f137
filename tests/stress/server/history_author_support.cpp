#include "tests/stress/server/history_author_support.h"

#include <algorithm>
#include <climits>

namespace pgsilo::server_stress {

using history::any_attribute;
using history::Key;
using history::Recorder;
using history::Version;

namespace {

constexpr Table tables[] = {{"item", 0, 8, 3, false}, {"seat", 100, 6, 8, true}};
// Versions for all rows of a table: that of row `id` is the first plus `step` times `id`.
constexpr int64_t step = 256;

std::string from(const Table& table) { return std::string(" FROM ") + table.name; }

// Of rows (id, version, ...).
std::vector<Recorder::Row> found(const Table& table, const Answer& answer) {
  std::vector<Recorder::Row> rows;
  for (int row = 0; row < answer.rows(); ++row) {
    rows.push_back({table.first + static_cast<Key>(answer.number(row, 0)),
                    static_cast<Version>(answer.number(row, 1))});
  }
  return rows;
}

}  // namespace

void create_history_tables(Client& client) {
  for (const Table& table : tables) {
    std::string name = table.name;
    client.must("CREATE TABLE " + name +
                " (id int PRIMARY KEY, attribute int, version bigint, previous bigint)");
    client.must(std::string("CREATE ") + (table.unique ? "UNIQUE " : "") + "INDEX " + name +
                "_attribute ON " + name + " (attribute)");
  }
  client.must("CREATE TABLE note (version bigint PRIMARY KEY)");
}

void read_history_tables(Client& client, Recorder& recorder) {
  for (const Table& table : tables) {
    recorder.begin();
    Answer answer = client.must(std::string("SELECT id, version FROM ") + table.name);
    recorder.scanned(table.first, table.last(), any_attribute, found(table, answer));
    recorder.commit();
  }
}

const Table& Author::any_table() { return tables[random(2)]; }

Statement Author::statement() {
  const Table& table = any_table();
  switch (random(13)) {
    case 0:
    case 1:
      return insert(table, /*quiet=*/false);
    case 2:
      return insert(table, /*quiet=*/true);
    case 3:
      return insert_or_update(table);
    case 4:
    case 5:
      return update(table);
    case 6:
      return update_by_attribute(table);
    case 7:
      return random(2) == 0 ? remove(table) : remove_by_attribute(table);
    default:
      return query(table);
  }
}

Statement Author::query() { return query(any_table()); }

Statement Author::plain_insert() { return insert(any_table(), /*quiet=*/false); }

Statement Author::query(const Table& table) {
  switch (random(5)) {
    case 0:
      return range(table);
    case 1:
      return by_attribute(table);
    case 2:
      return exists(table);
    case 3:
      return maximum(table);
    default:
      return by_key(table);
  }
}

int Author::any_id(const Table& table) {
  return static_cast<int>(random(static_cast<uint64_t>(table.keys)));
}
int Author::any_attribute_of(const Table& table) {
  return static_cast<int>(random(static_cast<uint64_t>(table.attributes)));
}

int64_t Author::versions_for(const Table& table) {
  Version first = recorder_.new_version();
  for (int i = 1; i < table.keys; ++i)
    EXPECT_EQ(recorder_.new_version(), first + static_cast<Version>(step * i));
  return static_cast<int64_t>(first);
}

Statement Author::by_key(const Table& table) {
  int id = any_id(table);
  const char* lock[] = {"", "", " FOR UPDATE", " FOR SHARE"};
  return {"SELECT id, version" + from(table) + " WHERE id = $1" + lock[random(4)],
          {id},
          [=, this](const Answer& answer) {
            Key key = table.first + id;
            recorder_.scanned(key, key, any_attribute, found(table, answer));
          },
          {}};
}

Statement Author::range(const Table& table) {
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

Statement Author::by_attribute(const Table& table) {
  int attribute = any_attribute_of(table);
  return {"SELECT id, version" + from(table) + " WHERE attribute = $1",
          {attribute},
          [=, this](const Answer& answer) {
            recorder_.scanned(table.first, table.last(), attribute, found(table, answer));
          },
          {}};
}

Statement Author::exists(const Table& table) {
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

Statement Author::maximum(const Table& table) {
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
void Author::note_alone(const Table& table, Key key, int attribute) {
  if (!table.unique) return;
  for (Key other = table.first; other <= table.last(); ++other) {
    if (other != key) recorder_.absent(other, attribute);
  }
}
void Author::note_duplicate(const Table& table, const Answer& answer, Key key, int attribute) {
  if (answer.constraint() == std::string(table.name) + "_pkey") {
    recorder_.present(key, key);
  } else {
    EXPECT_EQ(answer.constraint(), std::string(table.name) + "_attribute");
    recorder_.present(table.first, table.last(), attribute);
  }
}

// Quiet: only if the key is free.
Statement Author::insert(const Table& table, bool quiet) {
  int id = any_id(table), attribute = any_attribute_of(table);
  Version version = recorder_.new_version();
  Key key = table.first + id;
  std::string into = std::string("INSERT INTO ") + table.name + " (id, attribute, version) ";
  std::string values = "SELECT $1::int, $2::int, $3::bigint WHERE NOT EXISTS (SELECT 1" +
                       from(table) + " WHERE id = $1)";
  auto note = [=, this] {
    recorder_.absent(key);
    note_alone(table, key, attribute);
    recorder_.write(key, version, attribute);
  };
  return {into + (quiet ? values : "VALUES ($1, $2, $3)"),
          {id, attribute, static_cast<int64_t>(version)},
          [=, this](const Answer& answer) {
            if (answer.tag() != "INSERT 0 0") return note();
            recorder_.present(key, key);
          },
          [=, this](const Answer& answer) { note_duplicate(table, answer, key, attribute); },
          note};
}

Statement Author::insert_or_update(const Table& table) {
  int id = any_id(table), attribute = any_attribute_of(table);
  Version version = recorder_.new_version();
  Key key = table.first + id;
  std::string name = table.name;
  return {"INSERT INTO " + name +
              " (id, attribute, version) VALUES ($1, $2, $3) ON CONFLICT (id) DO UPDATE SET"
              " previous = " +
              name + ".version, version = excluded.version RETURNING previous, attribute",
          {id, attribute, static_cast<int64_t>(version)},
          [=, this](const Answer& answer) {
            if (answer.null(0, 0)) {
              recorder_.absent(key);
              note_alone(table, key, attribute);
            } else {
              recorder_.read(key, static_cast<Version>(answer.number(0, 0)));
            }
            recorder_.write(key, version, static_cast<int>(answer.number(0, 1)));
          },
          [=, this](const Answer& answer) { note_duplicate(table, answer, key, attribute); }};
}

Statement Author::update(const Table& table) {
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
Statement Author::update_by_attribute(const Table& table) {
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

Statement Author::remove(const Table& table) {
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

Statement Author::remove_by_attribute(const Table& table) {
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

}  // namespace pgsilo::server_stress
