// Copying bound queries with their expressions changed.
#include <algorithm>
#include <utility>
#include <vector>

#include "planner/bound/expression_tree.h"
#include "planner/bound/query_tree.h"

namespace pgsilo {

namespace {

class QueryMapper {
 public:
  // The nearest query that is mapped as a whole is `outermost` deep.
  QueryMapper(Arena& arena, int32_t outermost, LevelMapper map, CteLevelMapper map_cte)
      : arena_(arena), outermost_(outermost), map_(map), map_cte_(map_cte) {}

  const BoundExpression* expression(const BoundExpression* from, int32_t depth) {
    if (from == nullptr) return nullptr;
    if (const BoundExpression* mapped = map_(from, depth)) return mapped;
    const BoundExpression* copy = map_children(
        arena_, from, [&](const BoundExpression* child) { return expression(child, depth); });
    auto* sublink = try_as<SublinkExpression>(copy);
    if (sublink == nullptr) return copy;
    auto* changed = arena_.make<SublinkExpression>(*sublink);
    changed->query = query(sublink->query, depth + 1);
    return changed;
  }

  const BoundQuery* query(const BoundQuery* from, int32_t depth) {
    if (from == nullptr) return nullptr;
    auto* copy = arena_.make<BoundQuery>(*from);
    auto relations = arena_.copy_span(from->relations);
    for (const BoundRelation*& one : relations) one = relation(*one, depth);
    copy->relations = relations;
    auto items = arena_.copy_span(from->from);
    for (const FromItem*& item : items) item = shape(item, depth);
    copy->from = items;
    copy->where = expression(from->where, depth);
    auto targets = arena_.copy_span(from->targets);
    for (BoundTarget& target : targets) target.expression = expression(target.expression, depth);
    copy->targets = targets;
    copy->group_by = keys(*from, targets, depth);
    copy->having = expression(from->having, depth);
    copy->limit_count = expression(from->limit_count, depth);
    copy->limit_offset = expression(from->limit_offset, depth);
    copy->left = query(from->left, depth + 1);
    copy->right = query(from->right, depth + 1);
    return copy;
  }

  const FromItem* shape(const FromItem* from, int32_t depth) {
    if (from->relation >= 0) return from;
    auto* copy = arena_.make<FromItem>(*from);
    copy->left = shape(from->left, depth);
    copy->right = shape(from->right, depth);
    copy->condition = expression(from->condition, depth);
    return copy;
  }

  ExpressionList list(ExpressionList from, int32_t depth) {
    auto copy = arena_.copy_span(from);
    for (const BoundExpression*& item : copy) item = expression(item, depth);
    return copy;
  }

 private:
  // A key that is a target stays that very one: equal targets with volatile functions are keys of
  // their own.
  ExpressionList keys(const BoundQuery& from, std::span<const BoundTarget> targets, int32_t depth) {
    auto copy = arena_.copy_span(from.group_by);
    for (const BoundExpression*& key : copy) {
      auto same = std::ranges::find(from.targets, key, &BoundTarget::expression);
      key = same != from.targets.end() ? targets[same - from.targets.begin()].expression
                                       : expression(key, depth);
    }
    return copy;
  }

  const BoundRelation* relation(const BoundRelation& from, int32_t depth) {
    if (from.kind == RangeKind::table) return &from;
    auto* copy = arena_.make<BoundRelation>(from);
    copy->query = query(from.query, depth + 1);
    copy->calls = list(from.calls, depth);
    auto rows = arena_.copy_span(from.rows);
    for (ExpressionList& row : rows) row = list(row, depth);
    copy->rows = rows;
    if (from.cte == nullptr) return copy;
    copy->cte = with_query(from.cte, depth - from.cte_levels_up);
    copy->cte_levels_up = map_cte_(from, depth);
    return copy;
  }

  // One copy for all references to it, if the query that has it is mapped as well.
  BoundCte* with_query(BoundCte* from, int32_t owner_depth) {
    if (owner_depth < outermost_) return from;
    auto known = std::ranges::find(copies_, from, &std::pair<BoundCte*, BoundCte*>::first);
    if (known != copies_.end()) return known->second;
    auto* copy = arena_.make<BoundCte>(*from);
    copies_.emplace_back(from, copy);  // it may read its own work table
    copy->query = query(from->query, owner_depth + 1);
    return copy;
  }

  Arena& arena_;
  int32_t outermost_;
  std::vector<std::pair<BoundCte*, BoundCte*>> copies_;
  LevelMapper map_;
  CteLevelMapper map_cte_;
};

}  // namespace

const BoundExpression* map_levels(Arena& arena, const BoundExpression* expression, int32_t depth,
                                  LevelMapper map, CteLevelMapper map_cte) {
  return QueryMapper(arena, depth + 1, map, map_cte).expression(expression, depth);
}

const BoundQuery* map_levels(Arena& arena, const BoundQuery* query, int32_t depth, LevelMapper map,
                             CteLevelMapper map_cte) {
  return QueryMapper(arena, depth, map, map_cte).query(query, depth);
}

const FromItem* map_from(Arena& arena, const FromItem* item, int32_t depth, LevelMapper map,
                         CteLevelMapper map_cte) {
  return QueryMapper(arena, depth + 1, map, map_cte).shape(item, depth);
}

}  // namespace pgsilo
