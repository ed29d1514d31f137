// What log_statement calls a statement: one that defines, one that changes rows, or another.
// Thread safety: pure function.
#pragma once

#include <cstdint>

#include "sql/ast/node.h"

namespace pgsilo {

// The values of log_statement in its order: one logs its own class and those before it.
enum class StatementClass : uint8_t { none, ddl, mod, all };

// EXECUTE is of the class `all` here: what it runs is known elsewhere.
StatementClass statement_class(const ast::Node& statement);

}  // namespace pgsilo
