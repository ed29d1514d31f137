// What a running program may reach: what the functions it calls see, and the Execution for its
// subplans. Thread safety: none; one per Execution.
#pragma once

#include <memory>
#include <vector>

#include "executor/execution_context.h"
#include "executor/expression/membership_set.h"
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

  // By the number that the compiler gave it; made when first used.
  RunSet& set(uint32_t number, std::span<const TypeInfo* const> of_types) {
    if (number >= sets_.size()) sets_.resize(number + 1);
    if (sets_[number] == nullptr) sets_[number] = std::make_unique<RunSet>(of_types);
    return *sets_[number];
  }
  void forget_sets() {
    for (auto& each : sets_) {
      if (each != nullptr) each->forget();
    }
  }

 private:
  std::vector<std::unique_ptr<RunSet>> sets_;
};

}  // namespace pgsilo
