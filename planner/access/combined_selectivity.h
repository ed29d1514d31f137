// What conditions on several columns of one table keep together, as far as CREATE STATISTICS has
// made the table's sample say it: the commonest combinations, and columns that follow from others.
// As PostgreSQL's extended_stats.c, mcv.c and dependencies.c. Thread safety: as TableStatistics.
#pragma once

#include <span>

#include "planner/bound/query.h"

namespace pgsilo {

struct Clause;
struct StatementPlanning;

// Sets `selectivity` of clauses of one conjunction, so that their product is what they keep
// together.
void combine_clauses(StatementPlanning& statement, const BoundQuery& query,
                     std::span<Clause> clauses);

}  // namespace pgsilo
