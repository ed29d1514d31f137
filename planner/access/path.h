// Ways to get the rows of a set of relations, with their costs; a plan is made from the best one.
// Paths live in the JoinSearch that makes them. Thread safety: immutable once made.
#pragma once

#include <limits>
#include <vector>

#include "planner/access/index_match.h"
#include "planner/access/join_problem.h"
#include "planner/access/path_keys.h"
#include "planner/access/relation_set.h"
#include "planner/plan/plan_node.h"

namespace pgsilo {

enum class PathKind : uint8_t {
  sequential,
  index,
  other_relation,
  nested_loop,
  hash_join,
  merge_join
};

struct Path {
  PathKind kind = PathKind::sequential;
  RelationSet relations;
  RelationSet outer;  // whose columns it reads as parameters: it can only be the right side of a
                      // nested loop over them
  double rows = 1;
  double startup_cost = 0;
  double total_cost = 0;
  PathOrder order;
  // Scans.
  int32_t relation = -1;
  IndexMatch match;               // what all parts use, if there are several
  std::vector<IndexMatch> parts;  // several indexes of which one answers each part of an OR
  ScanDirection direction = ScanDirection::forward;
  std::vector<const Clause*>
      filter;  // scans: conditions left to check; joins: checked after null extension
  // Joins.
  JoinType join_type = JoinType::inner;
  const Path* left = nullptr;
  const Path* right = nullptr;
  std::vector<const Clause*> conditions;  // of the join, beside its keys
  std::vector<const Clause*> keys;        // equalities by which it hashes, or merges in this order
  bool right_is_unique = false;
  bool materialize_right = false;
  bool memoize_right = false;
  bool sort_left = false;  // by the keys
  bool sort_right = false;
};

// PostgreSQL's unit is one page read in sequence; rows in memory are cheaper than that by far, but
// a scan of everything also makes the transaction depend on everything: it starts with a handicap.
namespace cost {
inline constexpr double row = 0.01;
inline constexpr double operation = 0.0025;
inline constexpr double sequential_start = 1;
inline constexpr double descent = 0.05;
inline constexpr double secondary_row = 0.015;
inline constexpr double hash_row = 0.015;
inline constexpr double sort_comparison = 0.005;
// Of a row that is kept and found again.
inline constexpr double kept_row = 0.01;
// Pages of temporary files.
inline constexpr double sequential_page = 1;
inline constexpr double random_page = 4;
// What a setting forbids.
inline constexpr double disabled = 1e10;
}  // namespace cost

// Without temporary files, as hash_cost().
double sort_cost(double rows);
// Of rows that go into a hash table of so many different ones: the larger it is, the more of it is
// not in the caches.
double hash_cost(double rows, double distinct);
// What a sort is given: rows that come in `groups` parts, one after the other, each of which is
// sorted by itself; 1: nothing is sorted yet.
struct SortInput {
  double startup_cost = 0;
  double total_cost = 0;
  double rows = 0;
  double width = 0;
  double groups = 1;
  double kept = std::numeric_limits<double>::infinity();  // so many are wanted of it
};
// From the first row to the last behind it.
struct SortedCost {
  double startup = 0;
  double total = 0;
};
SortedCost sorted_cost(const SortInput& input, size_t work_mem);

}  // namespace pgsilo
