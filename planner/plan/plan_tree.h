// Walking plans.
// Thread safety: pure functions.
#pragma once

#include "planner/bound/function_ref.h"
#include "planner/plan/plan_node.h"

namespace pgsilo {

// The operator's inputs, in order. Plans of subplan expressions are not among them.
void for_each_child(const PlanNode& node, FunctionRef<void(const PlanNode&)> visit);
// What an expression's slots are of.
enum class InputRow : uint8_t {
  input,     // the operator's input row; of one that changes rows its child's
  modified,  // the modified row (ModifyNode)
  conflict,  // the row that is there, then the proposed one (ConflictAction)
};
// Every expression the operator holds.
void for_each_expression(const PlanNode& node,
                         FunctionRef<void(const BoundExpression&, InputRow)> visit);
void for_each_expression(const PlanNode& node, FunctionRef<void(const BoundExpression&)> visit);

}  // namespace pgsilo
