// LIMIT and OFFSET.
// Thread safety: none; see QueryContext.
#pragma once

#include "planner/access/planning.h"

namespace pgsilo {

// The child under the query's LIMIT and OFFSET, if it has them. `sort`: the sort right below, or
// null; it then keeps no more rows than are wanted.
const PlanNode* add_limit(QueryContext& context, const PlanNode* child, SortNode* sort);

// Of what is below LIMIT and OFFSET, as far as that is known, if `wanted` is what is above.
RowDemand limit_demand(QueryContext& context, RowDemand wanted);

}  // namespace pgsilo
