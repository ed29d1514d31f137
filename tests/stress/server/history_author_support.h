// Random statements for histories (tests/history), each with what its answer tells, on the tables
// of history_table_support.h. Thread safety: one thread each.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "tests/history/history.h"
#include "tests/stress/server/history_table_support.h"

namespace pgsilo::server_stress {

// A statement, and what its answer tells.
struct Statement {
  std::string sql;  // with $1, $2, ...
  std::vector<int64_t> parameters;
  std::function<void(const Answer&)> note;                 // when it succeeded
  std::function<void(const Answer&)> note_duplicate = {};  // 23505
  // Of some: what it did if nobody said so, but it was committed.
  std::function<void()> note_unanswered = {};

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

class Author {
 public:
  Author(history::Recorder& recorder, int thread, uint64_t seed)
      : recorder_(recorder), thread_(thread), random_(seed) {}

  uint64_t random(uint64_t bound) { return random_.below(bound); }
  // Outside of a block a part may be changed without a word about what it was.
  Statement statement(bool in_block);
  Statement query();
  // Whose effect is known, or will be found, if it was committed without an answer.
  Statement plain_statement();
  // A query of the row whose part was changed so; before it is answered there is no other such
  // change (history_table_support.h).
  std::optional<Statement> reading_back();
  void has_read_back() { changed_.reset(); }

 private:
  const Table& any_table();
  int any_id(const Table& table);
  int any_attribute_of(const Table& table);
  int64_t versions_for(const Table& table);
  Statement query(const Table& table);
  Statement by_key(const Table& table, int id, const char* lock);
  Statement part_by_key(const Table& table);
  Statement range(const Table& table);
  Statement by_attribute(const Table& table);
  Statement exists(const Table& table);
  Statement maximum(const Table& table);
  Statement insert(const Table& table, bool quiet);
  Statement insert_or_update(const Table& table);
  Statement update(const Table& table);
  Statement update_by_attribute(const Table& table);
  Statement change_part(const Table& table, bool returning);
  Statement add_to_tally(const Table& table);
  Statement remove(const Table& table);
  Statement remove_by_attribute(const Table& table);
  void note_alone(const Table& table, history::Key key, int attribute);
  void note_duplicate(const Table& table, const Answer& answer, history::Key key, int attribute);

  std::string now_or_later(const std::string& value);

  history::Recorder& recorder_;
  const int thread_;
  Random random_;
  struct Place {
    const Table* table;
    int id;
  };
  std::optional<Place> changed_;
  std::map<history::Key, int> bits_used_;  // of its own
};

}  // namespace pgsilo::server_stress
