// Putting one query's FROM and WHERE into another's: what subqueries in FROM and EXISTS have in
// common. Thread safety: none; the arena's.
#pragma once

#include <vector>

#include "base/arena.h"
#include "planner/bound/query.h"

namespace pgsilo {

// SELECT targets FROM ... WHERE ... and nothing more, its relations such that they can stand in
// another query.
bool can_merge(const BoundQuery& query);
// Reads a column of any query around it.
bool reads_outer(const BoundQuery& query);
bool has_sublink(const BoundExpression& expression);

// An inner query whose relations were appended to those of the query right around it.
class MergedQuery {
 public:
  // `offset`: how many relations the outer query had.
  MergedQuery(Arena& arena, const BoundQuery& inner, int32_t offset)
      : arena_(arena), inner_(inner), offset_(offset) {}

  // All as the outer query sees them.
  const BoundExpression* expression(const BoundExpression* of_inner) const;
  const BoundExpression* where() const { return expression(inner_.where); }
  const BoundExpression* target(int32_t i) const {
    return expression(inner_.targets[i].expression);
  }
  std::vector<const BoundRelation*> relations() const;
  // The shape of its FROM as one item. Precondition: it has one.
  const FromItem* shape() const;

 private:
  Arena& arena_;
  const BoundQuery& inner_;
  int32_t offset_;
};

// Several items joined without a condition are one.
const FromItem* join_items(Arena& arena, std::span<const FromItem* const> items);
const FromItem* make_join(Arena& arena, JoinType type, const FromItem* left, const FromItem* right,
                          const BoundExpression* condition);

}  // namespace pgsilo
