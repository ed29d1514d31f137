// Constants as PostgreSQL's ruleutils writes them.
// Thread safety: none; the TypeContext's.
#pragma once

#include <string>

#include "planner/bound/expression.h"

namespace pgsilo {

struct TypeContext;

// A user's with its schema, where it is not in the search path.
std::string deparse_type(Oid type, int32_t typmod, TypeContext* types);
std::string deparse_constant(const ConstantExpression& constant, TypeContext* types);
// Without the type: whoever encloses it tells that.
std::string deparse_literal(const ConstantExpression& constant, TypeContext* types);
// '{1,2,3}'::integer[]; empty when an item is not a constant.
std::string deparse_array(ExpressionList items, TypeContext* types);

}  // namespace pgsilo
