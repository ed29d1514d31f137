#include "planner/explain/deparse_sql_syntax.h"

#include "base/byte_buffer.h"
#include "planner/explain/deparse.h"

namespace pgsilo {

namespace {

using Arguments = std::span<const std::string>;

// A field or a form that the grammar made a literal of.
std::string word_of(const CallExpression& call, size_t argument, Arguments arguments) {
  auto* constant = try_as<ConstantExpression>(call.arguments[argument]);
  if (constant == nullptr || constant->value.null) return arguments[argument];
  return quote_identifier(constant->value.bytes());
}

std::string overlay(Arguments a) {
  std::string length = a.size() > 3 ? concat(" FOR ", a[3]) : std::string();
  return concat("OVERLAY(", a[0], " PLACING ", a[1], " FROM ", a[2], length, ")");
}

// By patterns: three texts; two have no syntax of their own.
std::string substring(const CallExpression& call, Arguments a) {
  if (call.arguments.back()->type == type_oid::text) {
    if (a.size() == 2) return {};
    return concat("SUBSTRING(", a[0], " SIMILAR ", a[1], " ESCAPE ", a[2], ")");
  }
  std::string length = a.size() > 2 ? concat(" FOR ", a[2]) : std::string();
  return concat("SUBSTRING(", a[0], " FROM ", a[1], length, ")");
}

std::string trim(std::string_view side, Arguments a) {
  std::string characters = a.size() > 1 ? concat(" ", a[1]) : std::string();
  return concat("TRIM(", side, characters, " FROM ", a[0], ")");
}

std::string normalize(const CallExpression& call, Arguments a) {
  std::string form = a.size() > 1 ? concat(", ", word_of(call, 1, a)) : std::string();
  return concat("NORMALIZE(", a[0], form, ")");
}

std::string is_normalized(const CallExpression& call, Arguments a) {
  std::string form = a.size() > 1 ? concat(" ", word_of(call, 1, a)) : std::string();
  return concat("((", a[0], ") IS", form, " NORMALIZED)");
}

}  // namespace

std::string deparse_sql_syntax(std::string_view function, const CallExpression& call,
                               std::span<const std::string> a) {
  if (function == "timezone") return concat("(", a[1], " AT TIME ZONE ", a[0], ")");
  if (function == "overlaps")
    return concat("((", a[0], ", ", a[1], ") OVERLAPS (", a[2], ", ", a[3], "))");
  if (function == "extract") return concat("EXTRACT(", word_of(call, 0, a), " FROM ", a[1], ")");
  if (function == "pg_collation_for") return concat("COLLATION FOR (", a[0], ")");
  if (function == "normalize") return normalize(call, a);
  if (function == "is_normalized") return is_normalized(call, a);
  if (function == "overlay") return overlay(a);
  if (function == "position") return concat("POSITION((", a[1], ") IN (", a[0], "))");
  if (function == "substring") return substring(call, a);
  if (function == "btrim") return trim("BOTH", a);
  if (function == "ltrim") return trim("LEADING", a);
  if (function == "rtrim") return trim("TRAILING", a);
  return {};
}

}  // namespace pgsilo
