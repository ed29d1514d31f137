#include "planner/rewrite/merge_query.h"

#include <algorithm>

#include "planner/bound/expression_tree.h"
#include "planner/bound/make_expression.h"
#include "planner/bound/query_tree.h"
#include "planner/rewrite/fold.h"

namespace pgsilo {

namespace {

// Only tables: what else refers to other queries by counting levels, which merging changes.
bool has_only_tables(const BoundQuery& query) {
  return std::all_of(
      query.relations.begin(), query.relations.end(),
      [](const BoundRelation* relation) { return relation->kind == RangeKind::table; });
}

// A WITH query anywhere inside would be reached over another number of levels.
bool reads_cte(const BoundQuery& query) {
  bool found = std::any_of(query.relations.begin(), query.relations.end(),
                           [](const BoundRelation* relation) {
                             return relation->cte != nullptr ||
                                    (relation->query != nullptr && reads_cte(*relation->query));
                           });
  if (query.left != nullptr) found = found || reads_cte(*query.left) || reads_cte(*query.right);
  for_each_expression(query, [&](const BoundExpression& expression) {
    contains(expression, [&](const BoundExpression& e) {
      auto* sublink = try_as<SublinkExpression>(&e);
      found = found || (sublink != nullptr && reads_cte(*sublink->query));
      return found;
    });
  });
  return found;
}

bool reads_around(const BoundExpression& condition) {
  bool found = false;
  walk_levels(condition, 0, [&](const BoundExpression& expression, int32_t depth) {
    auto* column = try_as<ColumnExpression>(&expression);
    found |= column != nullptr && column->levels_up == depth + 1;
    return !found;
  });
  return found;
}

FromReads reads_around(const FromItem& item, bool below_outer_join) {
  if (item.relation >= 0) return FromReads::nothing;
  below_outer_join |= item.join_type != JoinType::inner;
  FromReads reads = std::max(reads_around(*item.left, below_outer_join),
                             reads_around(*item.right, below_outer_join));
  if (item.condition == nullptr || !reads_around(*item.condition)) return reads;
  return std::max(reads, below_outer_join ? FromReads::by_outer_joins : FromReads::by_inner_joins);
}

}  // namespace

FromReads reads_around(const BoundQuery& query) {
  FromReads reads = FromReads::nothing;
  for (const FromItem* item : query.from) reads = std::max(reads, reads_around(*item, false));
  return reads;
}

bool can_merge(const BoundQuery& query) {
  if (query.set_operation != QuerySetOperation::none || query.is_grouped || query.distinct ||
      !query.distinct_on.empty() || query.limit_count != nullptr || query.limit_offset != nullptr ||
      query.has_set_returning_targets || query.from.empty() || !query.row_marks.empty()) {
    return false;
  }
  if (!has_only_tables(query) || reads_cte(query)) return false;
  bool is_plain = query.where == nullptr || !is_volatile(*query.where);
  for (const BoundTarget& target : query.targets) {
    bool is_aggregate = contains(*target.expression, [](const BoundExpression& e) {
      return e.kind == ExpressionKind::aggregate;
    });
    is_plain = is_plain && !is_volatile(*target.expression) && !has_sublink(*target.expression) &&
               !is_aggregate;
  }
  return is_plain;
}

const BoundExpression* MergedQuery::expression(const BoundExpression* of_inner) const {
  auto map = [&](const BoundExpression* e, int32_t depth) -> const BoundExpression* {
    auto* column = try_as<ColumnExpression>(e);
    if (column == nullptr || column->levels_up < depth) return nullptr;
    auto* moved = arena_.make<ColumnExpression>(*column);
    if (column->levels_up == depth) {
      moved->relation += offset_;
    } else {
      --moved->levels_up;
    }
    return moved;
  };
  auto keep = [](const BoundRelation& relation, int32_t) { return relation.cte_levels_up; };
  return map_levels(arena_, of_inner, 0, map, keep);
}

const BoundExpression* MergedQuery::where() const {
  const BoundExpression* where = inner_.where;
  auto collect = [&](auto&& self, const FromItem& item) -> void {
    if (item.relation >= 0) return;
    self(self, *item.left);
    self(self, *item.right);
    if (item.condition != nullptr && reads_around(*item.condition))
      where = make_and(arena_, {where, item.condition});
  };
  for (const FromItem* item : inner_.from) collect(collect, *item);
  return expression(where);
}

std::vector<const BoundRelation*> MergedQuery::relations() const {
  return {inner_.relations.begin(), inner_.relations.end()};
}

const FromItem* MergedQuery::shape() const {
  // Numbers first, then conditions.
  auto move = [&](auto&& self, const FromItem* item) -> const FromItem* {
    auto* moved = arena_.make<FromItem>(*item);
    if (item->relation >= 0) {
      moved->relation += offset_;
      return moved;
    }
    moved->left = self(self, item->left);
    moved->right = self(self, item->right);
    bool is_of_where = item->condition != nullptr && reads_around(*item->condition);
    moved->condition = is_of_where ? nullptr : expression(item->condition);
    return moved;
  };
  std::vector<const FromItem*> items;
  for (const FromItem* item : inner_.from) items.push_back(move(move, item));
  return join_items(arena_, items);
}

const BoundRelation* removed_relation(Arena& arena) {
  auto* relation = arena.make<BoundRelation>();
  relation->kind = RangeKind::values;
  return relation;
}

const FromItem* make_join(Arena& arena, JoinType type, const FromItem* left, const FromItem* right,
                          const BoundExpression* condition) {
  auto* join = arena.make<FromItem>();
  join->join_type = type;
  join->left = left;
  join->right = right;
  join->condition = condition;
  return join;
}

const FromItem* join_items(Arena& arena, std::span<const FromItem* const> items) {
  const FromItem* joined = items.front();
  for (const FromItem* item : items.subspan(1))
    joined = make_join(arena, JoinType::inner, joined, item, nullptr);
  return joined;
}

}  // namespace pgsilo
