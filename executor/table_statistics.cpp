#include "executor/table_statistics.h"

#include <algorithm>

#include "catalog/descriptors.h"
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

std::shared_ptr<const TableSample> RelationStatistics::sample(const TableDescriptor& table,
                                                              int32_t default_target) const {
  static const auto nothing = std::make_shared<const TableSample>();
  return table.relation == nullptr ? nothing : table.statistics->find(table, default_target);
}

bool fits_statistics(const PlannedStatement& planned, const TableStatistics& statistics) {
  for (size_t i = 0; i < planned.tables.size(); ++i) {
    const TableDescriptor& table = *planned.tables[i];
    if (table.statistics->refreshes() != planned.table_refreshes[i]) return false;
    if (!is_about_as_big(planned.table_rows[i], statistics.row_count(table))) return false;
  }
  return true;
}

}  // namespace pgsilo
