// Whether a condition is true of every row of which others are true: what partial indexes may be
// used for. It knows what PostgreSQL's predicate_implied_by knows of comparisons with constants, IS
// NOT NULL, lists, AND and OR; what it does not know is taken for false. Constants are compared
// exactly, and only where an immutable operator compares them: of a date or a timestamp against a
// timestamptz nothing is known.
// Thread safety: pure functions.
#pragma once

#include "planner/bound/expression.h"

namespace pgsilo {

bool implies(const BoundExpression& condition, const BoundExpression& predicate);

}  // namespace pgsilo
