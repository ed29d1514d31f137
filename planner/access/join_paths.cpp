// Paths that join two sides.
#include <algorithm>

#include "base/long_work.h"
#include "catalog/descriptors.h"
#include "planner/access/join_search.h"
#include "planner/access/selectivity.h"
#include "planner/access/spill_cost.h"
#include "planner/bound/expression_tree.h"
#include "planner/bound/query_tree.h"
#include "planner/plan/transaction_plan.h"
#include "sql/types/type.h"

namespace pgsilo {

namespace {

// Of a look at a clause, in bytes (WorkMeter::block).
constexpr size_t clause_work = 16;

JoinType type_of(const JoinProblem& problem, int32_t special_join) {
  return special_join < 0 ? JoinType::inner : problem.special_joins[special_join].type;
}

// Whether equal values of the type cannot be told apart.
bool is_same_if_equal(Oid type) {
  const TypeInfo* info = find_type(type);
  if (info == nullptr || !info->is_hashable()) return false;
  switch (info->key_form) {
    case KeyForm::boolean:
    case KeyForm::int16:
    case KeyForm::int32:
    case KeyForm::int64:
    case KeyForm::uint32:
    case KeyForm::text:
    case KeyForm::bytea:
      return true;
    default:
      return false;
  }
}

double row_bytes(const BoundRelation& relation) {
  double bytes = 0;
  for (const BoundColumn& column : relation.columns)
    bytes += type_width(column.type, column.typmod);
  return bytes;
}

// The conditions that scans below use to read for each row of what is outside.
void add_answered(const Path& path, RelationSet outer, std::vector<const Clause*>& answered) {
  if (!path.outer.overlaps(outer)) return;
  if (path.left != nullptr) {
    add_answered(*path.left, outer, answered);
    return add_answered(*path.right, outer, answered);
  }
  for (const Clause* clause : path.match.used) {
    const auto& rechecked = path.match.rechecked;
    bool all = std::find(rechecked.begin(), rechecked.end(), clause) == rechecked.end();
    if (all && clause->relations.overlaps(outer)) answered.push_back(clause);
  }
}

}  // namespace

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
    (hashable ? shape.keys : shape.conditions).push_back(&clause);
  }
  return shape;
}

// A full join has no other way; without keys each row meets all others. As in PostgreSQL all that
// may be asked of them then is what is known before.
bool JoinSearch::may_hash(const Path& shape) {
  if (!shape.keys.empty()) return true;
  return shape.join_type == JoinType::full &&
         std::all_of(shape.conditions.begin(), shape.conditions.end(), [](const Clause* clause) {
           ExpressionKind kind = clause->expression->kind;
           return kind == ExpressionKind::constant || kind == ExpressionKind::parameter;
         });
}

// Of the rows of a join that takes each left row's matches together; `in_turn`: in the order of the
// right side.
PathOrder JoinSearch::joined_order(const Path& left, const Path& right, JoinType type, bool in_turn,
                                   const Candidates& result) {
  if (type == JoinType::right || type == JoinType::full) return {};
  PathOrder order = left.order;
  // Where each left row is a group of its own, the right side's order is that within it.
  bool within = in_turn && !is_left_only(type) && order.told.contains(left.relations);
  if (within) {
    std::vector<PathKey> keys(order.keys.begin(), order.keys.end());
    keys.insert(keys.end(), right.order.keys.begin(), right.order.keys.end());
    order.keys = orders_.copy_span(keys);
    order.told |= right.order.told;
  }
  if (order.keys.empty() && order.told.empty()) return order;
  return space_.useful(order, result.classes);
}

void JoinSearch::add_hash_join(const Path& left, const Path& right, const Path& shape,
                               Candidates& result) {
  bool one_reads_the_other =
      left.outer.overlaps(right.relations) || right.outer.overlaps(left.relations);
  if (!may_hash(shape) || one_reads_the_other) return;
  Offer offer;
  offer.outer = left.outer | right.outer;
  if (!offer.outer.empty() && !may_read_beyond_) return;
  offer.startup_cost = left.startup_cost + right.total_cost + hash_cost(right.rows, right.rows);
  double checks = static_cast<double>(shape.conditions.size() + shape.filter.size() + 1);
  offer.rows = rows_of(left, right, shape, result);
  const SpillCost spill =
      join_spill_cost(right.rows, width_of(right.relations, right.rows), left.rows,
                      width_of(left.relations, left.rows), statement_.settings.hash_memory_bytes);
  offer.startup_cost += spill.startup;
  offer.total_cost = offer.startup_cost + (left.total_cost - left.startup_cost) +
                     left.rows * cost::row + offer.rows * cost::operation * checks + spill.run;
  if (!statement_.settings.enable_hash_join) offer.total_cost += cost::disabled;
  // To keep the order it would write the result, too: a sort above does no more.
  if (!spill.spills) offer.order = joined_order(left, right, shape.join_type, false, result);
  if (is_beaten(result, offer)) return;
  Path path = shape;
  path.kind = PathKind::hash_join;
  path.left = &left;
  path.right = &right;
  take(offer, result, std::move(path));
}

