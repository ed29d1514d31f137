// How an OR is answered by ranges of one index, or by several indexes.
// Thread safety: pure functions.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "planner/access/index_match.h"

namespace pgsilo {

struct UnionMatch {
  std::vector<IndexMatch> parts;  // by index
  // What all parts use: the OR, and of the other clauses those that each alternative has got.
  std::vector<const Clause*> used;
  std::vector<const Clause*> rechecked;       // of these, those that stay in the filter
  const BoundExpression* answered = nullptr;  // null: all of the OR

  double selectivity() const;
};

// `clause` is an OR, `others` have to be true as well. None if an alternative is no condition of
// any of `indexes`.
std::optional<UnionMatch> match_union(Arena& arena, const BoundQuery& query, int32_t relation,
                                      std::span<const IndexDescriptor* const> indexes,
                                      std::span<const Clause* const> others, const Clause& clause);

}  // namespace pgsilo
