// Plan nodes of WITH RECURSIVE; see plan_node.h.
#pragma once

#include "planner/plan/plan_node.h"

namespace pgsilo {

// WITH RECURSIVE: the rows of `left`, then, step by step, those that `right` makes of the rows that
// the last step has added, until a step adds none.
struct RecursiveUnionNode : PlanNode {
  static constexpr PlanKind plan_kind = PlanKind::recursive_union;
  const PlanNode* left = nullptr;
  const PlanNode* right = nullptr;
  int32_t work_table = 0;  // below PlannedStatement::work_tables
  bool distinct = false;   // UNION: a row that was there is not added again (NULLs equal)
};

// Reads the rows that the last step of the RecursiveUnionNode with that work table added.
struct WorkTableScanNode : PlanNode {
  static constexpr PlanKind plan_kind = PlanKind::work_table_scan;
  int32_t work_table = 0;
  std::string_view name;
  std::string_view alias;
  const BoundExpression* filter = nullptr;  // on its own output row, or null
};

}  // namespace pgsilo
