// From bound queries to plans.
// Thread safety: none; see StatementPlanning.
#pragma once

#include "planner/access/path_keys.h"
#include "planner/access/planning.h"
#include "planner/plan/layout.h"
#include "planner/plan/plan_node.h"

namespace pgsilo {

// The plan's columns are the query's visible targets.
const PlanNode* plan_query(StatementPlanning& statement, QueryContext* parent,
                           const BoundQuery& query, RowDemand demand = {});

// INSERT, UPDATE, DELETE.
const PlanNode* plan_modification(StatementPlanning& statement,
                                  const BoundModification& modification);

// What a plan's rows have of the goal's order.
struct PlanOrder {
  size_t sorted = 0;           // so many keys of JoinGoal::order
  SortSpace::Grouped grouped;  // what it would be worth to one who groups
};

// A plan and what its slots hold.
struct PlacedPlan {
  const PlanNode* node = nullptr;
  Layout layout;
  PlanOrder order;
};

// FROM and WHERE. `target`: the relation whose whole rows UPDATE and DELETE want, or -1. `marks`:
// of the relations whose row handles are wanted.
struct JoinDemand {
  JoinGoal goal;
  int32_t target = -1;
  std::span<const RowMark> marks;
};
PlacedPlan plan_joins(QueryContext& context, const JoinDemand& demand);

}  // namespace pgsilo
