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
// Conditions of its FROM that read the query right around it: of none of its joins, of inner joins
// alone (then MergedQuery takes them for part of WHERE, as they might as well be), or of what an
// outer join or a join below one has to decide by, and which therefore is not to be decided
// outside.
enum class FromReads : uint8_t { nothing, by_inner_joins, by_outer_joins };
FromReads reads_around(const BoundQuery& query);

// An inner query whose relations were appended to those of the query right around it. Precondition:
// none of its outer joins reads that query (FromReads::by_outer_joins).
class MergedQuery {
 public:
  // `offset`: how many relations the outer query had.
  MergedQuery(Arena& arena, const BoundQuery& inner, int32_t offset)
      : arena_(arena), inner_(inner), offset_(offset) {}

  // All as the outer query sees them.
  const BoundExpression* expression(const BoundExpression* of_inner) const;
  // With the conditions of inner joins that read the outer query: an outer join in there may have
  // to come first.
  const BoundExpression* where() const;
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

// In place of a relation that is not in FROM any more: numbers keep their meaning.
const BoundRelation* removed_relation(Arena& arena);

// Several items joined without a condition are one.
const FromItem* join_items(Arena& arena, std::span<const FromItem* const> items);
const FromItem* make_join(Arena& arena, JoinType type, const FromItem* left, const FromItem* right,
                          const BoundExpression* condition);

}  // namespace pgsilo
