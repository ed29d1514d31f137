// What an option in parentheses says: EXPLAIN (ANALYZE off), VACUUM (ANALYZE), COPY ... (HEADER 1).
// Thread safety: plain functions.
#pragma once

#include <optional>

#include "sql/ast/ddl.h"

namespace pgsilo::ast {

// On without a value; nullopt: the value is none of true, false, on, off, 1 and 0, in any case.
std::optional<bool> boolean_option(const DefElem& option);
// The same; throws SqlError, 42601, in place of nullopt.
bool require_boolean_option(const DefElem& option);

}  // namespace pgsilo::ast
