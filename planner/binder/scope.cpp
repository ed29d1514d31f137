#include "planner/binder/scope.h"

#include "planner/bound/query_tree.h"

namespace pgsilo {

std::string_view place_name(ExpressionPlace place) {
  switch (place) {
    case ExpressionPlace::none:
      return "this context";
    case ExpressionPlace::select_target:
      return "SELECT";
    case ExpressionPlace::from_subselect:
      return "sub-SELECT in FROM";
    case ExpressionPlace::from_function:
      return "function in FROM";
    case ExpressionPlace::join_on:
      return "JOIN/ON";
    case ExpressionPlace::where:
      return "WHERE";
    case ExpressionPlace::having:
      return "HAVING";
    case ExpressionPlace::filter:
      return "FILTER";
    case ExpressionPlace::group_by:
      return "GROUP BY";
    case ExpressionPlace::order_by:
      return "ORDER BY";
    case ExpressionPlace::distinct_on:
      return "DISTINCT ON";
    case ExpressionPlace::limit:
      return "LIMIT";
    case ExpressionPlace::offset:
      return "OFFSET";
    case ExpressionPlace::returning:
      return "RETURNING";
    case ExpressionPlace::values:
    case ExpressionPlace::values_single:
      return "VALUES";
    case ExpressionPlace::insert_target:
      return "INSERT";
    case ExpressionPlace::update_source:
      return "UPDATE";
    case ExpressionPlace::check_constraint:
      return "CHECK";
    case ExpressionPlace::column_default:
      return "DEFAULT";
    case ExpressionPlace::column_generation:
      return "GENERATED AS";
    case ExpressionPlace::index_expression:
      return "index expression";
    case ExpressionPlace::index_predicate:
      return "index predicates";
    case ExpressionPlace::column_transform:
      return "USING";
    case ExpressionPlace::execute_parameter:
      return "EXECUTE";
    case ExpressionPlace::copy_where:
      return "WHERE";
  }
  return "";
}

// Of its subqueries only what refers to around the expression.
const BoundExpression* raise_levels(Arena& arena, const BoundExpression* expression, int32_t by) {
  if (by == 0) return expression;
  auto raise = [&](const BoundExpression* e, int32_t depth) -> const BoundExpression* {
    auto* column = try_as<ColumnExpression>(e);
    if (column == nullptr || column->levels_up < depth) return nullptr;
    auto* raised = arena.make<ColumnExpression>(*column);
    raised->levels_up += by;
    return raised;
  };
  auto raise_cte = [&](const BoundRelation& relation, int32_t depth) {
    return relation.cte_levels_up < depth ? relation.cte_levels_up : relation.cte_levels_up + by;
  };
  return map_levels(arena, expression, 0, raise, raise_cte);
}

}  // namespace pgsilo
