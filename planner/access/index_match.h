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

// How a scan of an index uses conditions. Values are still over columns (of other relations, for a
// parameterised scan).
struct IndexMatch {
  const IndexDescriptor* index = nullptr;
  std::vector<KeyValue> equal;
  std::span<const BoundExpression* const> in_list;
  KeyConversion in_list_conversion = KeyConversion::none;
  int32_t in_list_column = -1;
  KeyValue lower;
  KeyValue upper;
  bool lower_inclusive = false;
  bool upper_inclusive = false;
  bool skip_nulls = false;  // IS NOT NULL on the column behind the equal ones
  bool is_unique_lookup = false;
  std::vector<const Clause*> used;       // shown as index condition
  std::vector<const Clause*> rechecked;  // of these, those that stay in the filter
  double selectivity = 1;                // of the used conditions

  bool has_conditions() const { return !used.empty(); }
  bool has_range() const { return lower.value != nullptr || upper.value != nullptr; }
  bool excludes_nulls() const { return has_range() || skip_nulls; }
};

// `clauses`: those that may be used, i.e. their other relations are known when the scan starts.
IndexMatch match_index(Arena& arena, const BoundQuery& query, int32_t relation,
                       const IndexDescriptor& index, std::span<const Clause* const> clauses);

// The direction in which a scan yields the wanted order, if it does. All keys must be of this
// relation.
std::optional<ScanDirection> match_order(const BoundQuery& query, int32_t relation,
                                         const IndexMatch& match, std::span<const OrderKey> wanted);

// The column of `relation` that the expression is, through casts that change nothing; -1 otherwise.
int32_t plain_column_of(const BoundExpression& expression, int32_t relation);

}  // namespace pgsilo
