// Table sizes for the planner, as the trees count them.
// Thread safety: stateless.
#pragma once

#include "planner/plan/transaction_plan.h"

namespace pgsilo {

class RelationStatistics final : public TableStatistics {
 public:
  double row_count(const TableDescriptor& table) const override;
};

const RelationStatistics& relation_statistics();

// Whether the tables still have about the sizes that the statement was planned for
// (limits::plan_size_factor).
bool has_planned_sizes(const PlannedStatement& planned, const TableStatistics& statistics);

}  // namespace pgsilo
