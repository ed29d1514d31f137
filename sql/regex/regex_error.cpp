#include "sql/regex/regex_error.h"

#include "base/stack.h"
#include "sql/sql_error.h"

namespace pgsilo::regex {

void throw_invalid(const char* what) {
  throw SqlError(sqlstate::invalid_regular_expression,
                 concat("invalid regular expression: ", what));
}

void throw_failed(const char* what) {
  throw SqlError(sqlstate::invalid_regular_expression, concat("regular expression failed: ", what));
}

void require_stack() {
  if (!stack_has_room()) throw_invalid(error::too_complex);
}

}  // namespace pgsilo::regex
