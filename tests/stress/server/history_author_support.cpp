#include "tests/stress/server/history_author_support.h"

#include <algorithm>
#include <climits>

namespace pgsilo::server_stress {

using history::any_attribute;
using history::Key;
using history::Version;

namespace {

// Versions for all rows of a table: that of row `id` is the first plus `step` times `id`.
constexpr int64_t step = 256;

std::string from(const Table& table) { return std::string(" FROM ") + table.name; }

// Columns of an answer from which note_rows() learns all of a row.
std::string row() { return "id, version, " + other_columns(); }
std::string old_row() { return "id, previous, " + other_columns(); }

}  // namespace

const Table& Author::any_table() { return history_tables[random(2)]; }

Statement Author::statement(bool in_block) {
  const Table& table = any_table();
  switch (random(17)) {
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
    case 8:
    case 9:
      return change_part(table, /*returning=*/in_block || changed_ || random(4) == 0);
    case 10:
      return add_to_tally(table);
    default:
      return query(table);
  }
}

Statement Author::query() { return query(any_table()); }

Statement Author::plain_statement() {
  const Table& table = any_table();
  switch (random(changed_ ? 2 : 3)) {
    case 0:
      return insert(table, /*quiet=*/false);
    case 1:
      return add_to_tally(table);
    default:
      return change_part(table, /*returning=*/false);
  }
}

std::optional<Statement> Author::reading_back() {
  if (!changed_) return std::nullopt;
  return by_key(*changed_->table, changed_->id, "");
}

Statement Author::query(const Table& table) {
  switch (random(7)) {
    case 0:
      return range(table);
    case 4:
    case 5:
      return part_by_key(table);
    case 1:
      return by_attribute(table);
    case 2:
      return exists(table);
    case 3:
      return maximum(table);
    default: {
      const char* lock[] = {"", "", " FOR UPDATE", " FOR SHARE"};
      return by_key(table, any_id(table), lock[random(4)]);
    }
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

Statement Author::by_key(const Table& table, int id, const char* lock) {
  return {"SELECT " + row() + from(table) + " WHERE id = $1" + lock,
          {id},
          [=, this](const Answer& answer) {
            Key key = table.first + id;
            note_rows(recorder_, table, answer, key, key);
          },
          {}};
}

// Others may change the rest of the row meanwhile.
Statement Author::part_by_key(const Table& table) {
  int id = any_id(table), part = static_cast<int>(random(2));
  return {"SELECT " + columns_of_part(part) + from(table) + " WHERE id = $1",
          {id},
          [=, this](const Answer& answer) { note_part(recorder_, table.first + id, answer, part); },
          {}};
}

Statement Author::range(const Table& table) {
  int low = any_id(table), high = any_id(table);
  if (low > high) std::swap(low, high);
  bool down = random(2) == 0;
  int limit = random(2) == 0 ? INT_MAX : 1 + static_cast<int>(random(3));
  return {"SELECT " + row() + from(table) + " WHERE id BETWEEN $1 AND $2 ORDER BY id" +
              (down ? " DESC" : "") + " LIMIT $3",
          {low, high, limit},
          [=, this](const Answer& answer) {
            Key first = table.first + low, last = table.first + high;
            // What lies behind the last row was not looked at.
            if (answer.rows() == limit)
              (down ? first : last) = table.first + static_cast<Key>(answer.number(limit - 1, 0));
            note_rows(recorder_, table, answer, first, last);
          },
          {}};
}

Statement Author::by_attribute(const Table& table) {
  int attribute = any_attribute_of(table);
  return {"SELECT " + row() + from(table) + " WHERE attribute = $1",
          {attribute},
          [=, this](const Answer& answer) {
            note_rows(recorder_, table, answer, table.first, table.last(), attribute);
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
  Version version = recorder_.new_version(), a = recorder_.new_version(),
          b = recorder_.new_version();
  Key key = table.first + id;
  std::string into =
      std::string("INSERT INTO ") + table.name + " (id, attribute, version, a1, b1) ";
  std::string values =
      "SELECT $1::int, $2::int, $3::bigint, $4::bigint, $5::bigint WHERE NOT EXISTS (SELECT 1" +
      from(table) + " WHERE id = $1)";
  auto note = [=, this] {
    recorder_.absent(key);
    note_alone(table, key, attribute);
    recorder_.write(key, version, attribute);
    note_new_parts(recorder_, key, a, b);
  };
  return {into + (quiet ? values : "VALUES ($1, $2, $3, $4, $5)"),
          {id, attribute, static_cast<int64_t>(version), first_entry(a), first_entry(b)},
          [=, this](const Answer& answer) {
            if (answer.tag() != "INSERT 0 0") return note();
            recorder_.present(key, key);
          },
          [=, this](const Answer& answer) { note_duplicate(table, answer, key, attribute); },
          note};
}

Statement Author::insert_or_update(const Table& table) {
  int id = any_id(table), attribute = any_attribute_of(table);
  Version version = recorder_.new_version(), a = recorder_.new_version(),
          b = recorder_.new_version();
  Key key = table.first + id;
  std::string name = table.name;
  return {"INSERT INTO " + name +
              " (id, attribute, version, a1, b1) VALUES ($1, $2, $3, $4, $5)"
              " ON CONFLICT (id) DO UPDATE SET"
              " previous = " +
              name + ".version, version = excluded.version RETURNING previous, attribute",
          {id, attribute, static_cast<int64_t>(version), first_entry(a), first_entry(b)},
          [=, this](const Answer& answer) {
            bool is_new = answer.null(0, 0);
            if (is_new) {
              recorder_.absent(key);
              note_alone(table, key, attribute);
            } else {
              recorder_.read(key, static_cast<Version>(answer.number(0, 0)));
            }
            recorder_.write(key, version, static_cast<int>(answer.number(0, 1)));
            if (is_new) note_new_parts(recorder_, key, a, b);
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
              (moves ? ", attribute = $3" : "") + " WHERE id = $1 RETURNING " + old_row(),
          std::move(parameters),
          [=, this](const Answer& answer) {
            note_rows(recorder_, table, answer, key, key);
            if (answer.rows() == 0) return;
            if (moves) note_alone(table, key, attribute);
            recorder_.write(key, version, static_cast<int>(answer.number(0, attribute_column)));
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
              std::to_string(step) + " * id, attribute = $3 WHERE attribute = $1 RETURNING " +
              old_row(),
          {attribute, version, after},
          [=, this](const Answer& answer) {
            note_rows(recorder_, table, answer, table.first, table.last(), attribute);
            for (int row = 0; row < answer.rows(); ++row) {
              int64_t id = answer.number(row, 0);
              recorder_.write(table.first + static_cast<Key>(id),
                              static_cast<Version>(version + step * id), after);
            }
          },
          {}};
}

// The value, sometimes after a pause in which others may change the row.
std::string Author::now_or_later(const std::string& value) {
  if (random(3) != 0) return value;
  return "CASE WHEN pg_sleep(0.001) IS NOT NULL THEN " + value + " END";
}

Statement Author::change_part(const Table& table, bool returning) {
  int id = any_id(table), part = random(3) == 0 ? 1 : 0;
  bool uses = random(2) == 0;
  Version version = recorder_.new_version();
  Key key = table.first + id;
  if (!returning) changed_ = Place{&table, id};
  return {change_of_part(table, part, uses, now_or_later("$2::bigint")) +
              (returning ? " RETURNING " + row() : ""),
          {id, static_cast<int64_t>(version)},
          [=, this](const Answer& answer) {
            if (answer.tag() == "UPDATE 0") return recorder_.absent(key);
            if (returning) return note_changed_part(recorder_, table, answer, part, version);
            recorder_.change(part_key(key, part), version);
          },
          {},
          [=, this] { recorder_.attempt(part_key(key, part), version, key); }};
}

Statement Author::add_to_tally(const Table& table) {
  int id = any_id(table);
  Key key = table.first + id;
  if (bits_used_[key] == bits_per_client) return query(table);
  int bit = thread_ * bits_per_client + bits_used_[key]++;
  return {std::string("UPDATE ") + table.name + " SET tally = tally + " +
              now_or_later("$2::bigint") + " WHERE id = $1",
          {id, int64_t{1} << bit},
          [=, this](const Answer& answer) {
            if (answer.tag() == "UPDATE 0") return recorder_.absent(key);
            recorder_.present(key, key);
            recorder_.absent(bit_key(key, bit));
            recorder_.write(bit_key(key, bit), bit_version(key, bit), any_attribute);
          },
          {},
          [=, this] { recorder_.attempt(bit_key(key, bit), bit_version(key, bit), key); }};
}

Statement Author::remove(const Table& table) {
  int id = any_id(table);
  Key key = table.first + id;
  return {"DELETE" + from(table) + " WHERE id = $1 RETURNING " + row(),
          {id},
          [=, this](const Answer& answer) {
            note_rows(recorder_, table, answer, key, key);
            note_removed(recorder_, table, answer);
          },
          {}};
}

Statement Author::remove_by_attribute(const Table& table) {
  int attribute = any_attribute_of(table);
  return {"DELETE" + from(table) + " WHERE attribute = $1 RETURNING " + row(),
          {attribute},
          [=, this](const Answer& answer) {
            note_rows(recorder_, table, answer, table.first, table.last(), attribute);
            note_removed(recorder_, table, answer);
          },
          {}};
}

}  // namespace pgsilo::server_stress
