// Paths that merge two sides which come by what is equal, as they are or once they are sorted.
#include <algorithm>
#include <utility>

#include "planner/access/join_search.h"
#include "planner/plan/transaction_plan.h"

namespace pgsilo {

namespace {

// Merges go upwards, and NULLs meet nothing.
bool is_mergeable(const PathKey& key) { return !key.descending && key.nulls != NullsPlace::first; }

const Path* cheapest(const std::vector<const Path*>& paths) {
  const Path* best = nullptr;
  for (const Path* path : paths) {
    if (!path->outer.empty()) continue;
    if (best == nullptr || path->total_cost < best->total_cost) best = path;
  }
  return best;
}

}  // namespace

std::vector<JoinSearch::MergeClause> JoinSearch::merge_clauses(const Path& shape,
                                                               RelationSet left_set,
                                                               const Candidates& left,
                                                               const Candidates& right) const {
  std::vector<MergeClause> clauses;
  for (const Clause* clause : shape.keys) {
    SortSpace::Sides sides = space_.sides_of(*clause);
    if (sides.left < 0) continue;
    if (!left_set.contains(clause->left_relations)) std::swap(sides.left, sides.right);
    MergeClause merge{clause, left.classes[sides.left], right.classes[sides.right]};
    if (merge.left >= 0 && merge.right >= 0) clauses.push_back(merge);
  }
  return clauses;
}

// Those that a side's first keys are of, in the order of the keys.
std::vector<JoinSearch::MergeClause> JoinSearch::in_order_of(
    const std::vector<MergeClause>& clauses, const PathOrder& order, int16_t MergeClause::* side) {
  std::vector<MergeClause> found;
  for (const PathKey& key : order.keys) {
    auto clause = std::find_if(clauses.begin(), clauses.end(), [&](const MergeClause& merge) {
      return merge.*side == key.expression;
    });
    if (clause == clauses.end() || !is_mergeable(key)) break;
    found.push_back(*clause);
  }
  return found;
}

void JoinSearch::add_merge_joins(const Candidates& left, const Candidates& right,
                                 RelationSet left_set, const Path& shape, Candidates& result) {
  if (shape.keys.empty() || space_.empty()) return;
  std::vector<MergeClause> clauses = merge_clauses(shape, left_set, left, right);
  const Path* cheap_left = cheapest(left.paths);
  const Path* cheap_right = cheapest(right.paths);
  if (clauses.empty() || cheap_left == nullptr || cheap_right == nullptr) return;
  for (const Path* path : left.paths) {
    if (!path->outer.empty()) continue;
    std::vector<MergeClause> keys = in_order_of(clauses, path->order, &MergeClause::left);
    if (keys.empty()) continue;
    add_merge_join(*path, *cheap_right, shape, keys, false, true, result);
    for (const Path* other : right.paths) {
      if (!other->outer.empty()) continue;
      std::vector<MergeClause> others = in_order_of(clauses, other->order, &MergeClause::right);
      size_t both = 0;
      while (both < keys.size() && both < others.size() && keys[both].clause == others[both].clause)
        ++both;
      std::span<const MergeClause> common(keys.data(), both);
      if (both > 0) add_merge_join(*path, *other, shape, common, false, false, result);
    }
  }
  for (const Path* path : right.paths) {
    if (!path->outer.empty()) continue;
    std::vector<MergeClause> keys = in_order_of(clauses, path->order, &MergeClause::right);
    if (!keys.empty()) add_merge_join(*cheap_left, *path, shape, keys, true, false, result);
  }
  add_merge_join(*cheap_left, *cheap_right, shape, clauses, true, true, result);
}

SortedCost JoinSearch::side_cost(const Path& path, bool sorts) {
  if (!sorts) return {path.startup_cost, path.total_cost};
  return sorted_cost(
      {path.startup_cost, path.total_cost, path.rows, width_of(path.relations, path.rows)},
      statement_.settings.work_mem_bytes);
}

void JoinSearch::add_merge_join(const Path& left, const Path& right, const Path& shape,
                                std::span<const MergeClause> keys, bool sort_left, bool sort_right,
                                Candidates& result) {
  SortedCost left_cost = side_cost(left, sort_left);
  SortedCost right_cost = side_cost(right, sort_right);
  double key_count = static_cast<double>(keys.size());
  double checks =
      static_cast<double>(shape.conditions.size() + shape.keys.size() + shape.filter.size()) -
      key_count;
  Offer offer;
  offer.rows = result.rows;
  offer.startup_cost = left_cost.startup + right_cost.startup;
  offer.total_cost = left_cost.total + right_cost.total +
                     (left.rows + right.rows) * cost::operation * key_count +
                     right.rows * cost::kept_row / 2 + result.rows * cost::operation * (checks + 1);
  if (!statement_.settings.enable_merge_join) offer.total_cost += cost::disabled;
  if (!statement_.settings.enable_sort && (sort_left || sort_right))
    offer.total_cost += cost::disabled;
  if (sort_left && shape.join_type != JoinType::full) {
    std::vector<PathKey> sorted;
    for (const MergeClause& key : keys) sorted.push_back({key.left, false, NullsPlace::last});
    offer.order = space_.useful({orders_.copy_span(sorted), {}}, result.classes);
  } else {
    offer.order = joined_order(left, right, shape.join_type, false, result);
  }
  if (is_beaten(result, offer)) return;
  Path path = shape;
  path.kind = PathKind::merge_join;
  path.left = &left;
  path.right = &right;
  path.sort_left = sort_left;
  path.sort_right = sort_right;
  path.keys.clear();
  for (const MergeClause& key : keys) path.keys.push_back(key.clause);
  for (const Clause* clause : shape.keys) {
    bool is_key = std::find(path.keys.begin(), path.keys.end(), clause) != path.keys.end();
    if (!is_key) path.conditions.push_back(clause);
  }
  take(offer, result, std::move(path));
}

}  // namespace pgsilo
