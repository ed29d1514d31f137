#include "planner/rewrite/useless_joins.h"

#include <algorithm>
#include <array>

#include "planner/access/join_problem.h"
#include "planner/bound/query_tree.h"
#include "planner/rewrite/merge_query.h"
#include "planner/rewrite/one_match.h"

namespace pgsilo {

namespace {

class UselessJoins {
 public:
  UselessJoins(Arena& arena, const BoundQuery& query)
      : arena_(arena), query_(*arena.make<BoundQuery>(query)) {
    find_reads();
  }

  // Whether there were any.
  bool run() {
    auto from = arena_.copy_span(query_.from);
    auto relations = arena_.copy_span(query_.relations);
    int before = 0;
    do {  // without one join, the one that brought its key may be useless, too
      before = removed_.size();
      for (const FromItem*& item : from) item = without_useless(item);
    } while (removed_.size() != before);
    removed_.for_each([&](int32_t relation) { relations[relation] = removed_relation(arena_); });
    query_.from = from;
    query_.relations = relations;
    return !removed_.empty();
  }

  const BoundQuery* query() const { return &query_; }

 private:
  void find_reads() {
    BoundQuery rest = query_;
    rest.from = {};
    walk_levels(rest, 0, [&](const BoundExpression& expression, int32_t depth) {
      auto* column = try_as<ColumnExpression>(&expression);
      if (column != nullptr && column->levels_up == depth)
        read_ |= RelationSet::of(column->relation);
      return true;
    });
    for (const BoundRowMark& mark : query_.row_marks) read_ |= RelationSet::of(mark.relation);
    for (const FromItem* item : query_.from) count_conditions(*item);
  }

  void count_conditions(const FromItem& item) {
    if (item.relation >= 0) return;
    reads(item.condition).for_each([&](int32_t relation) { ++conditions_[relation]; });
    count_conditions(*item.left);
    count_conditions(*item.right);
  }

  const FromItem* without_useless(const FromItem* item) {
    if (item->relation >= 0) return item;
    if (is_useless(*item)) {
      removed_ |= RelationSet::of(item->right->relation);
      reads(item->condition).for_each([&](int32_t read) { --conditions_[read]; });
      return without_useless(item->left);
    }
    const FromItem* left = without_useless(item->left);
    const FromItem* right = without_useless(item->right);
    if (left == item->left && right == item->right) return item;
    auto* copy = arena_.make<FromItem>(*item);
    copy->left = left;
    copy->right = right;
    return copy;
  }

  bool is_useless(const FromItem& join) const {
    int32_t right = join.right->relation;
    if (join.join_type != JoinType::left || right < 0) return false;
    bool is_own = reads(join.condition).has(right);
    bool is_read = read_.has(right) || conditions_[right] != (is_own ? 1 : 0);
    return !is_read && (join.condition == nullptr || !calls_volatile(*join.condition)) &&
           has_one_match(*query_.relations[right], right, join.condition) &&
           !acts(*query_.relations[right]);
  }

  static RelationSet reads(const BoundExpression* condition) {
    return condition != nullptr ? relations_of(*condition) : RelationSet();
  }

  static bool acts(const BoundRelation& relation) {
    if (relation.kind == RangeKind::cte) return relation.cte->calls_volatile;
    return relation.kind == RangeKind::subquery && calls_volatile(*relation.query);
  }

  Arena& arena_;
  BoundQuery& query_;
  RelationSet read_;                                     // by anything but a join's condition
  std::array<int, RelationSet::capacity> conditions_{};  // by relation: those of joins that read it
  RelationSet removed_;
};

bool has_left_join(const FromItem& item) {
  return item.relation < 0 && (item.join_type == JoinType::left || has_left_join(*item.left) ||
                               has_left_join(*item.right));
}

}  // namespace

const BoundQuery* remove_useless_joins(Arena& arena, const BoundQuery& query) {
  bool any =
      std::ranges::any_of(query.from, [](const FromItem* item) { return has_left_join(*item); });
  if (!any) return &query;
  UselessJoins joins(arena, query);
  return joins.run() ? joins.query() : &query;
}

}  // namespace pgsilo
