// WHERE id = 1 over a view is a condition of the view's query, where an index may serve it.
// Thread safety: none; the arena's.
#pragma once

#include "base/arena.h"
#include "planner/bound/query.h"

namespace pgsilo {

// `query` with each condition on one subquery of its FROM moved into that subquery, where this
// leaves the same rows (as PostgreSQL's subquery_is_pushdown_safe and qual_is_pushdown_safe say),
// and with what an equality of the query implies for one added to it: of a.x = v.x AND a.x = 1 also
// v.x = 1. Conditions of HAVING that every row of a group decides alike become some of WHERE. The
// query itself where that changes nothing. Precondition: reduce_outer_joins().
const BoundQuery* push_conditions(Arena& arena, const BoundQuery& query);

}  // namespace pgsilo
