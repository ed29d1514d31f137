#include "planner/rewrite/set_returning.h"

#include <algorithm>
#include <vector>

#include "planner/bound/expression_tree.h"
#include "planner/bound/make_expression.h"
#include "planner/bound/query_tree.h"
#include "planner/unsupported_features.h"

namespace pgsilo {

namespace {

class Expansion {
 public:
  Expansion(Arena& arena, int32_t relation) : arena_(arena), relation_(relation) {}

  const BoundExpression* replace(const BoundExpression* expression) {
    auto* set = try_as<SetReturningExpression>(expression);
    if (set == nullptr) {
      return map_children(arena_, expression,
                          [&](const BoundExpression* child) { return replace(child); });
    }
    if (contains_set(*set->call)) throw_unsupported(UnsupportedFeature::nested_set_returning);
    size_t column = 0;
    while (column < calls.size() && !shares_result(calls[column], set->call)) ++column;
    if (column == calls.size()) {
      calls.push_back(set->call);
      columns.push_back({"set", set->type, set->typmod});
    }
    return make_column(arena_, relation_, static_cast<int32_t>(column), set->type, set->typmod,
                       set->location);
  }

  std::vector<const BoundExpression*> calls;
  std::vector<BoundColumn> columns;

 private:
  Arena& arena_;
  int32_t relation_;
};

}  // namespace

bool contains_set(const BoundExpression& expression) {
  return contains(expression,
                  [](const BoundExpression& e) { return e.kind == ExpressionKind::set_returning; });
}

const BoundQuery* expand_set_returning(Arena& arena, const BoundQuery& query) {
  if (query.is_grouped) throw_unsupported(UnsupportedFeature::set_returning_over_groups);
  int32_t number = static_cast<int32_t>(query.relations.size());
  Expansion expansion(arena, number);
  auto targets = arena.copy_span(query.targets);
  for (BoundTarget& target : targets) target.expression = expansion.replace(target.expression);
  auto* relation = arena.make<BoundRelation>();
  relation->kind = RangeKind::function;
  relation->lateral = true;
  relation->calls = arena.copy_span(expansion.calls);
  relation->columns = arena.copy_span(expansion.columns);
  auto returns_set = arena.make_span<bool>(expansion.calls.size());
  std::fill(returns_set.begin(), returns_set.end(), true);
  relation->returns_set = returns_set;
  auto* item = arena.make<FromItem>();
  item->relation = number;
  auto* rewritten = arena.make<BoundQuery>(query);
  std::vector<const BoundRelation*> relations(query.relations.begin(), query.relations.end());
  relations.push_back(relation);
  std::vector<const FromItem*> from(query.from.begin(), query.from.end());
  from.push_back(item);
  rewritten->relations = arena.copy_span(relations);
  rewritten->from = arena.copy_span(from);
  rewritten->targets = targets;
  rewritten->has_set_returning_targets = false;
  return rewritten;
}

}  // namespace pgsilo
