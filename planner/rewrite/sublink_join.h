// EXISTS and IN (SELECT ...) in WHERE, and in ON of inner joins, as joins, which can use indexes
// and choose their order. Thread safety: none; the arena's.
#pragma once

#include "base/arena.h"
#include "planner/bound/query.h"

namespace pgsilo {

class ConstantEvaluator;

// - EXISTS (correlated): a semi join; NOT EXISTS: an anti join.
// - x IN (uncorrelated): an inner join with the subquery's different rows, so that either side can
// drive it.
// - x IN (correlated): a semi join.
// A semi join that finds one row at most is an inner join.
const BoundQuery* join_sublinks(Arena& arena, ConstantEvaluator* evaluator,
                                const BoundQuery& query);

}  // namespace pgsilo
