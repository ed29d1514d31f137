// Changing a bound query into an equivalent one that plans better.
// Thread safety: none; see StatementPlanning.
#pragma once

#include "planner/bound/query.h"

namespace pgsilo {

struct StatementPlanning;

const BoundQuery& rewrite_query(StatementPlanning& statement, const BoundQuery& query);

}  // namespace pgsilo
