// ORs as lists of conjunctions, which indexes may answer one by one.
// Thread safety: pure functions.
#pragma once

#include <span>
#include <vector>

#include "planner/bound/expression.h"

namespace pgsilo {

// AND of them.
using Conjunction = std::vector<const BoundExpression*>;

// The conjunctions of which one has to be true for `condition` to be true: (a AND b) OR c is {a, b}
// and {c}, and so is what an AND inside an OR has of ORs in its turn, unless that would make too
// many. Empty: the condition is no OR.
std::vector<Conjunction> disjunction_of(const BoundExpression& condition);

}  // namespace pgsilo
