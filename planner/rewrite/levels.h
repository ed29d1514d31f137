// Moving expressions between queries: levels_up counts from the query an expression stands in.
// Thread safety: none; the arena's.
#pragma once

#include "base/arena.h"
#include "planner/bound/expression.h"

namespace pgsilo {

// As the query `by` levels further out sees it. Precondition: it reads nothing from nearer queries,
// and has no sublinks unless by is 0.
const BoundExpression* lower_levels(Arena& arena, const BoundExpression* expression, int32_t by);

}  // namespace pgsilo
