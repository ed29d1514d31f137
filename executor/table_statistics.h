// Table sizes for the planner, as the trees count them.
// Thread safety: stateless.
#pragma once

#include "planner/plan/transaction_plan.h"

namespace pgsilo {

class RelationStatistics final : public TableStatistics {
 public:
  double row_count(const TableDescriptor& table) const override;
};

}  // namespace pgsilo
