// The tables of histories (tests/history), and what answers tell of their rows.
//
// A row is several registers of a history, so that statements can change one of them alone:
// - the row itself, under version, attribute and previous;
// - two parts. Part a is its newest entries in the columns a1, a2, ...; an entry is a version, and
//   below it the version of the other part that its writer used, or 0. Who changes a part moves
//   the entries on, so whoever reads one sees what it replaced. None leaves unseen if no client
//   changes a second part before it has read what became of the first: there is an entry for each
//   client, one for the change that is itself a reader, and one for what the oldest replaced;
// - a tally, to which each change adds another bit, used once in a history: a register for each.
// Thread safety: values; the functions use what they are given.
#pragma once

#include <cstdint>
#include <string>

#include "tests/history/history.h"
#include "tests/stress/server/server_support.h"

namespace pgsilo::server_stress {

constexpr int history_clients = 6;
constexpr int part_entries = history_clients + 2;
constexpr int bits_per_client = 6;

// The key of row `id` in a history is first + id.
struct Table {
  const char* name;
  history::Key first;
  int keys;
  int attributes;
  bool unique;
  history::Key last() const { return first + keys - 1; }
};
inline constexpr Table history_tables[] = {{"item", 0, 8, 3, false}, {"seat", 100, 6, 8, true}};

// Registers of the row under that key of a history.
constexpr history::Key part_key(history::Key row, int part) { return 1000 + 2 * row + part; }
constexpr history::Key bit_key(history::Key row, int bit) { return 10000 + 100 * row + bit; }
// No Recorder makes such a version.
constexpr history::Version bit_version(history::Key row, int bit) {
  return static_cast<history::Version>(bit_key(row, bit)) << 8;
}
// The entry of a new row.
int64_t first_entry(history::Version version);

// The tables, and one for notes of transactions that might end without an answer.
void create_history_tables(Client& client);
// What these tables hold, as transactions of their own.
void read_history_tables(Client& client, history::Recorder& recorder);

// Changes a part of row $1 of the table to `version`, an SQL expression, and nothing else. `uses`:
// the other part as well.
std::string change_of_part(const Table& table, int part, bool uses, const std::string& version);
// The columns that tell of all but the row itself, with its attribute as the first.
const std::string& other_columns();
constexpr int attribute_column = 2;  // of an answer: id, version, other_columns()
std::string columns_of_part(int part);

// An answer with the rows that have the attribute and keys from `first` to `last`, no others.
void note_rows(history::Recorder& recorder, const Table& table, const Answer& answer,
               history::Key first, history::Key last, int attribute = history::any_attribute);
// An answer with one part, if there is row `key`, and nothing else of it.
void note_part(history::Recorder& recorder, history::Key key, const Answer& answer, int part);
// The answer's rows had part `part` changed to `version`, and nothing else.
void note_changed_part(history::Recorder& recorder, const Table& table, const Answer& answer,
                       int part, history::Version version);
// The answer's rows were deleted.
void note_removed(history::Recorder& recorder, const Table& table, const Answer& answer);
// A row came with these parts; attribute and version are not part of it.
void note_new_parts(history::Recorder& recorder, history::Key row, history::Version a,
                    history::Version b);

}  // namespace pgsilo::server_stress
