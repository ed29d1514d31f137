// (a, b) op (c, d), taken apart into comparisons of columns.
// Thread safety: none; see StatementBinding.
#pragma once

#include <span>
#include <string_view>

#include "planner/binder/scope.h"

namespace pgsilo {

// Throws 42601 "unequal number of entries in row expressions"; 0A000 for operators that rows do not
// have.
const BoundExpression* make_row_comparison(StatementBinding& binding, std::string_view op,
                                           std::span<const BoundExpression* const> left,
                                           std::span<const BoundExpression* const> right,
                                           int32_t location);

const BoundExpression* make_distinct(StatementBinding& binding, const BoundExpression* left,
                                     const BoundExpression* right, bool negated, int32_t location);

}  // namespace pgsilo
