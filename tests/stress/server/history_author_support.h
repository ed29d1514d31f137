// Random statements for histories (tests/history), each with what its answer tells, on a table with
// an ordinary and one with a unique index. Thread safety: one thread each.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/random.h"
#include "tests/history/history.h"
#include "tests/stress/server/server_support.h"

namespace pgsilo::server_stress {

// The key of row `id` in a history is first + id.
struct Table {
  const char* name;
  history::Key first;
  int keys;
  int attributes;
  bool unique;
  history::Key last() const { return first + keys - 1; }
};

// The tables, and one for notes of transactions that might end without an answer.
void create_history_tables(Client& client);
// What these tables hold, as transactions of their own.
void read_history_tables(Client& client, history::Recorder& recorder);

// A statement, and what its answer tells.
struct Statement {
  std::string sql;  // with $1, $2, ...
  std::vector<int64_t> parameters;
  std::function<void(const Answer&)> note;                 // when it succeeded
  std::function<void(const Answer&)> note_duplicate = {};  // 23505
  // Of an INSERT: what it did if nobody said so, but it was committed.
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
  Author(history::Recorder& recorder, uint64_t seed) : recorder_(recorder), random_(seed) {}

  uint64_t random(uint64_t bound) { return random_.below(bound); }
  Statement statement();
  Statement query();
  // Does one thing or fails.
  Statement plain_insert();

 private:
  const Table& any_table();
  int any_id(const Table& table);
  int any_attribute_of(const Table& table);
  int64_t versions_for(const Table& table);
  Statement query(const Table& table);
  Statement by_key(const Table& table);
  Statement range(const Table& table);
  Statement by_attribute(const Table& table);
  Statement exists(const Table& table);
  Statement maximum(const Table& table);
  Statement insert(const Table& table, bool quiet);
  Statement insert_or_update(const Table& table);
  Statement update(const Table& table);
  Statement update_by_attribute(const Table& table);
  Statement remove(const Table& table);
  Statement remove_by_attribute(const Table& table);
  void note_alone(const Table& table, history::Key key, int attribute);
  void note_duplicate(const Table& table, const Answer& answer, history::Key key, int attribute);

  history::Recorder& recorder_;
  Random random_;
};

}  // namespace pgsilo::server_stress
