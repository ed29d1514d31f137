// SELECT max(a) FROM t WHERE ... is SELECT (SELECT a FROM t WHERE ... AND a IS NOT NULL ORDER BY a
// DESC LIMIT 1) where an index yields that order. Thread safety: none; see StatementPlanning.
#pragma once

#include "planner/bound/query.h"

namespace pgsilo {

struct StatementPlanning;

// The query itself where it does not apply.
const BoundQuery* use_index_for_min_max(StatementPlanning& statement, const BoundQuery& query);

}  // namespace pgsilo
