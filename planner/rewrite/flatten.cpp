#include "planner/rewrite/flatten.h"

#include <algorithm>
#include <vector>

#include "planner/binder/scope.h"
#include "planner/bound/make_expression.h"
#include "planner/bound/query_tree.h"
#include "planner/rewrite/merge_query.h"

namespace pgsilo {

namespace {

// The subquery a relation stands for, if it can be merged; null otherwise. One that sorts is not:
// string_agg() and whoever shows the rows as they come rest on its order, as in PostgreSQL.
const BoundQuery* mergeable(const BoundRelation& relation) {
  const BoundQuery* query = nullptr;
  if (relation.kind == RangeKind::subquery && !relation.distinct_rows && !relation.keeps_rows) {
    query = relation.query;
  } else if (relation.kind == RangeKind::cte && !is_kept_cte(*relation.cte) &&
             !relation.cte->reads_outer_query && !relation.cte->is_recursive) {
    query = relation.cte->query;
  }
  return query != nullptr && query->order_by.empty() && can_merge(*query) ? query : nullptr;
}

bool has_only_columns(const BoundQuery& query) {
  return std::all_of(query.targets.begin(), query.targets.end(), [](const BoundTarget& target) {
    auto* column = try_as<ColumnExpression>(target.expression);
    return column != nullptr && column->levels_up == 0;
  });
}

// Where a relation stands in FROM.
struct Place {
  bool found = false;
  bool nullable = false;                  // on the null-extended side of an outer join
  const FromItem* on_right_of = nullptr;  // the LEFT JOIN whose right side it alone is
  const FromItem* outer_join = nullptr;   // the nearest around it
};

void find_place(const FromItem& item, int32_t relation, Place within, Place& place) {
  if (item.relation == relation) {
    place = within;
    place.found = true;
    return;
  }
  if (item.relation >= 0) return;
  if (item.join_type != JoinType::inner) within.outer_join = &item;
  Place left = within;
  Place right = within;
  left.on_right_of = right.on_right_of = nullptr;
  left.nullable |= item.join_type == JoinType::right || item.join_type == JoinType::full;
  right.nullable |= item.join_type == JoinType::left || item.join_type == JoinType::full;
  if (item.join_type == JoinType::left && item.right->relation == relation)
    right.on_right_of = &item;
  find_place(*item.left, relation, left, place);
  find_place(*item.right, relation, right, place);
}

bool contains(const FromItem& item, int32_t relation) {
  if (item.relation >= 0) return item.relation == relation;
  return contains(*item.left, relation) || contains(*item.right, relation);
}

// Whether the targets of a subquery in `join`, or its WHERE, which is about to become part of the
// condition of the join, read what is not in the join.
bool reads_beyond(const FromItem& join, const BoundQuery& inner, bool with_where) {
  bool found = false;
  auto look = [&](const BoundExpression& expression) {
    walk_levels(expression, 0, [&](const BoundExpression& e, int32_t depth) {
      auto* column = try_as<ColumnExpression>(&e);
      if (column != nullptr && column->levels_up == depth + 1)
        found |= !contains(join, column->relation);
      return !found;
    });
  };
  for (const BoundTarget& target : inner.targets) look(*target.expression);
  if (with_where && inner.where != nullptr) look(*inner.where);
  return found;
}

class Flattening {
 public:
  Flattening(Arena& arena, const BoundQuery& query)
      : arena_(arena), query_(arena.make<BoundQuery>(query)) {}

  const BoundQuery* run() {
    for (size_t i = 0; i < query_->relations.size(); ++i) {
      const BoundQuery* inner = mergeable(*query_->relations[i]);
      if (inner != nullptr) merge(static_cast<int32_t>(i), *inner);
    }
    return query_;
  }

