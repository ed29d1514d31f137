// Computing while planning what does not depend on a row: constants, boolean laws, casts of
// literals. Thread safety: none; the arena's.
#pragma once

#include "base/arena.h"
#include "planner/bound/expression.h"

namespace pgsilo {

class ConstantEvaluator;

// An equivalent expression. What fails to evaluate (1/0) is an error, as in PostgreSQL, unless what
// stands before it decides; where that is not known yet it is left for the run. `evaluator` null:
// only boolean laws.
const BoundExpression* fold_expression(Arena& arena, ConstantEvaluator* evaluator,
                                       const BoundExpression* expression);

// The same of a condition, for which NULL says as much as false.
const BoundExpression* fold_condition(Arena& arena, ConstantEvaluator* evaluator,
                                      const BoundExpression* condition);

bool is_constant_true(const BoundExpression* expression);
bool is_constant_false_or_null(const BoundExpression* expression);

// Calls a volatile function, here or (when known by its kind) below.
bool is_volatile(const BoundExpression& expression);

}  // namespace pgsilo
