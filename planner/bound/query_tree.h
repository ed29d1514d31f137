// Walking bound queries with their subqueries.
// Thread safety: pure functions.
#pragma once

#include <cstdint>

#include "planner/bound/function_ref.h"
#include "planner/bound/query.h"

namespace pgsilo {

// Called with an expression and how many queries deep it stands (0: where the walk began); returns
// whether to go into its children.
using LevelVisitor = FunctionRef<bool(const BoundExpression&, int32_t depth)>;

// The expression, its children, and the queries of its sublinks one level deeper.
void walk_levels(const BoundExpression& expression, int32_t depth, LevelVisitor visit);
// All expressions of the query at `depth`, its subqueries' one level deeper.
void walk_levels(const BoundQuery& query, int32_t depth, LevelVisitor visit);

// The query's own expressions, not those of subqueries in FROM.
void for_each_expression(const BoundQuery& query, FunctionRef<void(const BoundExpression&)> visit);

}  // namespace pgsilo
