// LIMIT and OFFSET.
// Thread safety: none; see QueryContext.
#pragma once

#include "planner/access/planning.h"

namespace pgsilo {

// The child under the query's LIMIT and OFFSET, if it has them. `sort`: the sort right below, or
// null; it then keeps no more rows than are wanted.
const PlanNode* add_limit(QueryContext& context, const PlanNode* child, SortNode* sort);

// How much of the rows a LIMIT lets through, as far as it is known: 0 to 1.
double limit_fraction(const BoundQuery& query);

}  // namespace pgsilo
