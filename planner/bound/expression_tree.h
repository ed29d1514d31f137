// Walking, copying and comparing bound expressions, one level at a time. Counted as long work
// (base/long_work.h): whoever walks may be suspended.
// Thread safety: pure functions.
#pragma once

#include "base/arena.h"
#include "planner/bound/expression.h"
#include "planner/bound/function_ref.h"

namespace pgsilo {

// Calls `visit` for every direct child, in order. The condition of a sublink or subplan and a
// subplan's arguments count as children; their queries and plans do not.
void for_each_child(const BoundExpression& expression,
                    FunctionRef<void(const BoundExpression&)> visit);

// The same node with every child replaced by `map(child)`: the node itself when no child changed,
// else a copy in `arena`.
const BoundExpression* map_children(
    Arena& arena, const BoundExpression* expression,
    FunctionRef<const BoundExpression*(const BoundExpression*)> map);

// True when `matches` holds for the expression or something in it. Queries of sublinks are not
// entered.
bool contains(const BoundExpression& expression, FunctionRef<bool(const BoundExpression&)> matches);

// Where the expression begins in the statement's text, by PostgreSQL's count: that of its operator,
// cast or operand, whichever is first; -1 where none is known.
int32_t first_location(const BoundExpression& expression);

// What it is but for casts that change no datum.
const BoundExpression* without_relabel(const BoundExpression* expression);

// The same computation: equal in everything but locations and names, queries of sublinks included.
// The execution parameters by which CASE and sublinks name what is theirs may be others.
bool equal_expressions(const BoundExpression* left, const BoundExpression* right);

}  // namespace pgsilo
