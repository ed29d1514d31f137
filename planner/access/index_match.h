// Which conditions an index can answer, and which order its rows come in.
// Thread safety: pure functions.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "planner/access/join_problem.h"
#include "planner/plan/plan_node.h"

namespace pgsilo {

class Arena;

// An order that is wanted: of ORDER BY.
struct OrderKey {
  const BoundExpression* expression = nullptr;
  bool descending = false;
  bool nulls_first = false;
};

// How a scan of an index uses conditions.
struct IndexMatch {
  const IndexDescriptor* index = nullptr;
  // Values are still over columns (of other relations, for a parameterised scan). More than one
  // where a condition is an OR.
  std::span<const KeyRanges> ranges;
  // So many columns, but for that with a list, have one value in all of the ranges.
  size_t equal_columns = 0;
  int32_t list_column = -1;
  std::vector<const Clause*> used;       // shown as index condition
  std::vector<const Clause*> rechecked;  // of these, those that stay in the filter
  double selectivity = 1;                // of the used conditions
  // What the ranges answer, where that is not all that is used: parts of an OR.
  const BoundExpression* answered = nullptr;
  double lookups = 1;  // ranges, each value of a list for itself

  bool has_conditions() const { return !used.empty(); }
  bool is_fixed(size_t column) const {
    return column < equal_columns && static_cast<int32_t>(column) != list_column;
  }
  // At most one row for each lookup.
  bool is_unique_lookup() const;
  // At most one row.
  bool is_point() const {
    return ranges.size() == 1 && list_column < 0 && ranges[0].is_unique_lookup;
  }
};

// `clauses`: those that may be used, i.e. their other relations are known when the scan starts. No
// OR is used.
IndexMatch match_index(Arena& arena, const BoundQuery& query, int32_t relation,
                       const IndexDescriptor& index, std::span<const Clause* const> clauses);

// Those of `clauses` that match_index() may use for any of the indexes, in their order: beside
// others it uses what it uses beside all of them. So many at most as the columns have kinds of
// conditions, however many clauses there are.
std::vector<const Clause*> usable_clauses(Arena& arena, const BoundQuery& query, int32_t relation,
                                          std::span<const IndexDescriptor* const> indexes,
                                          std::span<const Clause* const> clauses);

// The direction in which a scan yields the wanted order, if it does. All keys must be of this
// relation.
std::optional<ScanDirection> match_order(const BoundQuery& query, int32_t relation,
                                         const IndexMatch& match, std::span<const OrderKey> wanted);

// The column of `relation` that the expression is, through casts that change nothing; -1 otherwise.
int32_t plain_column_of(const BoundExpression& expression, int32_t relation);

}  // namespace pgsilo
