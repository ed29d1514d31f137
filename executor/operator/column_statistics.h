// What the samples say that the planner has of tables now, as rows of pg_statistic.
// Thread safety: as MonitorFunction's others.
#pragma once

#include <vector>

#include "sql/types/datum.h"

namespace pgsilo {

class Arena;
struct ExecutionContext;

void fill_column_statistics(ExecutionContext& session, const Datum* arguments,
                            std::vector<Datum>& values, Arena& arena);

}  // namespace pgsilo
