#include "tests/stress/server/history_table_support.h"

namespace pgsilo::server_stress {

using history::Key;
using history::no_version;
using history::Recorder;
using history::Version;

namespace {

constexpr int parts = 2;
constexpr int tally_column = attribute_column + 1;
constexpr int tally_bits = history_clients * bits_per_client;

std::string column(int part, int entry) {
  return static_cast<char>('a' + part) + std::to_string(entry + 1);
}

Key key_of(const Table& table, const Answer& answer, int row) {
  return table.first + static_cast<Key>(answer.number(row, 0));
}

struct Entry {
  Version version;
  Version used;
};

// The part's entries are in columns from here on, where all columns are.
int column_of(int part) { return tally_column + 1 + part * part_entries; }

Entry entry(const Answer& answer, int row, int column) {
  auto packed = static_cast<uint64_t>(answer.number(row, column));
  return {packed >> 32, packed & UINT32_MAX};
}

// What the entries of a part, in columns from `first` on, tell of those who wrote them.
void note_entries(Recorder& recorder, Key key, const Answer& answer, int row, int part, int first) {
  for (int i = first; i + 1 < first + part_entries; ++i) {
    auto [version, used] = entry(answer, row, i);
    if (version == no_version) return;
    Version replaced = entry(answer, row, i + 1).version;
    std::vector<history::Row> reads{{part_key(key, part), replaced}};
    if (used != no_version) reads.push_back({part_key(key, 1 - part), used});
    recorder.found(version, std::move(reads));
  }
}

bool has_bit(const Answer& answer, int row, int bit) {
  return (answer.number(row, tally_column) >> bit & 1) != 0;
}

void note_tally(Recorder& recorder, Key key, const Answer& answer, int row) {
  int looked_at = 0;
  auto none_up_to = [&](int bit) {
    if (looked_at < bit) recorder.all_absent(bit_key(key, looked_at), bit_key(key, bit - 1));
    looked_at = bit + 1;
  };
  for (int bit = 0; bit < tally_bits; ++bit) {
    if (!has_bit(answer, row, bit)) continue;
    none_up_to(bit);
    recorder.read(bit_key(key, bit), bit_version(key, bit));
    recorder.found(bit_version(key, bit), {{bit_key(key, bit), no_version}});
  }
  none_up_to(tally_bits);
}

void note_others(Recorder& recorder, Key key, const Answer& answer, int row) {
  for (int part = 0; part < parts; ++part) {
    int first = column_of(part);
    note_entries(recorder, key, answer, row, part, first);
    recorder.read(part_key(key, part), entry(answer, row, first).version);
  }
  note_tally(recorder, key, answer, row);
}

}  // namespace

int64_t first_entry(Version version) { return static_cast<int64_t>(version << 32); }

void create_history_tables(Client& client) {
  for (const Table& table : history_tables) {
    std::string name = table.name, columns;
    for (int part = 0; part < parts; ++part) {
      for (int i = 0; i < part_entries; ++i)
        columns += ", " + column(part, i) + " bigint NOT NULL DEFAULT 0";
    }
    client.must("CREATE TABLE " + name +
                " (id int PRIMARY KEY, attribute int, version bigint, previous bigint,"
                " tally bigint NOT NULL DEFAULT 0" +
                columns + ")");
    client.must(std::string("CREATE ") + (table.unique ? "UNIQUE " : "") + "INDEX " + name +
                "_attribute ON " + name + " (attribute)");
  }
  client.must("CREATE TABLE note (version bigint PRIMARY KEY)");
}

void read_history_tables(Client& client, Recorder& recorder) {
  for (const Table& table : history_tables) {
    recorder.begin();
    Answer answer = client.must("SELECT id, version, " + other_columns() + " FROM " + table.name);
    note_rows(recorder, table, answer, table.first, table.last());
    recorder.commit();
  }
}

std::string change_of_part(const Table& table, int part, bool uses, const std::string& version) {
  std::string sql = std::string("UPDATE ") + table.name + " SET ";
  for (int i = part_entries - 1; i > 0; --i)
    sql += column(part, i) + " = " + column(part, i - 1) + ", ";
  sql += column(part, 0) + " = " + version + " * 4294967296";
  if (uses) sql += " + " + column(1 - part, 0) + " / 4294967296";
  return sql + " WHERE id = $1";
}

std::string columns_of_part(int part) {
  std::string names = column(part, 0);
  for (int i = 1; i < part_entries; ++i) names += ", " + column(part, i);
  return names;
}

const std::string& other_columns() {
  static const std::string names =
      "attribute, tally, " + columns_of_part(0) + ", " + columns_of_part(1);
  return names;
}

void note_part(Recorder& recorder, Key key, const Answer& answer, int part) {
  if (answer.rows() == 0) return recorder.absent(key);
  recorder.present(key, key);
  note_entries(recorder, key, answer, 0, part, 0);
  recorder.read(part_key(key, part), entry(answer, 0, 0).version);
}

void note_rows(Recorder& recorder, const Table& table, const Answer& answer, Key first, Key last,
               int attribute) {
  std::vector<history::Row> rows;
  for (int row = 0; row < answer.rows(); ++row)
    rows.push_back({key_of(table, answer, row), static_cast<Version>(answer.number(row, 1))});
  recorder.scanned(first, last, attribute, rows);
  for (int row = 0; row < answer.rows(); ++row)
    note_others(recorder, key_of(table, answer, row), answer, row);
}

// As it was before: the row itself, and what the second entry of the part tells.
void note_changed_part(Recorder& recorder, const Table& table, const Answer& answer, int part,
                       Version version) {
  for (int row = 0; row < answer.rows(); ++row) {
    Key key = key_of(table, answer, row);
    recorder.read(key, static_cast<Version>(answer.number(row, 1)));
    EXPECT_EQ(entry(answer, row, column_of(part)).version, version);
    recorder.change(part_key(key, part), version);
    note_others(recorder, key, answer, row);
  }
}

void note_removed(Recorder& recorder, const Table& table, const Answer& answer) {
  for (int row = 0; row < answer.rows(); ++row) {
    Key key = key_of(table, answer, row);
    recorder.erase(key);
    for (int part = 0; part < parts; ++part) recorder.erase(part_key(key, part));
    for (int bit = 0; bit < tally_bits; ++bit) {
      if (has_bit(answer, row, bit)) recorder.erase(bit_key(key, bit));
    }
  }
}

void note_new_parts(Recorder& recorder, Key row, Version a, Version b) {
  recorder.all_absent(part_key(row, 0), part_key(row, 1));
  recorder.write(part_key(row, 0), a, history::any_attribute);
  recorder.write(part_key(row, 1), b, history::any_attribute);
}

}  // namespace pgsilo::server_stress
