// SET, RESET and the names of types that the session reads itself.
// Thread safety: none; the session's fiber.
#pragma once

#include <string>
#include <string_view>

#include "sql/ast/utility.h"
#include "sql/types/type_oid.h"

namespace pgsilo {

struct SessionState;

// Runs the statement; returns its tag ("SET" or "RESET").
std::string_view run_set_statement(SessionState& state, const ast::SetStmt& statement);

}  // namespace pgsilo
