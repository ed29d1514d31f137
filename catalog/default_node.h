// What pg_attrdef.adbin holds: a default's SQL expression behind the column that it is of,
// `{DEFAULT 16384 2}'x'`. For pg_get_expr() is given that value alone, and shows the expression as
// what the column gets. Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sql/types/type_oid.h"

namespace pgsilo {

struct DefaultNode {
  Oid table = invalid_oid;  // invalid_oid: it says nothing of a column
  int16_t column = 0;
  std::string_view expression;  // points into what was parsed
};

std::string print_default_node(const DefaultNode& node);
// Of any pg_node_tree: others than defaults are expressions alone, which never begin with a brace.
DefaultNode parse_default_node(std::string_view text);

}  // namespace pgsilo
