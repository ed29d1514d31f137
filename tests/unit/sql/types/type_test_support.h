// What the tests of sql/types share: a context with settings, values from text, recorded files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "base/byte_buffer.h"
#include "sql/sql_error.h"
#include "sql/types/type.h"

namespace pgsilo {

struct TypeAndModifier {
  const TypeInfo* type = nullptr;
  int32_t typmod = no_typmod;
};

class TypeTester {
 public:
  TypeTester() { context.arena = &arena; }

  // "name=value;name=value" with PostgreSQL's setting names.
  void set(std::string_view settings);
  // A type as SQL spells it: "numeric(5,2)", "interval day to second(1)", "integer[]".
  TypeAndModifier type(std::string_view name);
  // What CAST('text' AS type) gives.
  Datum cast(std::string_view text, const TypeAndModifier& target);
  Datum value(std::string_view type_name, std::string_view text) {
    return cast(text, type(type_name));
  }
  std::string print(Datum value, const TypeInfo& type);
  std::string print(Datum value, Oid type) { return print(value, type_info(type)); }
  // The binary form in hex.
  std::string send(Datum value, const TypeInfo& type);

  Arena arena;
  TypeContext context;
};

// `!SQLSTATE message`, as the recorded files spell errors.
std::string error_text(const SqlError& error);
// Lines of tests/unit/sql/types/data/`name`, cut at tabs, without comments.
std::vector<std::vector<std::string>> recorded_lines(std::string_view name);
std::string unescape(std::string_view text);
std::string to_hex(std::string_view bytes);
std::string from_hex(std::string_view hex);

}  // namespace pgsilo
