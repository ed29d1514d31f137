// Where PostgreSQL's pretty printing leaves parentheses out. Thread safety: pure.
#pragma once

#include "planner/bound/expression.h"

namespace pgsilo {

// Whether `e` may stand inside of `parent` (null: at the top) without parentheses.
bool stands_alone(const BoundExpression& e, const BoundExpression* parent);

}  // namespace pgsilo
