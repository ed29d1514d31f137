// Of how many rows a condition can be true at most. Thread safety: pure functions.
#pragma once

#include <cstdint>

#include "planner/bound/query.h"

namespace pgsilo {

// Whether `condition` is true of one row of the relation at most, whatever the rest of its query
// is: it says of all columns of a unique index, or of all by which a subquery's rows differ, what
// they are equal to. `number`: the relation's, in the condition; null: it is true.
bool has_one_match(const BoundRelation& relation, int32_t number, const BoundExpression* condition);

}  // namespace pgsilo
