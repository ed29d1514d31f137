// LIMIT and OFFSET.
// Thread safety: none; see QueryContext.
#pragma once

#include "planner/access/planning.h"

namespace pgsilo {

// The child under the query's LIMIT and OFFSET, if it has them. `sort`: the sort right below, or
// null; it then keeps no more rows than are wanted. `keys`: the child's columns that ORDER BY sorts
// by.
const PlanNode* add_limit(QueryContext& context, const PlanNode* child, SortNode* sort,
                          std::span<const int32_t> keys);

// The targets that ORDER BY names, in its order.
std::vector<int32_t> order_targets(const BoundQuery& query);

// Of what is below LIMIT and OFFSET, as far as that is known, if `wanted` is what is above.
RowDemand limit_demand(QueryContext& context, RowDemand wanted);

}  // namespace pgsilo
