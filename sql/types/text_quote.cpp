// Text as it must be written in SQL: quoted identifiers and literals.
#include <algorithm>
#include <iterator>

#include "base/long_work.h"
#include "sql/types/scan.h"
#include "sql/types/text.h"

namespace pgsilo {

namespace {

// PostgreSQL 15's keywords that are not free for use as names: all but the unreserved ones.
constexpr std::string_view keywords[] = {
    "all",
    "analyse",
    "analyze",
    "and",
    "any",
    "array",
    "as",
    "asc",
    "asymmetric",
    "authorization",
    "between",
    "bigint",
    "binary",
    "bit",
    "boolean",
    "both",
    "case",
    "cast",
    "char",
    "character",
    "check",
    "coalesce",
    "collate",
    "collation",
    "column",
    "concurrently",
    "constraint",
    "create",
    "cross",
    "current_catalog",
    "current_date",
    "current_role",
    "current_schema",
    "current_time",
    "current_timestamp",
    "current_user",
    "dec",
    "decimal",
    "default",
    "deferrable",
    "desc",
    "distinct",
    "do",
    "else",
    "end",
    "except",
    "exists",
    "extract",
    "false",
    "fetch",
    "float",
    "for",
    "foreign",
    "freeze",
    "from",
    "full",
    "grant",
    "greatest",
    "group",
    "grouping",
    "having",
    "ilike",
    "in",
    "initially",
    "inner",
    "inout",
    "int",
    "integer",
    "intersect",
    "interval",
    "into",
    "is",
    "isnull",
    "join",
    "lateral",
    "leading",
    "least",
    "left",
    "like",
    "limit",
    "localtime",
    "localtimestamp",
    "national",
    "natural",
    "nchar",
    "none",
    "normalize",
    "not",
    "notnull",
    "null",
    "nullif",
    "numeric",
    "offset",
    "on",
    "only",
    "or",
    "order",
    "out",
    "outer",
    "overlaps",
    "overlay",
    "placing",
    "position",
    "precision",
    "primary",
    "real",
    "references",
    "returning",
    "right",
    "row",
    "select",
    "session_user",
    "setof",
    "similar",
    "smallint",
    "some",
    "substring",
    "symmetric",
    "table",
    "tablesample",
    "then",
    "time",
    "timestamp",
    "to",
    "trailing",
    "treat",
    "trim",
    "true",
    "union",
    "unique",
    "user",
    "using",
    "values",
    "varchar",
    "variadic",
    "verbose",
    "when",
    "where",
    "window",
    "with",
    "xmlattributes",
    "xmlconcat",
    "xmlelement",
    "xmlexists",
    "xmlforest",
    "xmlnamespaces",
    "xmlparse",
    "xmlpi",
    "xmlroot",
    "xmlserialize",
    "xmltable",
};
static_assert(std::is_sorted(std::begin(keywords), std::end(keywords)));

bool is_plain_identifier(std::string_view text) {
  if (text.empty() || is_digit(text[0])) return false;
  WorkMeter meter;
  for (char c : text) {
    meter.did(1);
    if (!(c >= 'a' && c <= 'z') && !is_digit(c) && c != '_') return false;
  }
  return !std::binary_search(std::begin(keywords), std::end(keywords), text);
}

// `text` between quotes, with every character of `doubled` twice.
std::string_view quote(std::string_view text, std::string_view open, char close,
                       std::string_view doubled, Arena& arena) {
  char* start = static_cast<char*>(arena.allocate(open.size() + 2 * text.size() + 1, 1));
  char* to = start + open.copy(start, open.size());
  WorkMeter meter;
  for (char c : text) {
    meter.did(4);
    if (doubled.find(c) != std::string_view::npos) *to++ = c;
    *to++ = c;
  }
  *to++ = close;
  return {start, static_cast<size_t>(to - start)};
}

}  // namespace

std::string_view quote_identifier(std::string_view text, Arena& arena) {
  return is_plain_identifier(text) ? text : quote(text, "\"", '"', "\"", arena);
}

std::string_view quote_literal(std::string_view text, Arena& arena) {
  bool has_backslash = find_part(text, "\\") != std::string_view::npos;
  return quote(text, has_backslash ? "E'" : "'", '\'', "'\\", arena);
}

}  // namespace pgsilo
