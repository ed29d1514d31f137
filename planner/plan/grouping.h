// Aggregation: what a grouped query computes per group.
// Thread safety: none; see QueryContext.
#pragma once

#include "planner/plan/query_planner.h"

namespace pgsilo {

// Of the groups, PostgreSQL's guess.
inline constexpr double having_selectivity = 1.0 / 3;

// The order in which aggregates with DISTINCT or ORDER BY want the rows of a group, all that want
// one the same; else that of the first of them.
std::span<const OrderKey> order_within_groups(QueryContext& context);

// Grouping and HAVING over the plan of FROM and WHERE. The result's layout holds group keys and
// aggregates.
PlacedPlan plan_grouping(QueryContext& context, PlacedPlan input, std::span<const OrderKey> within);

}  // namespace pgsilo
