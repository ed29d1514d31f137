// The words that random statements are made of: types and literals of them, good and bad, the
// server's functions, settings and system relations, and the statements of tests/sql.
// Thread safety: plain data; immutable once read.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/random.h"

namespace pgsilo::sessions {

using TypeOid = uint32_t;
namespace type {
inline constexpr TypeOid boolean = 16, bytea = 17, int8 = 20, int2 = 21, int4 = 23, text = 25,
                         float4 = 700, float8 = 701, date = 1082, time = 1083, timestamp = 1114,
                         timestamptz = 1184, interval = 1186, numeric = 1700, varchar = 1043,
                         bpchar = 1042, int4_array = 1007, text_array = 1009;
}  // namespace type

struct Routine {
  std::string name;
  TypeOid result = 0;
  std::vector<TypeOid> arguments;
  bool is_aggregate = false;
};

struct Vocabulary {
  // Answers a query with rows of texts.
  using Ask = std::function<std::vector<std::vector<std::string>>(const std::string& sql)>;
  static Vocabulary of_server(const Ask& ask, const std::string& source_directory);

  std::string type_name(TypeOid type) const;
  const std::vector<const Routine*>& routines_of(TypeOid result) const;

  std::vector<Routine> routines;
  std::vector<TypeOid> types;
  std::unordered_map<TypeOid, std::string> type_names;
  std::vector<std::string> settings;
  std::vector<std::string> system_relations;
  std::vector<std::string> corpus;

 private:
  void index_routines();
  std::unordered_map<TypeOid, std::vector<const Routine*>> by_result_;
};

// One of the types that tables are made of.
TypeOid column_type(Random& random);
// The text of a value of the type that nothing is wrong with.
std::string plain_text(Random& random, TypeOid type);
// The text of a value of the type, mostly one that it has, often an extreme one.
std::string value_text(Random& random, TypeOid type);
// Text that no type expects.
std::string garbage_text(Random& random);
std::string quoted(const std::string& text);
// One of them.
template <typename List>
auto& any_of(Random& random, List& list) {
  return list[random.below(std::size(list))];
}

}  // namespace pgsilo::sessions
