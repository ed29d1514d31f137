// Calls of functions that SQL has a syntax of its own for, as PostgreSQL shows them when they were
// written so: EXTRACT(year FROM d). Thread safety: pure functions.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "planner/bound/expression.h"

namespace pgsilo {

// `arguments`: the call's, as text. Empty: there is no such syntax for the function.
std::string deparse_sql_syntax(std::string_view function, const CallExpression& call,
                               std::span<const std::string> arguments);

}  // namespace pgsilo
