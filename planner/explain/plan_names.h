// What a plan as a whole says of how its parts are called.
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string>

#include "planner/plan/transaction_plan.h"

namespace pgsilo {

// Every relation a plan scans: with more than one, columns are shown with their relation's name.
size_t count_relations(const PlannedStatement& planned);
// Of the WITH query number `number`.
std::string cte_name(const PlannedStatement& planned, int32_t number);

}  // namespace pgsilo
