// SELECT generate_series(1, t.n) FROM t is SELECT g FROM t, LATERAL ROWS FROM (generate_series(1,
// t.n)) AS g. Thread safety: none; the arena's.
#pragma once

#include "base/arena.h"
#include "planner/bound/query.h"

namespace pgsilo {

bool contains_set(const BoundExpression& expression);

// All set-returning functions of the select list side by side, the shorter padded with NULLs.
// Behind GROUP BY, and behind DISTINCT ON and ORDER BY unless they have such a function for a key.
// Throws 0A000 for those inside another's arguments, and in GROUP BY.
const BoundQuery* expand_set_returning(Arena& arena, const BoundQuery& query);

}  // namespace pgsilo
