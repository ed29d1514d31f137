// Subqueries in FROM that only select from tables become part of the query around them, so that
// conditions reach the tables' indexes. Thread safety: none; the arena's.
#pragma once

#include "base/arena.h"
#include "planner/bound/query.h"

namespace pgsilo {

const BoundQuery* flatten_subqueries(Arena& arena, const BoundQuery& query);

// Run once and kept, rather than put in place of its references.
bool is_kept_cte(const BoundCte& cte);

}  // namespace pgsilo
