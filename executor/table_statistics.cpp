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

}  // namespace pgsilo
