// Plans as EXPLAIN (COSTS OFF) shows them, to tell whether two read rows in the same way.
// Thread safety: none; the session's fiber.
#pragma once

#include <string>

namespace pgsilo {

struct PlannedStatement;
struct TypeContext;

// All of it.
std::string plan_text(const PlannedStatement& planned, TypeContext& types);
// The lines that name a node, without conditions.
std::string plan_nodes(const PlannedStatement& planned, TypeContext& types);

}  // namespace pgsilo
