// A LEFT JOIN that gives each row once, and of whose right side nobody reads anything, as views and
// mappers of objects make many, might as well not be there. Thread safety: none; the arena's.
#pragma once

#include "base/arena.h"
#include "planner/bound/query.h"

namespace pgsilo {

// `query` without such joins; itself where it has none. Precondition: reduce_outer_joins().
const BoundQuery* remove_useless_joins(Arena& arena, const BoundQuery& query);

}  // namespace pgsilo
