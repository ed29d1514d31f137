// Moving expressions between queries: levels_up counts from the query an expression stands in.
// Thread safety: none; the arena's.
#pragma once

#include "base/arena.h"
#include "planner/bound/expression.h"
#include "planner/bound/query.h"

namespace pgsilo {

// As the query `by` levels further out sees it, the queries of its sublinks with it. Precondition:
// it reads no columns and no WITH queries of nearer queries.
const BoundExpression* lower_levels(Arena& arena, const BoundExpression* expression, int32_t by);

// As a subquery of a query that stands in its place.
const BoundQuery* raise_levels(Arena& arena, const BoundQuery& query);

}  // namespace pgsilo
