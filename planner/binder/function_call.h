// Function calls: choosing the function, aggregates and set-returning functions and where they may
// stand. Thread safety: none; see Scope.
#pragma once

#include "planner/binder/scope.h"

namespace pgsilo {

const BoundExpression* bind_function_call(Scope& scope, const ast::FuncCall& call);

}  // namespace pgsilo
