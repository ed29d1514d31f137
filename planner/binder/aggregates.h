// Aggregates while binding: which query one belongs to, where it may stand, and the rule that a
// grouped query's output reads grouped columns only. Thread safety: none; see Scope.
#pragma once

#include "planner/binder/scope.h"

namespace pgsilo {

struct BuiltinProcedure;

// The arguments are bound, uncoerced types checked by the caller. Throws 42803 where an aggregate
// may not stand.
const BoundExpression* make_aggregate(Scope& scope, const ast::FuncCall& call,
                                      const BuiltinProcedure& procedure, Oid result,
                                      ExpressionList arguments);

// Throws 42803 for columns outside of aggregates that are neither grouped nor depend on a grouped
// primary key.
void check_grouping(Scope& scope, const BoundQuery& query);

}  // namespace pgsilo
