// SET, RESET and the names of types that the session reads itself.
// Thread safety: none; the session's fiber.
#pragma once

#include <string>
#include <string_view>

#include "sql/ast/utility.h"
#include "sql/types/type_oid.h"

namespace pgsilo {

class Arena;
struct SessionState;

// Runs the statement; returns its tag ("SET" or "RESET").
std::string_view run_set_statement(SessionState& state, const ast::SetStmt& statement);

// The built-in type that a name in PREPARE's list stands for. Throws 42704.
Oid resolve_type_name(const ast::TypeName& name);
// The name of a built-in type, for trees that the session makes.
const ast::TypeName* type_name_of(Oid type, Arena& arena);

}  // namespace pgsilo
