#include "planner/binder/join_columns.h"

#include <algorithm>

#include "planner/binder/coercion.h"
#include "planner/binder/operator_call.h"
#include "planner/bound/make_expression.h"

namespace pgsilo {

namespace {

using Columns = std::vector<ScopeColumn>;

// What `*` on one side of the join means.
Columns visible_columns(const std::vector<ScopeItem>& items) {
  Columns columns;
  for (const ScopeItem& item : items) {
    if (!item.columns_visible) continue;
    for (const ScopeColumn& column : item.columns) {
      if (column.expression != nullptr) columns.push_back(column);
    }
  }
  return columns;
}

bool has_column(const Columns& columns, std::string_view name) {
  return std::any_of(columns.begin(), columns.end(),
                     [&](const ScopeColumn& column) { return column.name == name; });
}

const BoundExpression* take_column(Columns& columns, std::string_view name, std::string_view side) {
  auto matches = [&](const ScopeColumn& column) { return column.name == name; };
  auto found = std::find_if(columns.begin(), columns.end(), matches);
  if (found == columns.end()) {
    throw SqlError(sqlstate::undefined_column,
                   concat("column \"", name, "\" specified in USING clause does not exist in ",
                          side, " table"));
  }
  if (std::find_if(found + 1, columns.end(), matches) != columns.end()) {
    throw SqlError(
        sqlstate::ambiguous_column,
        concat("common column name \"", name, "\" appears more than once in ", side, " table"));
  }
  const BoundExpression* expression = found->expression;
  columns.erase(found);
  return expression;
}

const BoundExpression* merge(Scope& scope, ast::JoinKind kind, const BoundExpression* left,
                             const BoundExpression* right) {
  const BoundExpression* both[2] = {left, right};
  Oid type = select_common_type(scope.binding, both, "JOIN/USING");
  const BoundExpression* left_value =
      coerce_to_common_type(scope.binding, left, type, "JOIN/USING");
  const BoundExpression* right_value =
      coerce_to_common_type(scope.binding, right, type, "JOIN/USING");
  switch (kind) {
    case ast::JoinKind::inner:
      return left_value != left && right_value == right ? right_value : left_value;
    case ast::JoinKind::left:
      return left_value;
    case ast::JoinKind::right:
      return right_value;
    case ast::JoinKind::full:
      break;
  }
  auto* either = make_expression<CoalesceExpression>(scope.arena(), type);
  const BoundExpression* values[2] = {left_value, right_value};
  either->arguments = scope.arena().copy_span(values);
  either->typmod = select_common_typmod(values, type);
  return either;
}

std::vector<std::string_view> merged_names(const ast::JoinExpr& join, const Columns& left,
                                           const Columns& right) {
  std::vector<std::string_view> names;
  if (join.natural) {
    for (const ScopeColumn& column : left) {
      if (has_column(right, column.name)) names.push_back(column.name);
    }
    return names;
  }
  for (std::string_view name : join.using_columns) {
    if (std::find(names.begin(), names.end(), name) != names.end()) {
      throw SqlError(sqlstate::duplicate_column,
                     concat("column name \"", name, "\" appears more than once in USING clause"));
    }
    names.push_back(name);
  }
  return names;
}

}  // namespace

JoinColumns join_columns(Scope& scope, const ast::JoinExpr& join,
                         const std::vector<ScopeItem>& left_items,
                         const std::vector<ScopeItem>& right_items) {
  Columns left = visible_columns(left_items);
  Columns right = visible_columns(right_items);
  JoinColumns result;
  std::vector<const BoundExpression*> equalities;
  for (std::string_view name : merged_names(join, left, right)) {
    std::string_view kept_name = scope.arena().copy_string(name);
    const BoundExpression* left_column = take_column(left, name, "left");
    const BoundExpression* right_column = take_column(right, name, "right");
    result.columns.push_back({kept_name, merge(scope, join.join_kind, left_column, right_column)});
    const BoundExpression* equal = make_operator(scope.binding, "=", left_column, right_column, -1);
    equalities.push_back(coerce_to_boolean(scope.binding, equal, "JOIN/USING"));
    ++result.merged;
  }
  if (!equalities.empty())
    result.condition = make_boolean_list(scope.arena(), BooleanOperator::and_, equalities);
  result.columns.insert(result.columns.end(), left.begin(), left.end());
  result.columns.insert(result.columns.end(), right.begin(), right.end());
  return result;
}

}  // namespace pgsilo
