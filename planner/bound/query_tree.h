// Walking bound queries with their subqueries.
// Thread safety: pure functions.
#pragma once

#include <cstdint>

#include "base/arena.h"
#include "planner/bound/function_ref.h"
#include "planner/bound/query.h"

namespace pgsilo {

// Called with an expression and how many queries deep it stands (0: where the walk began); returns
// whether to go into its children.
using LevelVisitor = FunctionRef<bool(const BoundExpression&, int32_t depth)>;

// The expression, its children, and the queries of its sublinks one level deeper.
void walk_levels(const BoundExpression& expression, int32_t depth, LevelVisitor visit);
// All expressions of the query at `depth`, its subqueries' one level deeper. Of WITH queries that
// belong to a query further out than where the walk began, visited are what they read of queries
// around them, and what reads nothing.
void walk_levels(const BoundQuery& query, int32_t depth, LevelVisitor visit);

// Whether it, or a query in it, calls a volatile function.
bool calls_volatile(const BoundExpression& expression);
bool calls_volatile(const BoundQuery& query);

// Reads a column of any query around it; of an expression, but for queries in it.
bool reads_outer(const BoundQuery& query);
bool reads_outer(const BoundExpression& expression);

bool has_sublink(const BoundExpression& expression);

// The same computation: equal in everything but locations and names.
bool equal_queries(const BoundQuery& left, const BoundQuery& right);

// Whether what one of them gives is what the other would: they are one, or equal and without calls
// of volatile functions, which are made for each.
bool shares_result(const BoundExpression* left, const BoundExpression* right);

// The query's own expressions, not those of subqueries in FROM.
void for_each_expression(const BoundQuery& query, FunctionRef<void(const BoundExpression&)> visit);

// Called with an expression and its depth; returns what stands in its place, or null to go on into
// its children.
using LevelMapper = FunctionRef<const BoundExpression*(const BoundExpression*, int32_t depth)>;
// Called with a reference to a WITH query and its depth; returns its cte_levels_up from now on.
using CteLevelMapper = FunctionRef<int32_t(const BoundRelation&, int32_t depth)>;

// Copies with everything mapped that walk_levels() visits, except WITH queries of queries further
// out, which are shared.
const BoundExpression* map_levels(Arena& arena, const BoundExpression* expression, int32_t depth,
                                  LevelMapper map, CteLevelMapper map_cte);
const BoundQuery* map_levels(Arena& arena, const BoundQuery* query, int32_t depth, LevelMapper map,
                             CteLevelMapper map_cte);
const FromItem* map_from(Arena& arena, const FromItem* item, int32_t depth, LevelMapper map,
                         CteLevelMapper map_cte);

}  // namespace pgsilo
