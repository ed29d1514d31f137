// What a running program may reach: what the functions it calls see, and the Execution for its
// subplans. Thread safety: none; one per Execution.
#pragma once

#include "executor/execution_context.h"
#include "executor/functions/function.h"

namespace pgsilo {

struct ExecutionState;

struct RowContext : EvalContext {
  ExecutionState* state = nullptr;

  // By-reference results of what is evaluated next go there.
  void use_arena(Arena& target) {
    arena = &target;
    types->arena = &target;
  }
};

}  // namespace pgsilo
