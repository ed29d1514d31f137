// An UPDATE of one row by its key, taken apart into the columns that it uses and those that it
// changes (docs/hot_records.md), so that others may change the rest of the row meanwhile.
// Thread safety: pure functions.
#pragma once

#include "base/arena.h"
#include "planner/plan/plan_node.h"

namespace pgsilo {

// In `arena`; reads all of the node but `partial`. Null: it uses the row as a whole, for it finds
// it otherwise than by a key, its keys may change, its table refers to another, it is returned, or
// columns of variable width are among those that matter.
const PartialUpdate* find_partial_update(Arena& arena, const UpdateNode& node);

}  // namespace pgsilo
