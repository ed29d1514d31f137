// Whether a condition is true of every row of which others are true: what partial indexes may be
// used for. It knows what PostgreSQL's predicate_implied_by knows of comparisons with constants, IS
// NOT NULL, lists, AND and OR; what it does not know is taken for false.
// Thread safety: pure functions.
#pragma once

#include <span>

#include "planner/bound/expression.h"

namespace pgsilo {

bool implies(const BoundExpression& condition, const BoundExpression& predicate);
// All of the conditions together.
bool imply(std::span<const BoundExpression* const> conditions, const BoundExpression& predicate);

}  // namespace pgsilo
