#include "planner/rewrite/one_match.h"

#include <algorithm>
#include <set>
#include <vector>

#include "catalog/descriptors.h"
#include "planner/access/join_problem.h"
#include "planner/access/strictness.h"
#include "planner/bound/expression_tree.h"
#include "planner/rewrite/flatten.h"

namespace pgsilo {

namespace {

using Columns = std::set<int32_t>;  // from 0 on

// The relation's columns of which the equality says that they have a value of something else.
Columns compared_columns(const CallExpression& equality, int32_t relation) {
  Columns columns;
  for (int side : {0, 1}) {
    auto* column = try_as<ColumnExpression>(equality.arguments[side]);
    if (column != nullptr && column->levels_up == 0 && column->relation == relation &&
        column->column >= 0 &&
        !relations_of(*equality.arguments[1 - side]).contains(RelationSet::of(relation))) {
      columns.insert(column->column);
    }
  }
  return columns;
}

Columns compared_columns(const BoundExpression* condition, int32_t relation) {
  std::vector<const BoundExpression*> conjuncts;
  if (condition != nullptr) split_conjuncts(condition, conjuncts);
  Columns compared;
  for (const BoundExpression* conjunct : conjuncts) {
    if (auto* call = try_as<CallExpression>(conjunct);
        call != nullptr && is_hashable_equality(*call))
      compared.merge(compared_columns(*call, relation));
  }
  return compared;
}

bool is_unique(const TableDescriptor& table, const Columns& compared) {
  return std::ranges::any_of(table.indexes, [&](const auto& index) {
    return index->is_unique_for_all() &&
           std::ranges::all_of(index->columns, [&](const IndexColumn& column) {
             return compared.contains(column.number - 1);
           });
  });
}

bool has_all(const BoundQuery& query, const Columns& compared) {
  for (int32_t i = 0; i < query.visible_targets; ++i) {
    if (!compared.contains(i)) return false;
  }
  return true;
}

// Whether all keys are among the outputs that are compared.
bool has_keys(const BoundQuery& query, const Columns& compared) {
  return std::ranges::all_of(query.group_by, [&](const BoundExpression* key) {
    return std::ranges::any_of(compared, [&](int32_t column) {
      return column < query.visible_targets &&
             equal_expressions(query.targets[static_cast<size_t>(column)].expression, key);
    });
  });
}

// As PostgreSQL's query_is_distinct_for().
bool is_unique(const BoundQuery& query, const Columns& compared) {
  if (query.set_operation != QuerySetOperation::none)
    return !query.set_all && has_all(query, compared);
  if (query.distinct && has_all(query, compared)) return true;
  if (!query.distinct_on.empty() && std::ranges::all_of(query.distinct_on, [&](int32_t target) {
        return compared.contains(target);
      })) {
    return true;
  }
  return query.is_grouped && !query.has_set_returning_targets && has_keys(query, compared);
}

}  // namespace

bool has_one_match(const BoundRelation& relation, int32_t number,
                   const BoundExpression* condition) {
  Columns compared = compared_columns(condition, number);
  switch (relation.kind) {
    case RangeKind::table:
      return is_unique(*relation.table, compared);
    case RangeKind::subquery:
      return is_unique(*relation.query, compared) ||
             (relation.distinct_rows && has_all(*relation.query, compared));
    case RangeKind::cte:
      return !relation.cte->is_recursive && is_unique(*relation.cte->query, compared);
    case RangeKind::work_table:
    case RangeKind::function:
    case RangeKind::values:
      return false;
  }
  return false;
}

}  // namespace pgsilo
