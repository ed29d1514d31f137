// Subqueries inside expressions.
#include "planner/binder/expression_binder.h"
#include "planner/binder/expression_families.h"
#include "planner/binder/operator_call.h"
#include "planner/binder/query_binder.h"
#include "planner/binder/row_comparison.h"
#include "planner/bound/make_expression.h"
#include "sql/internal_error.h"
#include "sql/types/type.h"

namespace pgsilo {

namespace {

void check_place(Scope& scope, int32_t location) {
  std::string_view message;
  switch (scope.place) {
    case ExpressionPlace::check_constraint:
      message = "cannot use subquery in check constraint";
      break;
    case ExpressionPlace::column_default:
      message = "cannot use subquery in DEFAULT expression";
      break;
    case ExpressionPlace::column_generation:
      message = "cannot use subquery in column generation expression";
      break;
    case ExpressionPlace::index_expression:
      message = "cannot use subquery in index expression";
      break;
    case ExpressionPlace::index_predicate:
      message = "cannot use subquery in index predicate";
      break;
    case ExpressionPlace::column_transform:
      message = "cannot use subquery in transform expression";
      break;
    case ExpressionPlace::execute_parameter:
      message = "cannot use subquery in EXECUTE parameter";
      break;
    case ExpressionPlace::copy_where:
      message = "cannot use subquery in COPY FROM WHERE condition";
      break;
    default:
      return;
  }
  throw SqlError(sqlstate::feature_not_supported, std::string(message))
      .at(scope.position(location));
}

SublinkExpression* make_sublink(Scope& scope, SublinkKind kind, const BoundQuery* query, Oid type,
                                int32_t location) {
  auto* sublink = make_expression<SublinkExpression>(scope.arena(), type, location);
  sublink->sublink_kind = kind;
  sublink->query = query;
  return sublink;
}

void check_column_count(Scope& scope, const BoundQuery& query, size_t wanted, int32_t location,
                        std::string_view mismatch = {}) {
  size_t actual = static_cast<size_t>(query.visible_targets);
  if (actual == wanted) return;
  if (mismatch.empty()) {
    mismatch = actual < wanted ? "subquery has too few columns" : "subquery has too many columns";
  }
  throw SqlError(sqlstate::syntax_error, std::string(mismatch)).at(scope.position(location));
}

const BoundQuery* bind_one_column(Scope& scope, const ast::SubLink& node) {
  const BoundQuery* query = bind_query(scope.binding, *node.select, &scope);
  if (query->visible_targets != 1) {
    throw SqlError(sqlstate::syntax_error, "subquery must return only one column")
        .at(scope.position(node.location));
  }
  return query;
}

const BoundExpression* bind_scalar(Scope& scope, const ast::SubLink& node) {
  const BoundQuery* query = bind_one_column(scope, node);
  const BoundExpression* column = query->targets[0].expression;
  auto* sublink = make_sublink(scope, SublinkKind::scalar, query, column->type, node.location);
  sublink->typmod = column->typmod;
  return sublink;
}

const BoundExpression* bind_array_select(Scope& scope, const ast::SubLink& node) {
  const BoundQuery* query = bind_one_column(scope, node);
  const TypeInfo& type = type_info(query->targets[0].expression->type);
  // Arrays become the parts of one with a dimension more.
  Oid array = is_array_type(type) ? type.oid : type.array;
  if (array == invalid_oid) {
    throw SqlError(sqlstate::undefined_object,
                   concat("could not find array type for data type ",
                          type_name(query->targets[0].expression->type)))
        .at(scope.position(node.location));
  }
  return make_sublink(scope, SublinkKind::array, query, array, node.location);
}

// test op ANY|ALL (select), IN (select).
const BoundExpression* bind_quantified(Scope& scope, const ast::SubLink& node) {
  std::vector<const BoundExpression*> left;
  if (auto* row = ast::try_as<ast::RowExpr>(node.test)) {
    for (const ast::Node* item : row->arguments) left.push_back(bind_expression(scope, item));
  } else {
    left.push_back(bind_expression(scope, node.test));
  }
  const BoundQuery* query = bind_query(scope.binding, *node.select, &scope);
  check_column_count(scope, *query, left.size(), node.location);
  bool is_any = node.sublink_kind == ast::SubLinkKind::any;
  auto* sublink = make_sublink(scope, is_any ? SublinkKind::any : SublinkKind::all, query,
                               type_oid::boolean, node.location);
  std::vector<const BoundExpression*> right;
  std::vector<int32_t> parameters;
  for (size_t i = 0; i < left.size(); ++i) {
    const BoundExpression* column = query->targets[i].expression;
    auto* parameter = make_expression<ExecutionParameterExpression>(scope.arena(), column->type,
                                                                    column->location);
    parameter->typmod = column->typmod;
    parameter->index = scope.binding.new_execution_parameter();
    parameters.push_back(parameter->index);
    right.push_back(parameter);
  }
  std::string_view op = "=";
  if (!node.operator_name.empty())
    op = operator_word(scope.binding, node.operator_name, node.location);
  sublink->condition = make_row_comparison(scope.binding, op, left, right, node.location);
  sublink->row_parameters = scope.arena().copy_span(parameters);
  return sublink;
}

}  // namespace

std::vector<const BoundExpression*> bind_row_sublink(Scope& scope, const ast::SelectStmt& select,
                                                     size_t columns, int32_t location,
                                                     std::string_view mismatch) {
  check_place(scope, location);
  const BoundQuery* query = bind_query(scope.binding, select, &scope);
  check_column_count(scope, *query, columns, location, mismatch);
  std::vector<const BoundExpression*> fields;
  for (size_t i = 0; i < columns; ++i) {
    const BoundExpression* column = query->targets[i].expression;
    auto* sublink = make_sublink(scope, SublinkKind::scalar, query, column->type, location);
    sublink->typmod = column->typmod;
    sublink->column = static_cast<int32_t>(i);
    fields.push_back(sublink);
  }
  return fields;
}

const BoundExpression* bind_sublink(Scope& scope, const ast::SubLink& node) {
  check_place(scope, node.location);
  switch (node.sublink_kind) {
    case ast::SubLinkKind::exists:
      return make_sublink(scope, SublinkKind::exists,
                          bind_query(scope.binding, *node.select, &scope), type_oid::boolean,
                          node.location);
    case ast::SubLinkKind::expression:
      return bind_scalar(scope, node);
    case ast::SubLinkKind::array:
      return bind_array_select(scope, node);
    case ast::SubLinkKind::any:
    case ast::SubLinkKind::all:
      return bind_quantified(scope, node);
  }
  PGSILO_REQUIRE(false);
}

}  // namespace pgsilo
