#include "planner/access/join_search.h"

#include <algorithm>
#include <bit>

#include "base/long_work.h"
#include "catalog/descriptors.h"
#include "catalog/statistics/table_sample.h"
#include "planner/access/selectivity.h"
#include "planner/plan/transaction_plan.h"
#include "sql/sql_error.h"
#include "sql/types/type.h"

namespace pgsilo {

namespace {

// Beyond this many relations the pairs to try grow too fast.
constexpr int exhaustive_limit = 9;
// Of a look at a clause, in bytes (WorkMeter::block).
constexpr size_t clause_work = 16;
// Of paths to the same rows in different orders.
constexpr ptrdiff_t most_orders = 6;

double cheapest(const std::vector<const Path*>& paths) {
  double cost = paths.front()->total_cost;
  for (const Path* path : paths) cost = std::min(cost, path->total_cost);
  return cost;
}

}  // namespace

JoinSearch::JoinSearch(QueryContext& context, const JoinProblem& problem,
                       std::span<const OtherRelation> others, JoinGoal goal)
    : context_(context),
      statement_(context.statement),
      query_(context.query),
      problem_(problem),
      others_(others),
      goal_(goal),
      space_(orders_, problem, goal_) {}

FoundPath JoinSearch::look_at(const Path& path, const KeyClasses& classes) const {
  FoundPath found{&path, 0, {}};
  if (goal_.is_grouped) {
    found.grouped = space_.grouped_by(path.order, classes);
  } else {
    found.sorted = space_.sorted_by(path.order, classes);
  }
  if (!statement_.settings.enable_incremental_sort) {
    for (size_t* sorted : {&found.sorted, &found.grouped.sorted}) {
      if (*sorted < goal_.order.size()) *sorted = 0;
    }
  }
  return found;
}

double JoinSearch::width_of(RelationSet relations, double rows) const {
  constexpr double few = 32;
  constexpr double unknown = -1;
  if (rows <= few) return 0;
  if (widths_.empty()) widths_.assign(query_.relations.size(), unknown);
  double width = 0;
  relations.for_each([&](int32_t relation) {
    double& known = widths_[static_cast<size_t>(relation)];
    if (known == unknown) known = relation_width(relation);
    width += known;
  });
  return width;
}

double JoinSearch::relation_width(int32_t relation) const {
  if (others_[relation].plan != nullptr) return others_[relation].plan->width;
  const BoundRelation& table = *query_.relations[relation];
  const std::vector<bool>& read = context_.columns_read(relation);
  double width = 0;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    if (!read[i]) continue;
    const BoundColumn& column = table.columns[i];
    const TypeInfo* type = find_type(column.type);
    const ColumnSample* sample = nullptr;
    if (type != nullptr && type->typlen <= 0)
      sample = statement_.column_sample(*table.table, static_cast<int16_t>(i + 1));
    bool is_known = sample != nullptr && sample->width != 0;
    width += is_known ? sample->width : type_width(column.type, column.typmod);
  }
  return width;
}

FoundPath JoinSearch::best(const Candidates& candidates) const {
  FoundPath best;
  double best_cost = 0;
  for (const Path* path : candidates.paths) {
    if (!path->outer.empty()) continue;
    FoundPath found = look_at(*path, candidates.classes);
    double cost = cost_for_goal(found);
    if (best.path != nullptr && cost >= best_cost) continue;
    best = found;
    best_cost = cost;
  }
  if (best.path == nullptr)
    throw SqlError(sqlstate::internal_error, "no join order serves the lateral references");
  return best;
}

JoinSearch::Candidates& JoinSearch::candidates_of(RelationSet relations) {
  auto [found, made] = candidates_.try_emplace(relations.bits());
  if (made) found->second.classes = space_.classes_of(relations);
  return found->second;
}

bool JoinSearch::is_beaten(const Candidates& candidates, const Offer& offer) {
  return std::any_of(candidates.paths.begin(), candidates.paths.end(), [&](const Path* known) {
    return known->total_cost <= offer.total_cost && known->startup_cost <= offer.startup_cost &&
           offer.outer.contains(known->outer) && known->order.covers(offer.order);
  });
}

