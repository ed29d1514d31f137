#include "planner/rewrite/unread_outputs.h"

#include <algorithm>
#include <cstddef>
#include <span>

#include "base/check.h"
#include "planner/bound/make_expression.h"
#include "planner/bound/query_tree.h"
#include "planner/rewrite/set_returning.h"

namespace pgsilo {
namespace {

// Whether it says which rows there are, or in which order.
bool is_key(const BoundQuery& query, int32_t target) {
  return std::ranges::find(query.distinct_on, target) != query.distinct_on.end() ||
         std::ranges::any_of(query.order_by,
                             [&](const QuerySortKey& key) { return key.target == target; });
}

// Of UNION ALL, which compares no rows.
const BoundQuery* sides_without_unread(Arena& arena, const BoundQuery& query,
                                       const std::vector<bool>& read) {
  if (query.set_operation != QuerySetOperation::union_ || !query.set_all ||
      !query.order_by.empty()) {
    return &query;
  }
  auto* copy = arena.make<BoundQuery>(query);
  copy->left = without_unread(arena, *query.left, read);
  copy->right = without_unread(arena, *query.right, read);
  return copy;
}

}  // namespace

ReadColumns read_columns(const BoundQuery& query) {
  ReadColumns read(query.relations.size());
  for (size_t i = 0; i < read.size(); ++i) read[i].resize(query.relations[i]->columns.size());
  walk_levels(query, 0, [&](const BoundExpression& expression, int32_t depth) {
    auto* column = try_as<ColumnExpression>(&expression);
    if (column == nullptr || column->levels_up != depth) return true;
    PGSILO_CHECK(static_cast<size_t>(column->relation) < read.size());
    std::vector<bool>& of_relation = read[column->relation];
    auto number = static_cast<size_t>(column->column);
    if (number < of_relation.size()) of_relation[number] = true;  // else one of the system's
    return true;
  });
  return read;
}

const BoundQuery* without_unread(Arena& arena, const BoundQuery& query,
                                 const std::vector<bool>& read) {
  if (query.distinct) return &query;
  if (query.set_operation != QuerySetOperation::none)
    return sides_without_unread(arena, query, read);
  BoundQuery* copy = nullptr;
  std::span<BoundTarget> targets;
  for (int32_t i = 0; i < query.visible_targets; ++i) {
    const BoundExpression& output = *query.targets[i].expression;
    if (read[i] || output.kind == ExpressionKind::constant || is_key(query, i) ||
        contains_set(output) || calls_volatile(output))
      continue;
    if (copy == nullptr) {
      copy = arena.make<BoundQuery>(query);
      copy->targets = targets = arena.copy_span(query.targets);
    }
    targets[i].expression = make_null(arena, output.type);
  }
  return copy != nullptr ? copy : &query;
}

}  // namespace pgsilo
