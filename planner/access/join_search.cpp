#include "planner/access/join_search.h"

#include <algorithm>
#include <cmath>

#include "base/long_work.h"
#include "catalog/descriptors.h"
#include "planner/access/selectivity.h"
#include "planner/plan/transaction_plan.h"
#include "sql/sql_error.h"

namespace pgsilo {

namespace {

// Beyond this many relations the pairs to try grow too fast.
constexpr int exhaustive_limit = 9;
constexpr double disabled = 1e10;
// Of a look at a clause, in bytes (WorkMeter::block).
constexpr size_t clause_work = 16;

JoinType type_of(const JoinProblem& problem, int32_t special_join) {
  return special_join < 0 ? JoinType::inner : problem.special_joins[special_join].type;
}

bool keeps_left_order(JoinType type) { return type != JoinType::right && type != JoinType::full; }

}  // namespace

double sort_cost(double rows) {
  return cost::sort_comparison * rows * std::log2(std::max(rows, 2.0)) + cost::row * rows;
}

JoinSearch::JoinSearch(StatementPlanning& statement, const BoundQuery& query,
                       const JoinProblem& problem, std::span<const OtherRelation> others,
                       JoinGoal goal)
    : statement_(statement), query_(query), problem_(problem), others_(others), goal_(goal) {}

double JoinSearch::cost_for_goal(const Path& path) const {
  double cost =
      path.startup_cost + (path.total_cost - path.startup_cost) * goal_.demand.share_of(path.rows);
  if (goal_.wanted_order.empty() || path.is_ordered) return cost;
  // A sort reads everything first.
  return path.total_cost + sort_cost(path.rows);
}

const Path& JoinSearch::best(const Candidates& candidates) const {
  const Path* best = nullptr;
  for (const Path* path : candidates.paths) {
    if (!path->outer.empty()) continue;
    if (best == nullptr || cost_for_goal(*path) < cost_for_goal(*best)) best = path;
  }
  if (best == nullptr)
    throw SqlError(sqlstate::internal_error, "no join order serves the lateral references");
  return *best;
}

// Kept unless another one is as good in every respect.
void JoinSearch::add_path(Candidates& candidates, Path path) {
  auto dominates = [](const Path& a, const Path& b) {
    return a.total_cost <= b.total_cost && a.startup_cost <= b.startup_cost &&
           a.is_ordered >= b.is_ordered && b.outer.contains(a.outer);
  };
  for (const Path* known : candidates.paths) {
    if (dominates(*known, path)) return;
  }
  std::erase_if(candidates.paths, [&](const Path* known) { return dominates(path, *known); });
  paths_.push_back(std::move(path));
  candidates.paths.push_back(&paths_.back());
}

RelationSet JoinSearch::lateral_of(RelationSet set) const {
  RelationSet lateral;
  set.for_each([&](int32_t relation) { lateral |= others_[relation].lateral; });
  return lateral - set;
}

bool JoinSearch::is_connected(RelationSet left, RelationSet right) const {
  did_work(problem_.clauses.size() * clause_work);
  for (const Clause& clause : problem_.clauses) {
    if (clause.relations.overlaps(left) && clause.relations.overlaps(right)) return true;
  }
  return lateral_of(left).overlaps(right) || lateral_of(right).overlaps(left);
}

double JoinSearch::joined_rows(JoinType type, double left_rows, double right_rows,
                               const std::vector<const Clause*>& clauses) const {
  double selectivity = 1;
  for (const Clause* clause : clauses) selectivity *= clause->selectivity;
  double matched = left_rows * right_rows * selectivity;
  switch (type) {
    case JoinType::inner:
      return clamp_rows(matched);
    case JoinType::left:
      return clamp_rows(std::max(matched, left_rows));
    case JoinType::right:
      return clamp_rows(std::max(matched, right_rows));
    case JoinType::full:
      return clamp_rows(std::max({matched, left_rows, right_rows}));
    case JoinType::semi:
      return clamp_rows(left_rows * matched_part(clauses, right_rows));
    case JoinType::anti:
      return clamp_rows(left_rows * (1 - matched_part(clauses, right_rows)));
  }
  return clamp_rows(matched);
}

// The join without its sides: its type and which conditions it checks where.
Path JoinSearch::join_shape(RelationSet left_set, RelationSet right_set,
                            int32_t special_join) const {
  Path shape;
  shape.relations = left_set | right_set;
  shape.join_type = type_of(problem_, special_join);
  for (const Clause& clause : problem_.clauses) {
    if (!shape.relations.contains(clause.required)) continue;
    if (left_set.contains(clause.required) || right_set.contains(clause.required)) continue;
    bool is_condition =
        special_join < 0 ? clause.special_join < 0 : clause.special_join == special_join;
    if (!is_condition) {
      shape.filter.push_back(&clause);
      continue;
    }
    bool hashable =
        clause.equality != nullptr &&
        ((left_set.contains(clause.left_relations) && right_set.contains(clause.right_relations)) ||
         (right_set.contains(clause.left_relations) && left_set.contains(clause.right_relations)));
    (hashable ? shape.hashed : shape.conditions).push_back(&clause);
  }
  return shape;
}

// A full join has no other way; without keys each row meets all others. As in PostgreSQL all that
// may be asked of them then is what is known before.
bool JoinSearch::may_hash(const Path& shape) {
  if (!shape.hashed.empty()) return true;
  return shape.join_type == JoinType::full &&
         std::all_of(shape.conditions.begin(), shape.conditions.end(), [](const Clause* clause) {
           ExpressionKind kind = clause->expression->kind;
           return kind == ExpressionKind::constant || kind == ExpressionKind::parameter;
         });
}

void JoinSearch::add_hash_join(const Path& left, const Path& right, const Path& shape,
                               Candidates& result) {
  bool one_reads_the_other =
      left.outer.overlaps(right.relations) || right.outer.overlaps(left.relations);
  if (!may_hash(shape) || one_reads_the_other) return;
  Path path = shape;
  path.kind = PathKind::hash_join;
  path.outer = left.outer | right.outer;
  if (!path.outer.empty() && !may_read_beyond_) return;
  path.left = &left;
  path.right = &right;
  path.startup_cost = left.startup_cost + right.total_cost + right.rows * cost::hash_row;
  double checks = static_cast<double>(shape.conditions.size() + shape.filter.size() + 1);
  path.total_cost = path.startup_cost + (left.total_cost - left.startup_cost) +
                    left.rows * cost::row + result.rows * cost::operation * checks;
  if (!statement_.settings.enable_hash_join) path.total_cost += disabled;
  path.rows = result.rows;
  path.is_ordered = left.is_ordered && keeps_left_order(path.join_type);
  add_path(result, std::move(path));
}

void JoinSearch::add_nested_loop(const Path& left, const Path& right, const Path& shape,
                                 Candidates& result) {
  if (shape.join_type == JoinType::full || shape.join_type == JoinType::right) return;
  if (left.outer.overlaps(right.relations)) return;
  Path path = shape;
  path.kind = PathKind::nested_loop;
  path.outer = (left.outer | right.outer) - path.relations;
  if (!path.outer.empty() && !may_read_beyond_) return;
  path.left = &left;
  path.right = &right;
  path.conditions.insert(path.conditions.end(), path.hashed.begin(), path.hashed.end());
  path.hashed.clear();
  double rescan = right.total_cost;
  if (right.outer.empty() && (right.kind != PathKind::index || right.rows > 1)) {
    path.materialize_right = true;
    rescan = right.rows * cost::operation * 2;
  }
  // A semi or anti join stops at the first match.
  bool stops = path.join_type == JoinType::semi || path.join_type == JoinType::anti;
  double share = stops ? 0.5 : 1;
  double pairs = left.rows * right.rows * share;
  double checks = static_cast<double>(path.conditions.size() + path.filter.size());
  path.startup_cost = left.startup_cost + right.startup_cost;
  path.total_cost = left.total_cost + right.total_cost +
                    std::max(0.0, left.rows - 1) * rescan * share +
                    pairs * (cost::operation * checks + cost::row / 2);
  if (!statement_.settings.enable_nested_loop) path.total_cost += disabled;
  path.rows = result.rows;
  path.is_ordered = left.is_ordered;
  add_path(result, std::move(path));
}

// The right side, one table, looked up through an index for each left row.
void JoinSearch::add_parameterised_joins(const Path& left, const Path& shape, RelationSet right_set,
                                         Candidates& result) {
  if (right_set.size() != 1 || !left.outer.empty()) return;
  int32_t relation = right_set.first();
  if (others_[relation].plan != nullptr) return;
  if (shape.join_type == JoinType::full || shape.join_type == JoinType::right) return;
  std::vector<const Clause*> clauses;
  for (const Clause& clause : problem_.clauses) {
    if (clause.required == right_set) clauses.push_back(&clause);
  }
  size_t own = clauses.size();
  clauses.insert(clauses.end(), shape.hashed.begin(), shape.hashed.end());
  clauses.insert(clauses.end(), shape.conditions.begin(), shape.conditions.end());
  std::vector<const Path*> paths;
  add_index_paths(relation, left.relations, clauses, paths);
  for (const Path* scan : paths) {
    bool uses_left =
        std::any_of(scan->match.used.begin(), scan->match.used.end(), [&](const Clause* clause) {
          return std::find(clauses.begin() + own, clauses.end(), clause) != clauses.end();
        });
    if (!uses_left) continue;
    // What the scan does not answer by its index is checked by the join; the relation's own
    // conditions by the scan.
    Path inner = *scan;
    std::erase_if(inner.filter,
                  [&](const Clause* clause) { return clause->required != right_set; });
    Path joined = shape;
    auto answered = [&](const Clause* clause) {
      const auto& used = inner.match.used;
      const auto& rechecked = inner.match.rechecked;
      return std::find(used.begin(), used.end(), clause) != used.end() &&
             std::find(rechecked.begin(), rechecked.end(), clause) == rechecked.end();
    };
    std::erase_if(joined.hashed, answered);
    std::erase_if(joined.conditions, answered);
    joined.right_is_unique = inner.match.is_point();
    paths_.push_back(std::move(inner));
    add_nested_loop(left, paths_.back(), joined, result);
  }
}

void JoinSearch::join_sides(const Candidates& left, const Candidates& right, RelationSet left_set,
                            RelationSet right_set, int32_t special_join, Candidates& result) {
  // Each of the paths that are tried has the clauses.
  constexpr size_t join_work = 4096;
  did_work(left.paths.size() * right.paths.size() *
           (join_work + problem_.clauses.size() * clause_work));
  Path shape = join_shape(left_set, right_set, special_join);
  if (result.paths.empty()) {
    std::vector<const Clause*> all = shape.hashed;
    all.insert(all.end(), shape.conditions.begin(), shape.conditions.end());
    all.insert(all.end(), shape.filter.begin(), shape.filter.end());
    result.rows = joined_rows(shape.join_type, left.rows, right.rows, all);
  }
  for (const Path* left_path : left.paths) {
    for (const Path* right_path : right.paths) {
      add_hash_join(*left_path, *right_path, shape, result);
      add_nested_loop(*left_path, *right_path, shape, result);
    }
    add_parameterised_joins(*left_path, shape, right_set, result);
  }
}

void JoinSearch::join(RelationSet left, RelationSet right) {
  int32_t special_join = -1;
  bool swapped = false;
  if (!is_legal_join(problem_, left, right, &special_join, &swapped)) return;
  auto left_found = candidates_.find(left.bits());
  auto right_found = candidates_.find(right.bits());
  if (left_found == candidates_.end() || right_found == candidates_.end()) return;
  // A copy: inserting the result may move what the iterators point at.
  Candidates left_side = left_found->second;
  Candidates right_side = right_found->second;
  Candidates& result = candidates_[(left | right).bits()];
  JoinType type = type_of(problem_, special_join);
  if (type == JoinType::inner) {
    join_sides(left_side, right_side, left, right, special_join, result);
    join_sides(right_side, left_side, right, left, special_join, result);
  } else if (swapped) {
    join_sides(right_side, left_side, right, left, special_join, result);
  } else {
    join_sides(left_side, right_side, left, right, special_join, result);
  }
  if (result.paths.empty()) candidates_.erase((left | right).bits());
}

void JoinSearch::search_all() {
  std::vector<RelationSet> members;
  problem_.relations.for_each(
      [&](int32_t relation) { members.push_back(RelationSet::of(relation)); });
  size_t subsets = size_t{1} << members.size();
  auto set_of = [&](size_t bits) {
    RelationSet set;
    for (size_t i = 0; i < members.size(); ++i) {
      if ((bits >> i & 1) != 0) set |= members[i];
    }
    return set;
  };
  for (size_t bits = 1; bits < subsets; ++bits) {
    if ((bits & (bits - 1)) == 0) continue;
    // First the splits with a condition between the sides; products only where there are none.
    for (bool connected : {true, false}) {
      for (size_t left = (bits - 1) & bits; left != 0; left = (left - 1) & bits) {
        size_t right = bits & ~left;
        if (left < right) continue;  // each pair once
        RelationSet left_set = set_of(left);
        RelationSet right_set = set_of(right);
        if (is_connected(left_set, right_set) == connected) join(left_set, right_set);
      }
      if (candidates_.contains(set_of(bits).bits())) break;
    }
  }
}

RelationSet JoinSearch::join_as_written(const FromItem& item) {
  if (item.relation >= 0) return RelationSet::of(item.relation);
  RelationSet left = join_as_written(*item.left);
  RelationSet right = join_as_written(*item.right);
  if (!candidates_.contains((left | right).bits())) join(left, right);
  return left | right;
}

// Greed may end where nothing may be joined with anything: outer joins, and who reads whom, leave
// no other order of what is left.
void JoinSearch::join_as_written() {
  may_read_beyond_ = true;
  RelationSet joined;
  for (const FromItem* item : query_.from) {
    RelationSet next = join_as_written(*item);
    if (!joined.empty() && !candidates_.contains((joined | next).bits())) join(joined, next);
    joined |= next;
  }
}

void JoinSearch::search_greedily() {
  may_read_beyond_ = false;  // or two sides may soon read each other
  std::vector<RelationSet> parts;
  problem_.relations.for_each(
      [&](int32_t relation) { parts.push_back(RelationSet::of(relation)); });
  while (parts.size() > 1) {
    double best_cost = 0;
    size_t best_left = 0;
    size_t best_right = 0;
    for (bool connected : {true, false}) {
      for (size_t i = 0; i < parts.size(); ++i) {
        for (size_t j = i + 1; j < parts.size(); ++j) {
          if (is_connected(parts[i], parts[j]) != connected) continue;
          uint64_t key = (parts[i] | parts[j]).bits();
          if (!candidates_.contains(key)) join(parts[i], parts[j]);
          auto found = candidates_.find(key);
          if (found == candidates_.end()) continue;
          double cost = found->second.rows + found->second.paths.front()->total_cost;
          if (best_right == 0 || cost < best_cost) {
            best_cost = cost;
            best_left = i;
            best_right = j;
          }
        }
      }
      if (best_right != 0) break;
    }
    if (best_right == 0) return join_as_written();
    parts[best_left] |= parts[best_right];
    parts.erase(parts.begin() + static_cast<ptrdiff_t>(best_right));
  }
}

const Path& JoinSearch::run() {
  problem_.relations.for_each([&](int32_t relation) { make_scan_paths(relation); });
  int count = problem_.relations.size();
  if (count > exhaustive_limit) {
    search_greedily();
  } else if (count > 1) {
    search_all();
  }
  auto found = candidates_.find(problem_.relations.bits());
  if (found == candidates_.end()) {
    bool full = std::any_of(problem_.special_joins.begin(), problem_.special_joins.end(),
                            [](const SpecialJoin& join) { return join.type == JoinType::full; });
    if (full) {
      throw SqlError(
          sqlstate::feature_not_supported,
          "FULL JOIN is only supported with merge-joinable or hash-joinable join conditions");
    }
    throw SqlError(sqlstate::internal_error, "failed to join all relations together");
  }
  return best(found->second);
}

}  // namespace pgsilo
