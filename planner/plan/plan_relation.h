// Items of FROM that are not tables: subqueries, WITH queries, functions, VALUES.
// Thread safety: none; see QueryContext.
#pragma once

#include "planner/access/join_search.h"

namespace pgsilo {

// The plan is null for a table.
OtherRelation plan_relation(QueryContext& context, int32_t relation);

}  // namespace pgsilo
