// Choosing one of several functions or operators of a name by the types of the arguments:
// PostgreSQL's func_match_argtypes and func_select_candidate (manual, sections 10.2 and 10.3).
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sql/types/type_oid.h"

namespace pgsilo {

struct Candidate {
  std::vector<Oid> arguments;    // declared types, one per actual argument
  const void* source = nullptr;  // the BuiltinProcedure or BuiltinOperator
  bool variadic = false;         // expanded from a VARIADIC procedure
};

// Those that every argument can be implicitly coerced to.
std::vector<Candidate> matching_candidates(std::span<const Oid> actual,
                                           std::vector<Candidate> candidates);

// The best of them, or null when no rule decides. Precondition: not empty.
const Candidate* select_candidate(std::span<const Oid> actual, std::vector<Candidate>& candidates);

}  // namespace pgsilo
