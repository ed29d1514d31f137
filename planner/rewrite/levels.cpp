#include "planner/rewrite/levels.h"

#include "planner/bound/expression_tree.h"

namespace pgsilo {

const BoundExpression* lower_levels(Arena& arena, const BoundExpression* expression, int32_t by) {
  if (by == 0) return expression;
  if (auto* column = try_as<ColumnExpression>(expression)) {
    auto* lowered = arena.make<ColumnExpression>(*column);
    lowered->levels_up -= by;
    return lowered;
  }
  const BoundExpression* mapped =
      map_children(arena, expression,
                   [&](const BoundExpression* child) { return lower_levels(arena, child, by); });
  if (auto* aggregate = try_as<AggregateExpression>(mapped)) {
    auto* lowered = arena.make<AggregateExpression>(*aggregate);
    lowered->levels_up -= by;
    return lowered;
  }
  return mapped;
}

}  // namespace pgsilo
