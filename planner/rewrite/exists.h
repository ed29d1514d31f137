// What EXISTS (SELECT ...) asks. Thread safety: none; the arena's.
#pragma once

#include "base/arena.h"
#include "planner/bound/query.h"

namespace pgsilo {

class ConstantEvaluator;

// A query that has a row if and only if `query` has one, without what does not tell: as in
// PostgreSQL, neither the output nor what only groups or orders it is computed, so that 1/0 there
// is no error. The query itself where the output decides, or may.
const BoundQuery* without_output(Arena& arena, ConstantEvaluator* evaluator,
                                 const BoundQuery& query);

}  // namespace pgsilo
