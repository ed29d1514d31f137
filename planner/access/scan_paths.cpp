// Paths for single relations.
#include <algorithm>
#include <cmath>

#include "catalog/descriptors.h"
#include "planner/access/join_search.h"
#include "planner/access/parameter_guess.h"
#include "planner/access/selectivity.h"
#include "planner/plan/transaction_plan.h"
#include "sql/limits.h"

namespace pgsilo {

namespace {

double descent_cost(double table_size) {
  return cost::descent + cost::operation * std::log2(table_size + 1);
}

// What an index scan leaves to check.
std::vector<const Clause*> remaining(const std::vector<const Clause*>& clauses,
                                     const IndexMatch& match) {
  std::vector<const Clause*> rest;
  for (const Clause* clause : clauses) {
    bool used = std::find(match.used.begin(), match.used.end(), clause) != match.used.end();
    bool rechecked =
        std::find(match.rechecked.begin(), match.rechecked.end(), clause) != match.rechecked.end();
    bool fulfilled =
        std::find(match.fulfilled.begin(), match.fulfilled.end(), clause) != match.fulfilled.end();
    if ((!used || rechecked) && !fulfilled) rest.push_back(clause);
  }
  return rest;
}

double selectivity_of(const std::vector<const Clause*>& clauses) {
  double selectivity = 1;
  for (const Clause* clause : clauses) selectivity *= clause->selectivity;
  return selectivity;
}

// Rows the index conditions let through.
double fetched_rows(const IndexMatch& match, double table_size) {
  if (match.is_unique_lookup()) return std::min(table_size, match.lookups);
  return clamp_rows(table_size * match.selectivity);
}

// What the clauses cost for one row: each value of a list may be looked at.
double check_cost(const std::vector<const Clause*>& clauses) {
  double operations = 0;
  for (const Clause* clause : clauses) operations += comparisons_of(*clause->expression);
  return operations * cost::operation;
}

// Sets the costs, and the rows by the clauses that are not among the used.
void estimate(Path& path, const std::vector<const Clause*>& clauses, double table_size) {
  std::vector<const Clause*> unused;
  for (const Clause* clause : clauses) {
    auto is_in = [&](const std::vector<const Clause*>& some) {
      return std::find(some.begin(), some.end(), clause) != some.end();
    };
    if (!is_in(path.match.used) && !is_in(path.match.implying)) unused.push_back(clause);
  }
  path.filter = remaining(clauses, path.match);
  std::span<const IndexMatch> parts(path.parts);
  if (parts.empty()) parts = {&path.match, 1};
  // Rows of several indexes are told apart.
  double per_row = cost::row + check_cost(path.filter) + (parts.size() > 1 ? cost::hash_row : 0);
  double fetched = 0;
  path.startup_cost = descent_cost(table_size);
  path.total_cost = 0;
  for (const IndexMatch& part : parts) {
    double rows = fetched_rows(part, table_size);
    path.total_cost += part.lookups * path.startup_cost +
                       rows * (per_row + (part.index->primary ? 0 : cost::secondary_row));
    fetched += rows;
  }
  if (!path.match.has_conditions()) path.total_cost += cost::sequential_start;
  path.rows = clamp_rows(std::min(fetched, table_size) * selectivity_of(unused));
}

}  // namespace

void JoinSearch::add_index_path(int32_t relation, RelationSet outer,
                                const std::vector<const Clause*>& clauses, Path path,
                                std::vector<const Path*>& paths) {
  path.kind = PathKind::index;
  path.relation = relation;
  path.relations = RelationSet::of(relation);
  path.outer = outer;
  const KeyClasses& classes = candidates_of(path.relations).classes;
  bool is_ordered = path.parts.empty() && !space_.empty();
  PathOrder forward;
  if (is_ordered) forward = index_order(orders_, space_, indexed(relation), path.match);
  // Which keys of a scan for each row of others are of use, the join will tell.
  auto useful = [&](const PathOrder& order) {
    return outer.empty() ? space_.useful(order, classes) : order;
  };
  path.order = useful(forward);
  estimate(path, clauses, table_rows(statement_, *query_.relations[relation]->table));
  auto keep = [&](const Path& kept) {
    if (!kept.match.has_conditions() && kept.order.keys.empty()) return;
    paths_.push_back(kept);
    paths.push_back(&paths_.back());
  };
  if (space_.wants_reverse(forward, classes)) {
    Path backward = path;
    backward.direction = ScanDirection::backward;
    backward.order = useful(reversed(orders_, forward));
    keep(backward);
  }
  keep(path);
}

// An OR by ranges of one index, or each of its alternatives by the index that is best for it.
std::vector<UnionMatch> JoinSearch::match_unions(
    int32_t relation, const std::vector<const Clause*>& clauses,
    std::span<const IndexDescriptor* const> indexes) const {
  std::vector<const Clause*> others;
  for (const Clause* clause : clauses) {
    if (clause->alternatives.empty()) others.push_back(clause);
  }
  others = usable_clauses(statement_.arena, query_, relation, indexes, others);
  std::vector<UnionMatch> matches;
  auto add = [&](const Clause& clause, std::span<const IndexDescriptor* const> among) {
    auto match = match_union(statement_.arena, query_, relation, among, others, clause);
    bool several = among.size() > 1;
    if (match && (match->parts.size() > 1) == several) matches.push_back(std::move(*match));
  };
  for (const Clause* clause : clauses) {
    if (clause->alternatives.empty()) continue;
    for (const IndexDescriptor* const& index : indexes) add(*clause, {&index, 1});
    if (indexes.size() > 1) add(*clause, indexes);
  }
  return matches;
}

// Of very many ORs the most selective ones: each path has a list of all clauses that it leaves.
void JoinSearch::add_union_paths(int32_t relation, RelationSet outer,
                                 const std::vector<const Clause*>& clauses,
                                 std::span<const IndexDescriptor* const> indexes,
                                 std::vector<const Path*>& paths) {
  std::vector<UnionMatch> matches = match_unions(relation, clauses, indexes);
  if (matches.size() > limits::most_union_paths) {
    std::ranges::sort(matches, {}, &UnionMatch::selectivity);
    matches.resize(limits::most_union_paths);
  }
  for (UnionMatch& match : matches) {
    Path path;
    if (match.parts.size() > 1) {
      path.parts = std::move(match.parts);
    } else {
      path.match = std::move(match.parts.front());
    }
    path.match.used = std::move(match.used);
    path.match.rechecked = std::move(match.rechecked);
    path.match.answered = match.answered;
    add_index_path(relation, outer, clauses, std::move(path), paths);
  }
}

// Columns that go together: what their index has seen of them counts more than their product.
void JoinSearch::correct_selectivity(int32_t relation, IndexMatch& match) const {
  const KeyRanges& ranges = match.ranges[0];
  bool only_equal = ranges.list_column < 0 && !ranges.has_range() && !ranges.skip_nulls;
  if (!only_equal || match.equal_columns < 2 || ranges.is_unique_lookup) return;
  double together = dependent_selectivity(statement_, *query_.relations[relation]->table,
                                          *match.index, match.equal_columns, match.selectivity);
  // A value that is rare by itself is no more frequent together with others.
  double rarest = 1;
  for (const Clause* clause : match.used) rarest = std::min(rarest, clause->selectivity);
  match.selectivity = std::min(rarest, together);
}

void JoinSearch::add_index_paths(int32_t relation, RelationSet outer,
                                 const std::vector<const Clause*>& clauses,
                                 std::vector<const Path*>& paths) {
  if (!statement_.settings.enable_index_scan) return;
  std::vector<const IndexDescriptor*> plain;  // compute nothing
  for (const auto& index : query_.relations[relation]->table->indexes) {
    if (!index->valid) continue;
    Path path;
    path.match = match_index(statement_.arena, indexed(relation), *index, clauses);
    if (index->computes()) {
      if (!may_be_used(relation, clauses, path.match)) continue;
    } else {
      plain.push_back(index.get());
      correct_selectivity(relation, path.match);
    }
    add_index_path(relation, outer, clauses, std::move(path), paths);
  }
  add_union_paths(relation, outer, clauses, plain, paths);
}

// An index that computes, by the conditions on its table alone.
bool JoinSearch::may_be_used(int32_t relation, const std::vector<const Clause*>& clauses,
                             IndexMatch& match) {
  std::vector<const Clause*> own;
  for (const Clause* clause : clauses) {
    if (clause->relations == RelationSet::of(relation) && clause->required == clause->relations)
      own.push_back(clause);
  }
  IndexedRelation table = indexed(relation);
  bool is_usable = !match.index->is_partial() || match_predicate(table, own, match);
  for (const Clause* clause : own)
    note_computed(statement_, *table.keys_of(*match.index), is_usable, *clause->expression);
  return is_usable;
}

IndexedRelation JoinSearch::indexed(int32_t relation) {
  auto [known, is_new] = index_keys_.try_emplace(relation);
  if (is_new) known->second = folded_index_keys(statement_, query_, relation);
  return {query_, relation, known->second};
}

// A side that is to be joined as a whole with what an outer, semi or anti join has on its left may
// begin with what belongs to each row of that.
void JoinSearch::make_driven_scans() {
  if (!statement_.settings.enable_nested_loop) return;
  for (size_t i = 0; i < problem_.special_joins.size(); ++i) {
    const SpecialJoin& join = problem_.special_joins[i];
    if (join.type == JoinType::full || join.right.size() < 2) continue;
    join.right.for_each([&](int32_t relation) {
      if (others_[relation].plan == nullptr && !is_extended_within(join, relation))
        make_driven_scans(static_cast<int32_t>(i), relation);
    });
  }
}

// Whether a join on the right side of `join` adds rows that have none of the relation: what is left
// out of it then would change which.
bool JoinSearch::is_extended_within(const SpecialJoin& join, int32_t relation) const {
  return std::any_of(problem_.special_joins.begin(), problem_.special_joins.end(),
                     [&](const SpecialJoin& inner) {
                       bool full = inner.type == JoinType::full;
                       return join.right.contains(inner.left | inner.right) &&
                              (inner.right.has(relation) || (full && inner.left.has(relation)));
                     });
}

void JoinSearch::make_driven_scans(int32_t special_join, int32_t relation) {
  const SpecialJoin& join = problem_.special_joins[special_join];
  RelationSet own = RelationSet::of(relation);
  std::vector<const Clause*> clauses;
  for (const Clause& clause : problem_.clauses) {
    bool drives = clause.special_join == special_join && clause.relations.has(relation) &&
                  clause.relations.overlaps(join.left) &&
                  (join.left | own).contains(clause.relations);
    if (drives || clause.required == own) clauses.push_back(&clause);
  }
  std::vector<const Path*> paths;
  add_index_paths(relation, join.left, clauses, paths);
  for (const Path* scan : paths) {
    Path path = *scan;
    path.outer = RelationSet();
    for (const Clause* clause : path.match.used) path.outer |= clause->relations - own;
    if (path.outer.empty()) continue;
    std::erase_if(path.filter, [&](const Clause* clause) { return clause->required != own; });
    path.order = {};
    add_path(candidates_of(own), std::move(path));
  }
}

void JoinSearch::make_scan_paths(int32_t relation) {
  Candidates& candidates = candidates_of(RelationSet::of(relation));
  std::vector<const Clause*> clauses;
  for (const Clause& clause : problem_.clauses) {
    if (clause.required == RelationSet::of(relation)) clauses.push_back(&clause);
  }
  Path path;
  path.relation = relation;
  path.relations = RelationSet::of(relation);
  path.filter = clauses;
  double per_row = check_cost(clauses);
  if (others_[relation].plan != nullptr) {
    const PlanNode& plan = *others_[relation].plan;
    path.kind = PathKind::other_relation;
    path.outer = others_[relation].lateral;
    path.startup_cost = plan.startup_cost;
    path.total_cost = plan.total_cost + plan.rows * per_row;
    path.rows = clamp_rows(plan.rows * selectivity_of(clauses));
    candidates.rows = path.rows;
    add_path(candidates, std::move(path));
    return;
  }
  double table_size = table_rows(statement_, *query_.relations[relation]->table);
  path.kind = PathKind::sequential;
  path.total_cost = cost::sequential_start + table_size * (cost::row + per_row);
  if (!statement_.settings.enable_sequential_scan) path.total_cost += cost::disabled;
  path.rows = clamp_rows(table_size * selectivity_of(clauses));
  candidates.rows = path.rows;
  add_path(candidates, std::move(path));
  std::vector<const Path*> indexed;
  add_index_paths(relation, RelationSet(), clauses, indexed);
  for (const Path* one : indexed) {
    candidates.rows = std::min(candidates.rows, one->rows);
    add_path(candidates, *one);
  }
}

}  // namespace pgsilo
