#include "planner/rewrite/levels.h"

#include "planner/bound/expression_tree.h"
#include "planner/bound/query_tree.h"
#include "sql/internal_error.h"

namespace pgsilo {

namespace {

class Lowering {
 public:
  Lowering(Arena& arena, int32_t by) : arena_(arena), by_(by) {}

  // Of an expression that stands `depth` queries inside of the one that is lowered.
  const BoundExpression* expression(const BoundExpression* from, int32_t depth) {
    auto one = [this](const BoundExpression* e, int32_t at) { return node(e, at); };
    auto cte = [this](const BoundRelation& relation, int32_t at) { return levels(relation, at); };
    return map_levels(arena_, from, depth, one, cte);
  }

  const BoundQuery* query(const BoundQuery& from, int32_t depth) {
    auto one = [this](const BoundExpression* e, int32_t at) { return node(e, at); };
    auto cte = [this](const BoundRelation& relation, int32_t at) { return levels(relation, at); };
    return map_levels(arena_, &from, depth, one, cte);
  }

 private:
  const BoundExpression* node(const BoundExpression* from, int32_t depth) {
    if (auto* column = try_as<ColumnExpression>(from))
      return column->levels_up < depth ? column : lowered(*column);
    auto* aggregate = try_as<AggregateExpression>(from);
    if (aggregate == nullptr || aggregate->levels_up < depth) return nullptr;
    return map_children(arena_, lowered(*aggregate),
                        [&](const BoundExpression* child) { return expression(child, depth); });
  }

  template <typename Node>
  const BoundExpression* lowered(const Node& node) {
    auto* copy = arena_.make<Node>(node);
    copy->levels_up -= by_;
    return copy;
  }

  int32_t levels(const BoundRelation& relation, int32_t depth) const {
    int32_t outside = relation.cte_levels_up - depth;
    if (outside < 0) return relation.cte_levels_up;
    PGSILO_REQUIRE(outside >= by_);
    return relation.cte_levels_up - by_;
  }

  Arena& arena_;
  int32_t by_;
};

}  // namespace

const BoundExpression* lower_levels(Arena& arena, const BoundExpression* expression, int32_t by) {
  return by == 0 ? expression : Lowering(arena, by).expression(expression, 0);
}

const BoundQuery* raise_levels(Arena& arena, const BoundQuery& query) {
  return Lowering(arena, -1).query(query, 1);
}

}  // namespace pgsilo
