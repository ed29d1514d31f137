// An outer join whose rows of NULLs a condition above it rejects anyway is an inner join.
// Thread safety: none; the arena's.
#pragma once

#include "base/arena.h"
#include "planner/bound/query.h"

namespace pgsilo {

// `query` with such joins made into inner ones, and full ones of which one side is left into left
// joins; of the others right joins into left ones. The query itself if it has none of them.
const BoundQuery* reduce_outer_joins(Arena& arena, const BoundQuery& query);

}  // namespace pgsilo
