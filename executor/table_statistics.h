// Table sizes for the planner, as the trees count them, and what samples say about their columns.
// Thread safety: stateless; who asks is pinned.
#pragma once

#include "planner/plan/transaction_plan.h"

namespace pgsilo {

class RelationStatistics final : public TableStatistics {
 public:
  double row_count(const TableDescriptor& table) const override;
  std::shared_ptr<const TableSample> sample(const TableDescriptor& table,
                                            int32_t default_target) const override;
};

const RelationStatistics& relation_statistics();

// Whether the tables still have about the sizes that the statement was planned for, with no ANALYZE
// since.
bool fits_statistics(const PlannedStatement& planned, const TableStatistics& statistics);

}  // namespace pgsilo