 private:
  void merge(int32_t number, const BoundQuery& inner) {
    Place place;
    for (const FromItem* item : query_->from) find_place(*item, number, {}, place);
    if (!place.found) return;
    bool has_where = inner.where != nullptr;
    if (place.nullable && (!has_only_columns(inner) || (has_where && place.on_right_of == nullptr)))
      return;
    // LATERAL: what it does not find must not be missed outside instead, and what a join decides by
    // has to be at hand there.
    if (place.outer_join != nullptr && reads_beyond(*place.outer_join, inner, place.nullable))
      return;
    FromReads reads = reads_around(inner);
    if (reads == FromReads::by_outer_joins || (place.nullable && reads != FromReads::nothing))
      return;
    if (query_->relations.size() + inner.relations.size() > 60) return;

    MergedQuery merged(arena_, inner, static_cast<int32_t>(query_->relations.size()));
    const BoundExpression* where = merged.where();
    auto items = arena_.copy_span(query_->from);
    for (const FromItem*& item : items) {
      item = replace_item(item, number, merged.shape(),
                          place.nullable ? place.on_right_of : nullptr, where);
    }
    query_->from = items;
    if (where != nullptr && !place.nullable)
      query_->where = make_and(arena_, {query_->where, where});
    std::vector<const BoundRelation*> relations(query_->relations.begin(), query_->relations.end());
    for (const BoundRelation* relation : merged.relations()) relations.push_back(relation);
    replace_columns(number, merged, inner);
    std::vector<const BoundRelation*> rest(query_->relations.begin(), query_->relations.end());
    rest.insert(rest.end(), relations.begin() + static_cast<ptrdiff_t>(rest.size()),
                relations.end());
    rest[static_cast<size_t>(number)] = removed_relation(arena_);
    query_->relations = arena_.copy_span(rest);
  }

  // `condition` goes into the ON of `join`, if that is set.
  const FromItem* replace_item(const FromItem* item, int32_t number, const FromItem* shape,
                               const FromItem* join, const BoundExpression* condition) {
    if (item->relation == number) return shape;
    if (item->relation >= 0) return item;
    auto* copy = arena_.make<FromItem>(*item);
    copy->left = replace_item(item->left, number, shape, join, condition);
    copy->right = replace_item(item->right, number, shape, join, condition);
    if (item == join) copy->condition = make_and(arena_, {item->condition, condition});
    return copy;
  }

  void replace_columns(int32_t number, const MergedQuery& merged, const BoundQuery& inner) {
    std::vector<const BoundExpression*> targets;
    targets.reserve(static_cast<size_t>(inner.visible_targets));
    for (int32_t i = 0; i < inner.visible_targets; ++i) targets.push_back(merged.target(i));
    auto map = [&](const BoundExpression* e, int32_t depth) -> const BoundExpression* {
      auto* column = try_as<ColumnExpression>(e);
      if (column == nullptr || column->levels_up != depth || column->relation != number)
        return nullptr;
      return raise_levels(arena_, targets[static_cast<size_t>(column->column)], depth);
    };
    auto keep = [](const BoundRelation& relation, int32_t) { return relation.cte_levels_up; };
    *query_ = *map_levels(arena_, query_, 0, map, keep);
  }

  Arena& arena_;
  BoundQuery* query_;
};

// WITH queries that read this query's columns would have to be rewritten with it.
bool has_correlated_cte(const BoundQuery& query) {
  return std::any_of(query.relations.begin(), query.relations.end(),
                     [](const BoundRelation* relation) {
                       return relation->cte != nullptr && relation->cte->reads_outer_query;
                     });
}

}  // namespace

bool is_kept_cte(const BoundCte& cte) {
  if (cte.reads_outer_query) return false;
  if (cte.is_recursive) return true;
  switch (cte.mode) {
    case CteMode::materialized:
      return true;
    case CteMode::not_materialized:
      return cte.calls_volatile;
    case CteMode::unspecified:
      return cte.references > 1 || cte.calls_volatile;
  }
  return true;
}

const BoundQuery* flatten_subqueries(Arena& arena, const BoundQuery& query) {
  bool any =
      std::any_of(query.relations.begin(), query.relations.end(),
                  [](const BoundRelation* relation) { return mergeable(*relation) != nullptr; });
  if (!any || has_correlated_cte(query)) return &query;
  return Flattening(arena, query).run();
}

}  // namespace pgsilo
