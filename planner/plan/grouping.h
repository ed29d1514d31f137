// Aggregation: what a grouped query computes per group.
// Thread safety: none; see QueryContext.
#pragma once

#include "planner/plan/query_planner.h"

namespace pgsilo {

// Grouping and HAVING over the plan of FROM and WHERE. The result's layout holds group keys and
// aggregates.
PlacedPlan plan_grouping(QueryContext& context, PlacedPlan input);

}  // namespace pgsilo
