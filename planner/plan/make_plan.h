// Making plan nodes with their columns and estimates filled in.
// Thread safety: none; see StatementPlanning.
#pragma once

#include <limits>
#include <span>

#include "planner/access/planning.h"
#include "planner/access/selectivity.h"
#include "planner/plan/plan_node.h"

namespace pgsilo {

struct PathCost {
  double startup = 0;
  double total = 0;
  double rows = 1;
};

void set_estimates(PlanNode& node, PathCost cost);
// Takes the columns of one child, or of two side by side.
void set_columns(StatementPlanning& statement, PlanNode& node, const PlanNode* first,
                 const PlanNode* second = nullptr);

const PlanNode* make_filter(StatementPlanning& statement, const PlanNode* child,
                            const BoundExpression* condition, double selectivity);
const PlanNode* make_one_time_filter(StatementPlanning& statement, const PlanNode* child,
                                     const BoundExpression* condition);
const PlanNode* make_projection(StatementPlanning& statement, const PlanNode* child,
                                ExpressionList expressions, std::span<const PlanColumn> columns);
// Some of the child's slots, in the order given; the child itself when that is what it returns.
const PlanNode* project_slots(StatementPlanning& statement, const PlanNode* child,
                              std::span<const int32_t> slots);
const PlanNode* make_materialize(StatementPlanning& statement, const PlanNode* child);
// The child's rows for what it reads from outside are kept.
const PlanNode* make_memoize(StatementPlanning& statement, const PlanNode* child, bool single_row);
// `presorted`: so many of the keys the child's rows come by, which have `groups` different values.
// `kept`: so many rows of it are wanted.
SortNode* make_sort(StatementPlanning& statement, const PlanNode* child,
                    std::span<const SortKey> keys, size_t presorted = 0, double groups = 1,
                    double kept = std::numeric_limits<double>::infinity());
// `rows`: how many are left, as far as that is known.
const PlanNode* make_unique(StatementPlanning& statement, const PlanNode* child,
                            std::span<const int32_t> key_slots, double rows);
// All columns as one hashed group key: DISTINCT.
// `rows`: how many there will be, as far as that is known.
const PlanNode* make_distinct_rows(StatementPlanning& statement, const PlanNode* child,
                                   double rows = default_distinct);
// A slot of a child's row.
const BoundExpression* make_slot(Arena& arena, int32_t slot, const PlanColumn& column);

// The node's rows come in an order that somebody rests on.
void rest_on_order(StatementPlanning& statement, const PlanNode* node);
// Fills depends_on_parameters of every node, and keeps_order of hash joins.
void finish_plan(StatementPlanning& statement);

}  // namespace pgsilo
