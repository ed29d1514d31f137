// Paths for single relations.
#include <algorithm>
#include <cmath>

#include "catalog/descriptors.h"
#include "planner/access/join_search.h"
#include "planner/access/selectivity.h"
#include "planner/plan/transaction_plan.h"

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
    if (!used || rechecked) rest.push_back(clause);
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
  if (match.is_unique_lookup) {
    return match.in_list_column < 0
               ? 1
               : std::min(table_size, static_cast<double>(match.in_list.size()));
  }
  return clamp_rows(table_size * match.selectivity);
}

Path index_path(const IndexMatch& match, const std::vector<const Clause*>& clauses,
                double table_size, bool primary) {
  Path path;
  path.kind = PathKind::index;
  path.match = match;
  path.filter = remaining(clauses, match);
  double fetched = fetched_rows(match, table_size);
  double descents = match.in_list_column < 0 ? 1 : static_cast<double>(match.in_list.size());
  double per_row = cost::row + (primary ? 0 : cost::secondary_row) +
                   cost::operation * static_cast<double>(path.filter.size());
  path.startup_cost = descent_cost(table_size);
  path.total_cost = descents * path.startup_cost + fetched * per_row;
  path.rows = clamp_rows(fetched * selectivity_of(path.filter));
  return path;
}

}  // namespace

void JoinSearch::add_index_paths(int32_t relation, RelationSet outer,
                                 std::vector<const Clause*> clauses,
                                 std::vector<const Path*>& paths) {
  if (!statement_.settings.enable_index_scan) return;
  const TableDescriptor& table = *query_.relations[relation]->table;
  double table_size = table_rows(statement_, table);
  for (const auto& index : table.indexes) {
    if (!index->valid) continue;
    IndexMatch match = match_index(statement_.arena, query_, relation, *index, clauses);
    bool wants_order = outer.empty() && !goal_.wanted_order.empty();
    std::optional<ScanDirection> direction;
    if (wants_order) direction = match_order(query_, relation, match, goal_.wanted_order);
    if (!match.has_conditions() && !direction) continue;
    Path path = index_path(match, clauses, table_size, index->primary);
    path.relation = relation;
    path.relations = RelationSet::of(relation);
    path.outer = outer;
    path.is_ordered = direction.has_value();
    path.direction = direction.value_or(ScanDirection::forward);
    paths_.push_back(std::move(path));
    paths.push_back(&paths_.back());
  }
}

void JoinSearch::make_scan_paths(int32_t relation) {
  Candidates& candidates = candidates_[RelationSet::of(relation).bits()];
  std::vector<const Clause*> clauses;
  for (const Clause& clause : problem_.clauses) {
    if (clause.required == RelationSet::of(relation)) clauses.push_back(&clause);
  }
  Path path;
  path.relation = relation;
  path.relations = RelationSet::of(relation);
  path.filter = clauses;
  double per_row = cost::operation * static_cast<double>(clauses.size());
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
  if (!statement_.settings.enable_sequential_scan) path.total_cost += 1e10;
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
