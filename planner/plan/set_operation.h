// UNION, INTERSECT, EXCEPT.
// Thread safety: none; see StatementPlanning.
#pragma once

#include "planner/access/planning.h"

namespace pgsilo {

const PlanNode* plan_set_operation(StatementPlanning& statement, QueryContext* parent,
                                   const BoundQuery& query);

// WITH RECURSIVE.
const PlanNode* plan_recursion(StatementPlanning& statement, QueryContext* parent, BoundCte& cte);

}  // namespace pgsilo
