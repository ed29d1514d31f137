// What the statements of a round have made, as far as their author knows: whether they succeeded it
// does not ask, so that the texts of a round follow from its seed alone.
// Thread safety: one author.
#pragma once

#include <string>
#include <vector>

#include "tests/sessions/vocabulary.h"

namespace pgsilo::sessions {

struct Column {
  std::string name;
  TypeOid type = 0;
};

struct Table {
  std::string name;  // with its schema, if it is written
  std::vector<Column> columns;
  std::vector<std::string> constraints;
  std::vector<std::vector<std::string>> unique;  // columns of each unique key
};

struct World {
  std::vector<std::string> schemas = {"public"};
  std::vector<Table> tables;
  std::vector<std::string> indexes;
  std::vector<std::string> sequences;
  int names = 0;

  std::string new_name(const char* prefix) { return prefix + std::to_string(++names); }
};

}  // namespace pgsilo::sessions
