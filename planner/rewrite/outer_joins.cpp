#include "planner/rewrite/outer_joins.h"

#include <utility>

#include "planner/access/join_problem.h"
#include "planner/access/strictness.h"

namespace pgsilo {

namespace {

bool is_outer(const FromItem& item) {
  if (item.relation >= 0) return false;
  return item.join_type == JoinType::left || item.join_type == JoinType::right ||
         item.join_type == JoinType::full || is_outer(*item.left) || is_outer(*item.right);
}

class OuterJoins {
 public:
  explicit OuterJoins(Arena& arena) : arena_(arena) {}

  // `not_null`: relations whose all-null rows a condition above rejects.
  const FromItem* reduce(const FromItem* item, RelationSet not_null) {
    if (item->relation >= 0) return item;
    auto* reduced = arena_.make<FromItem>(*item);
    set_type(*reduced, not_null);
    reduce_sides(*reduced, not_null);
    return reduced;
  }

 private:
  static void set_type(FromItem& item, RelationSet not_null) {
    if (item.join_type == JoinType::right) swap_sides(item);
    if (item.join_type == JoinType::full) {
      bool keeps_left = not_null.overlaps(shape_relations(*item.left));
      bool keeps_right = not_null.overlaps(shape_relations(*item.right));
      if (keeps_left) item.join_type = JoinType::left;
      if (keeps_right && !keeps_left) swap_sides(item);
    }
    if (item.join_type == JoinType::left && not_null.overlaps(shape_relations(*item.right)))
      item.join_type = JoinType::inner;
  }

  static void swap_sides(FromItem& item) {
    std::swap(item.left, item.right);
    item.join_type = JoinType::left;
  }

  void reduce_sides(FromItem& item, RelationSet not_null) {
    RelationSet by_condition =
        item.condition != nullptr ? non_nullable_relations(*item.condition) : RelationSet();
    bool inner = item.join_type == JoinType::inner;
    bool full = item.join_type == JoinType::full;
    RelationSet of_left = full ? RelationSet() : not_null;
    // The condition of an outer join rejects rows of NULLs of joins inside its right side.
    RelationSet of_right = full ? RelationSet() : by_condition;
    item.left = reduce(item.left, inner ? of_left | by_condition : of_left);
    item.right = reduce(item.right, inner ? of_right | not_null : of_right);
  }

  Arena& arena_;
};

}  // namespace

const BoundQuery* reduce_outer_joins(Arena& arena, const BoundQuery& query) {
  bool any = false;
  for (const FromItem* item : query.from) any |= is_outer(*item);
  if (!any) return &query;
  RelationSet not_null =
      query.where != nullptr ? non_nullable_relations(*query.where) : RelationSet();
  auto* copy = arena.make<BoundQuery>(query);
  auto from = arena.copy_span(query.from);
  for (const FromItem*& item : from) item = OuterJoins(arena).reduce(item, not_null);
  copy->from = from;
  return copy;
}

}  // namespace pgsilo
