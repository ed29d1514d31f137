// Writes random statements about a world of random objects: mostly such as make sense, often
// mistyped, misplaced or unknown to the server. expressions.cpp, queries.cpp, changes.cpp,
// definitions.cpp, commands.cpp and mutations.cpp each write one kind.
// Thread safety: one owner.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/random.h"
#include "tests/sessions/vocabulary.h"
#include "tests/sessions/world.h"

namespace pgsilo::sessions {

class SqlAuthor {
 public:
  SqlAuthor(Random& random, const Vocabulary& vocabulary, World& world)
      : random_(random), vocabulary_(vocabulary), world_(world) {}

  // Any statement. With parameters if `parameters` > 0: $1 to about that number.
  std::string statement(int parameters = 0);
  // Those that a round begins with, in which nothing is wrong on purpose.
  void be_calm() { is_calm_ = true; }
  std::string create_table();
  std::string insert();

  // A statement that begins COPY FROM STDIN, and lines to feed it with.
  std::string copy_in();
  std::string copy_lines();

  std::string query(int depth);
  std::string transaction_command();

 private:
  struct Visible {
    std::string text;
    TypeOid type;
  };
  using Scope = std::vector<Visible>;
  // Columns of the relations of the query being written, and of those around it.
  class Scoped;

  // In a calm statement nothing is wrong on purpose.
  bool wild(uint64_t percent) { return !is_calm_ && chance(percent); }
  bool chance(uint64_t percent) { return random_.below(100) < percent; }
  std::string pick(std::initializer_list<const char*> words);
  // Calls one of them.
  std::string one(std::initializer_list<std::string (SqlAuthor::*)()> kinds);
  std::string list(uint64_t least, uint64_t most, const std::function<std::string()>& element);
  std::string name_of(const char* prefix, const std::vector<std::string>& known);
  const Table& table();
  const Column& column_of(const Table& table);
  std::string type_name(TypeOid type);

  // expressions.cpp
  std::string value(TypeOid type, int depth);
  std::string condition(int depth);
  std::string literal(TypeOid type);
  std::string parameter();
  std::string call(TypeOid type, int depth);
  std::string call_of(const Routine& routine, int depth);
  std::string operation(TypeOid type, int depth);
  std::string special_form(TypeOid type, int depth);
  std::string conditional(TypeOid type, int depth);
  std::string subquery_value(TypeOid type, int depth);
  std::string aggregate(TypeOid type, int depth);
  std::string any_expression(int depth) { return value(column_type(random_), depth); }

  // queries.cpp
  std::string simple_query(int depth, int columns);
  std::string select_list(int depth, int columns);
  std::string from_item(int depth);
  std::string table_item();
  std::string derived_table(int depth);
  std::string joined(int depth);
  std::string grouping(int depth);
  std::string ordering_and_limits(int depth);
  std::string values_list(int depth);
  std::string with_clause(int depth);
  std::string select() { return query(3); }
  std::string routine_probe();
  std::string cast_probe();
  std::string operator_probe();
  std::string system_query();

  // changes.cpp
  std::string update();
  std::string delete_rows();
  std::string merge();
  std::string truncate();
  std::string returning();
  std::string conflict_clause(const Table& table);
  std::string copy_out();

  // definitions.cpp
  std::string definition();
  std::string create_table_as();
  std::string create_index();
  std::string create_sequence();
  std::string create_schema();
  std::string alter_table();
  std::string alter_column(const Column& column);
  std::string alter_other();
  std::string drop();
  std::string unknown_definition();
  std::string column_definition(Table* table);
  std::string table_constraint(Table* table);
  std::string columns_of(const Table& table, uint64_t most);

  // commands.cpp
  std::string command();
  std::string set_setting();
  std::string prepare_command();
  std::string cursor_command();
  std::string lock_command();
  std::string explain();
  std::string maintenance();
  std::string sequence_use();
  std::string unknown_command();

  // mutations.cpp
  std::string mutated();

  Random& random_;
  const Vocabulary& vocabulary_;
  World& world_;
  Scope scope_;
  int parameters_ = 0;
  int aliases_ = 0;
  bool is_calm_ = false;
};

}  // namespace pgsilo::sessions
