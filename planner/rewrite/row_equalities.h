// x = ANY (subquery), (x, y) IN (subquery): the condition as equalities of the two rows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "planner/bound/expression.h"

namespace pgsilo {

// Of each arguments[0] reads the outer row only, arguments[1] the subquery's only, and both hash
// alike. Empty: the condition is something else. `row_parameters`: what stands for the subquery's
// row.
std::vector<const CallExpression*> row_equalities(const BoundExpression& condition,
                                                  std::span<const int32_t> row_parameters);

}  // namespace pgsilo