void JoinSearch::take(const Offer& offer, Candidates& result, Path path) {
  path.outer = offer.outer;
  path.startup_cost = offer.startup_cost;
  path.total_cost = offer.total_cost;
  path.order = offer.order;
  path.rows = offer.rows;
  add_path(result, std::move(path));
}

// Of sides that read what is on neither there are fewer rows, for each row of what they read.
double JoinSearch::rows_of(const Path& left, const Path& right, const Path& shape,
                           const Candidates& result) const {
  double share = 1;
  for (const Path* side : {&left, &right}) {
    if (shape.relations.contains(side->outer)) continue;
    share *= side->rows / std::max(1.0, candidates_.at(side->relations.bits()).rows);
  }
  return share == 1 ? result.rows : clamp_rows(result.rows * std::min(1.0, share));
}

void JoinSearch::add_nested_loop(const Path& left, const Path& right, const Path& shape,
                                 Candidates& result, Memo memo) {
  if (shape.join_type == JoinType::full || shape.join_type == JoinType::right) return;
  if (left.outer.overlaps(right.relations)) return;
  Offer offer;
  offer.outer = (left.outer | right.outer) - shape.relations;
  if (!offer.outer.empty() && !may_read_beyond_) return;
  double rescan = right.total_cost;
  bool materialize_right = right.outer.empty() && (right.kind != PathKind::index || right.rows > 1);
  double spill = 0;
  if (materialize_right) {
    spill = kept_spill_cost(right.rows, width_of(right.relations, right.rows),
                            statement_.settings.work_mem_bytes);
    rescan = right.rows * cost::operation * 2 + spill;
  }
  if (memo.keeps) rescan = memo.rescan_cost;
  // A semi or anti join stops at the first match.
  double share = is_left_only(shape.join_type) ? 0.5 : 1;
  double pairs = left.rows * right.rows * share;
  double checks =
      static_cast<double>(shape.conditions.size() + shape.keys.size() + shape.filter.size());
  offer.rows = rows_of(left, right, shape, result);
  offer.startup_cost = left.startup_cost + right.startup_cost;
  offer.total_cost = left.total_cost + right.total_cost + spill +
                     std::max(0.0, left.rows - 1) * rescan * share +
                     pairs * (cost::operation * checks + cost::row / 2);
  if (!statement_.settings.enable_nested_loop) offer.total_cost += cost::disabled;
  offer.order = joined_order(left, right, shape.join_type, true, result);
  if (is_beaten(result, offer)) return;
  Path path = shape;
  path.kind = PathKind::nested_loop;
  path.left = &left;
  path.right = &right;
  path.materialize_right = materialize_right;
  path.memoize_right = memo.keeps;
  path.conditions.insert(path.conditions.end(), path.keys.begin(), path.keys.end());
  path.keys.clear();
  take(offer, result, std::move(path));
}

// What is read for the same values again and again is kept, if there is room for it.
void JoinSearch::add_memoized_loop(const Path& left, const Lookup& lookup, Candidates& result) {
  constexpr double entry_bytes = 64;
  const Path& right = *lookup.scan;
  if (!statement_.settings.enable_memoize || lookup.distinct * 2 > left.rows) return;
  double bytes = lookup.distinct * (entry_bytes + right.rows * (entry_bytes + lookup.row_bytes));
  double room = std::min(1.0, static_cast<double>(statement_.settings.work_mem_bytes) / bytes);
  double hits = (1 - lookup.distinct / left.rows) * room;
  double made = right.total_cost + (right.rows + 1) * cost::kept_row;
  add_nested_loop(left, right, lookup.shape, result,
                  {true, hits * (1 + right.rows) * cost::kept_row + (1 - hits) * made});
}

// The right side, one table, looked up through an index for each left row.
std::vector<JoinSearch::Lookup> JoinSearch::lookups_of(RelationSet left_set, RelationSet right_set,
                                                       const Path& shape) {
  std::vector<Lookup> lookups;
  if (right_set.size() != 1) return lookups;
  int32_t relation = right_set.first();
  if (others_[relation].plan != nullptr) return lookups;
  if (shape.join_type == JoinType::full || shape.join_type == JoinType::right) return lookups;
  std::vector<const Clause*> clauses;
  for (const Clause& clause : problem_.clauses) {
    if (clause.required == right_set) clauses.push_back(&clause);
  }
  size_t own = clauses.size();
  clauses.insert(clauses.end(), shape.keys.begin(), shape.keys.end());
  clauses.insert(clauses.end(), shape.conditions.begin(), shape.conditions.end());
  std::vector<const Path*> paths;
  add_index_paths(relation, left_set, clauses, paths);
  for (const Path* scan : paths) {
    bool uses_left =
        std::any_of(scan->match.used.begin(), scan->match.used.end(), [&](const Clause* clause) {
          return std::find(clauses.begin() + own, clauses.end(), clause) != clauses.end();
        });
    if (uses_left) lookups.push_back(lookup_by(*scan, shape, right_set));
  }
  return lookups;
}

