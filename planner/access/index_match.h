// Which conditions an index can answer, and by what its rows come ordered.
// Thread safety: pure functions.
#pragma once

#include <span>
#include <vector>

#include "planner/access/join_problem.h"
#include "planner/access/path_keys.h"
#include "planner/plan/plan_node.h"

namespace pgsilo {

class Arena;

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
  // Of a partial index: conditions by which it has all rows that are wanted, and which of them the
  // rows that it has fulfil.
  std::vector<const Clause*> implying;
  std::vector<const Clause*> fulfilled;
  double selectivity = 1;  // of the used conditions
  // What the ranges answer, where that is not all that is used: parts of an OR.
  const BoundExpression* answered = nullptr;
  double lookups = 1;  // ranges, each value of a list for itself

  bool has_conditions() const { return !used.empty() || !implying.empty(); }
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

// A relation of a query, with what indexes of its table compute.
struct IndexedRelation {
  const BoundQuery& query;
  int32_t relation;
  std::span<const IndexKeys> keys;  // over its columns, folded as the query's conditions

  // Null: the index's column is one of the table's.
  const BoundExpression* expression_of(const IndexDescriptor& index, size_t position) const;
  const IndexKeys* keys_of(const IndexDescriptor& index) const;
};

// What the indexes of the relation's table compute, as IndexedRelation wants it.
std::vector<IndexKeys> folded_index_keys(StatementPlanning& statement, const BoundQuery& query,
                                         int32_t relation);

// `clauses`: those that may be used, i.e. their other relations are known when the scan starts. No
// OR is used. A partial index must have been found usable.
IndexMatch match_index(Arena& arena, const IndexedRelation& relation, const IndexDescriptor& index,
                       std::span<const Clause* const> clauses);
// False: the clauses do not say that the index has all rows they are true of. They read no other
// relation.
bool match_predicate(const IndexedRelation& relation, std::span<const Clause* const> clauses,
                     IndexMatch& match);

// Those of `clauses` that match_index() may use for any of the indexes (which compute nothing), in
// their order: beside others it uses what it uses beside all of them. So many at most as the
// columns have kinds of conditions, however many clauses there are.
std::vector<const Clause*> usable_clauses(Arena& arena, const BoundQuery& query, int32_t relation,
                                          std::span<const IndexDescriptor* const> indexes,
                                          std::span<const Clause* const> clauses);

// By what the rows of a scan come, forwards; `told`, where all keys together have one row.
PathOrder index_order(Arena& arena, const SortSpace& space, const IndexedRelation& relation,
                      const IndexMatch& match);
// The same the other way round.
PathOrder reversed(Arena& arena, const PathOrder& order);
// Whether the index has the values of a column in order, among the rows that the conditions leave.
bool orders_column(const IndexMatch& match, int32_t column);

// The column of `relation` that the expression is, through casts that change nothing; -1 otherwise.
int32_t plain_column_of(const BoundExpression& expression, int32_t relation);

}  // namespace pgsilo
