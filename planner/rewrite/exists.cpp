#include "planner/rewrite/exists.h"

#include "planner/bound/query_tree.h"
#include "planner/rewrite/fold.h"

namespace pgsilo {
namespace {

bool computes_aggregates(const BoundQuery& query) {
  bool found = false;
  for (const BoundTarget& target : query.targets) {
    walk_levels(*target.expression, 0, [&](const BoundExpression& expression, int32_t depth) {
      auto* aggregate = try_as<AggregateExpression>(&expression);
      found |= aggregate != nullptr && aggregate->levels_up == depth;
      return !found;
    });
  }
  return found;
}

// Without aggregates and keys, GROUP BY () makes one row of none; with keys a group is never empty.
bool grouping_decides(const BoundQuery& query) {
  return query.is_grouped &&
         (query.group_by.empty() || query.having != nullptr || computes_aggregates(query));
}

// LIMIT with a constant that lets a row through.
bool limit_passes(Arena& arena, ConstantEvaluator* evaluator, const BoundExpression* limit) {
  if (limit == nullptr) return true;
  auto* constant = try_as<ConstantExpression>(fold_expression(arena, evaluator, limit));
  return constant != nullptr && (constant->value.null || constant->value.i64 > 0);
}

}  // namespace

const BoundQuery* without_output(Arena& arena, ConstantEvaluator* evaluator,
                                 const BoundQuery& query) {
  if (query.set_operation != QuerySetOperation::none || query.has_set_returning_targets ||
      query.limit_offset != nullptr || !query.row_marks.empty() || grouping_decides(query) ||
      !limit_passes(arena, evaluator, query.limit_count)) {
    return &query;
  }
  auto* bare = arena.make<BoundQuery>();
  bare->relations = query.relations;
  bare->from = query.from;
  bare->where = query.where;
  return bare;
}

}  // namespace pgsilo