// Kept unless another one is as good in every respect.
void JoinSearch::add_path(Candidates& candidates, Path path) {
  if (is_beaten(candidates, {path.startup_cost, path.total_cost, path.order, path.outer})) return;
  std::erase_if(candidates.paths, [&](const Path* known) {
    return path.total_cost <= known->total_cost && path.startup_cost <= known->startup_cost &&
           known->outer.contains(path.outer) && path.order.covers(known->order);
  });
  paths_.push_back(std::move(path));
  candidates.paths.push_back(&paths_.back());
  drop_dearest_order(candidates);
}

// However many orders there are: the search takes the product of both sides' paths.
void JoinSearch::drop_dearest_order(Candidates& candidates) {
  auto in_order = [](const Path* path) { return !path->order.keys.empty() && path->outer.empty(); };
  auto count = std::count_if(candidates.paths.begin(), candidates.paths.end(), in_order);
  if (count <= most_orders) return;
  auto dearest = candidates.paths.end();
  for (auto path = candidates.paths.begin(); path != candidates.paths.end(); ++path) {
    if (!in_order(*path)) continue;
    if (dearest == candidates.paths.end() || (*path)->total_cost > (*dearest)->total_cost)
      dearest = path;
  }
  // The only path without parameters has to stay.
  bool is_last =
      std::none_of(candidates.paths.begin(), candidates.paths.end(),
                   [&](const Path* path) { return path != *dearest && path->outer.empty(); });
  if (!is_last) candidates.paths.erase(dearest);
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

void JoinSearch::join(RelationSet left, RelationSet right) {
  int32_t special_join = -1;
  bool swapped = false;
  if (!is_legal_join(problem_, left, right, &special_join, &swapped)) return;
  auto left_found = candidates_.find(left.bits());
  auto right_found = candidates_.find(right.bits());
  if (left_found == candidates_.end() || right_found == candidates_.end()) return;
  // Inserting the result moves iterators, not what they point at.
  const Candidates& left_side = left_found->second;
  const Candidates& right_side = right_found->second;
  Candidates& result = candidates_of(left | right);
  JoinType type = special_join < 0 ? JoinType::inner : problem_.special_joins[special_join].type;
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

// Products of sides that no condition connects are tried where nothing else comes to all relations.
void JoinSearch::search_all() {
  search_subsets(/*products=*/false);
  if (!candidates_.contains(problem_.relations.bits())) search_subsets(/*products=*/true);
}

void JoinSearch::search_subsets(bool products) {
  std::vector<RelationSet> members;
  problem_.relations.for_each(
      [&](int32_t relation) { members.push_back(RelationSet::of(relation)); });
  std::vector<RelationSet> sets(size_t{1} << members.size());
  for (size_t bits = 1; bits < sets.size(); ++bits) {
    size_t first = static_cast<size_t>(std::countr_zero(bits));
    sets[bits] = sets[bits & (bits - 1)] | members[first];
  }
  for (size_t bits = 1; bits < sets.size(); ++bits) {
    if (candidates_.contains(sets[bits].bits())) continue;
    join_splits(sets, bits, /*connected=*/true);
    bool found = candidates_.contains(sets[bits].bits());
    if (products && !found) join_splits(sets, bits, /*connected=*/false);
  }
}

void JoinSearch::join_splits(std::span<const RelationSet> sets, size_t bits, bool connected) {
  for (size_t left = (bits - 1) & bits; left != 0; left = (left - 1) & bits) {
    size_t right = bits & ~left;
    if (left < right) break;  // each pair once
    if (!candidates_.contains(sets[left].bits()) || !candidates_.contains(sets[right].bits()))
      continue;
    if (is_connected(sets[left], sets[right]) == connected) join(sets[left], sets[right]);
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
          double cost = found->second.rows + cheapest(found->second.paths);
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

FoundPath JoinSearch::run() {
  problem_.relations.for_each([&](int32_t relation) { make_scan_paths(relation); });
  int count = problem_.relations.size();
  if (count <= exhaustive_limit) make_driven_scans();
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