// How many different values the left side asks for. Nothing is kept by values that are equal
// without being the same, nor of what is volatile.
void JoinSearch::set_distinct(Lookup& lookup, const Path& inner) const {
  std::vector<const BoundExpression*> read;
  for (const Clause* clause : inner.match.used) {
    contains(*clause->expression, [&](const BoundExpression& part) {
      auto* column = try_as<ColumnExpression>(&part);
      if (column != nullptr && column->levels_up == 0 && inner.outer.has(column->relation))
        read.push_back(column);
      return false;
    });
  }
  // Of how many values what is no table has, next to nothing is known.
  bool keeps = std::all_of(read.begin(), read.end(), [&](const BoundExpression* expression) {
    int32_t relation = as<ColumnExpression>(expression)->relation;
    return is_same_if_equal(expression->type) &&
           query_.relations[relation]->kind == RangeKind::table;
  });
  for (const Clause* clause : inner.filter) keeps = keeps && !calls_volatile(*clause->expression);
  lookup.row_bytes = row_bytes(*query_.relations[inner.relation]);
  if (keeps) lookup.distinct = distinct_rows(statement_, query_, read, 1e18);
}

// What the scan does not answer by its index is checked by the join; the relation's own conditions
// by the scan.
JoinSearch::Lookup JoinSearch::lookup_by(const Path& scan, const Path& shape,
                                         RelationSet right_set) {
  Path inner = scan;
  std::erase_if(inner.filter, [&](const Clause* clause) { return clause->required != right_set; });
  Lookup lookup;
  lookup.shape = shape;
  auto answered = [&](const Clause* clause) {
    const auto& used = inner.match.used;
    const auto& rechecked = inner.match.rechecked;
    return std::find(used.begin(), used.end(), clause) != used.end() &&
           std::find(rechecked.begin(), rechecked.end(), clause) == rechecked.end();
  };
  set_distinct(lookup, inner);
  std::erase_if(lookup.shape.keys, answered);
  std::erase_if(lookup.shape.conditions, answered);
  lookup.shape.right_is_unique = inner.match.is_point();
  paths_.push_back(std::move(inner));
  lookup.scan = &paths_.back();
  return lookup;
}

// What is left to check where the right side is a join that reads for each left row what belongs to
// it.
Path JoinSearch::without_answered(const Path& right, const Path& shape) {
  Path rest = shape;
  std::vector<const Clause*> answered;
  add_answered(right, shape.relations - right.relations, answered);
  auto is_answered = [&](const Clause* clause) {
    return std::find(answered.begin(), answered.end(), clause) != answered.end();
  };
  std::erase_if(rest.keys, is_answered);
  std::erase_if(rest.conditions, is_answered);
  return rest;
}

void JoinSearch::join_sides(const Candidates& left, const Candidates& right, RelationSet left_set,
                            RelationSet right_set, int32_t special_join, Candidates& result) {
  // Each of the paths that are tried has the clauses.
  constexpr size_t join_work = 4096;
  did_work(left.paths.size() * right.paths.size() *
           (join_work + problem_.clauses.size() * clause_work));
  Path shape = join_shape(left_set, right_set, special_join);
  if (result.paths.empty()) {
    std::vector<const Clause*> all = shape.keys;
    all.insert(all.end(), shape.conditions.begin(), shape.conditions.end());
    all.insert(all.end(), shape.filter.begin(), shape.filter.end());
    result.rows = joined_rows(shape.join_type, left.rows, right.rows, all);
  }
  std::vector<Lookup> lookups = lookups_of(left_set, right_set, shape);
  for (const Path* left_path : left.paths) {
    for (const Path* right_path : right.paths) {
      add_hash_join(*left_path, *right_path, shape, result);
      if (right_path->outer.empty()) {
        add_nested_loop(*left_path, *right_path, shape, result, {});
      } else {
        add_nested_loop(*left_path, *right_path, without_answered(*right_path, shape), result, {});
      }
    }
    if (!left_path->outer.empty() && !may_read_beyond_) continue;
    for (const Lookup& lookup : lookups) {
      add_nested_loop(*left_path, *lookup.scan, lookup.shape, result, {});
      add_memoized_loop(*left_path, lookup, result);
    }
  }
  add_merge_joins(left, right, left_set, shape, result);
}

}  // namespace pgsilo
