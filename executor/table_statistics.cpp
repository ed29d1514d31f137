#include "executor/table_statistics.h"

#include <algorithm>

#include "catalog/descriptors.h"
#include "sql/limits.h"
#include "storage/relation/relation.h"

namespace pgsilo {

double RelationStatistics::row_count(const TableDescriptor& table) const {
  if (table.relation == nullptr) return 0;
  // The books of running transactions may make it negative for a moment.
  return static_cast<double>(std::max<int64_t>(table.relation->row_count(), 0));
}

const RelationStatistics& relation_statistics() {
  static const RelationStatistics statistics;
  return statistics;
}

bool has_planned_sizes(const PlannedStatement& planned, const TableStatistics& statistics) {
  for (size_t i = 0; i < planned.tables.size(); ++i) {
    double then = planned.table_rows[i] + limits::plan_size_slack_rows;
    double now = statistics.row_count(*planned.tables[i]) + limits::plan_size_slack_rows;
    if (std::max(then, now) > limits::plan_size_factor * std::min(then, now)) return false;
  }
  return true;
}

}  // namespace pgsilo
