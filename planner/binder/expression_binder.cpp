#include "planner/binder/expression_binder.h"

#include <algorithm>

#include "base/long_work.h"
#include "catalog/builtin/builtin.h"
#include "planner/binder/coercion.h"
#include "planner/binder/column_reference.h"
#include "planner/binder/expression_families.h"
#include "planner/binder/function_call.h"
#include "planner/binder/parameters.h"
#include "planner/binder/subscripts.h"
#include "planner/bound/make_expression.h"
#include "planner/unsupported_features.h"
#include "sql/ast/constant.h"
#include "sql/internal_error.h"
#include "sql/limits.h"
#include "sql/types/type.h"

namespace pgsilo {

namespace {

const BoundExpression* bind_boolean(Scope& scope, const ast::BoolExpr& node) {
  static constexpr std::string_view names[] = {"AND", "OR", "NOT"};
  std::string_view name = names[static_cast<size_t>(node.op)];
  std::vector<const BoundExpression*> arguments;
  for (const ast::Node* argument : node.arguments) {
    arguments.push_back(coerce_to_boolean(scope.binding, bind_expression(scope, argument), name));
  }
  auto* result =
      make_expression<BooleanExpression>(scope.arena(), type_oid::boolean, node.location);
  result->op = static_cast<BooleanOperator>(node.op);
  result->arguments = scope.arena().copy_span(arguments);
  return result;
}

const BoundExpression* bind_row(Scope& scope, const ast::RowExpr& node) {
  std::vector<const BoundExpression*> fields;
  for (const ast::Node* argument : node.arguments) {
    fields.push_back(resolve_unknown(scope.binding, bind_expression(scope, argument)));
  }
  auto* row = make_expression<RowExpression>(scope.arena(), type_oid::record, node.location);
  row->fields = scope.arena().copy_span(fields);
  return row;
}

const BoundExpression* bind_null_test(Scope& scope, const ast::NullTest& node) {
  auto* test = make_expression<NullTestExpression>(scope.arena(), type_oid::boolean, node.location);
  test->argument = bind_expression(scope, node.argument);
  test->is_not_null = node.is_not_null;
  return test;
}

const BoundExpression* bind_boolean_test(Scope& scope, const ast::BooleanTest& node) {
  static constexpr std::string_view names[] = {"IS TRUE",      "IS NOT TRUE", "IS FALSE",
                                               "IS NOT FALSE", "IS UNKNOWN",  "IS NOT UNKNOWN"};
  auto* test =
      make_expression<BooleanTestExpression>(scope.arena(), type_oid::boolean, node.location);
  test->argument = coerce_to_boolean(scope.binding, bind_expression(scope, node.argument),
                                     names[static_cast<size_t>(node.test)]);
  test->test = static_cast<BooleanTest>(node.test);
  return test;
}

struct SqlValueInfo {
  SqlValueKind kind;
  Oid type;
};

SqlValueInfo sql_value_info(ast::SqlValue value) {
  switch (value) {
    case ast::SqlValue::current_date:
      return {SqlValueKind::current_date, type_oid::date};
    case ast::SqlValue::current_time:
    case ast::SqlValue::current_time_n:
      return {SqlValueKind::current_time, type_oid::timetz};
    case ast::SqlValue::current_timestamp:
    case ast::SqlValue::current_timestamp_n:
      return {SqlValueKind::current_timestamp, type_oid::timestamptz};
    case ast::SqlValue::localtime:
    case ast::SqlValue::localtime_n:
      return {SqlValueKind::localtime, type_oid::time};
    case ast::SqlValue::localtimestamp:
    case ast::SqlValue::localtimestamp_n:
      return {SqlValueKind::localtimestamp, type_oid::timestamp};
    case ast::SqlValue::current_role:
    case ast::SqlValue::current_user:
    case ast::SqlValue::user:
      return {SqlValueKind::current_user, type_oid::name};
    case ast::SqlValue::session_user:
      return {SqlValueKind::session_user, type_oid::name};
    case ast::SqlValue::current_catalog:
      return {SqlValueKind::current_catalog, type_oid::name};
    case ast::SqlValue::current_schema:
      return {SqlValueKind::current_schema, type_oid::name};
  }
  PGSILO_REQUIRE(false);
}

const BoundExpression* bind_sql_value(Scope& scope, const ast::SqlValueFunction& node) {
  SqlValueInfo info = sql_value_info(node.value);
  auto* value = make_expression<SqlValueExpression>(scope.arena(), info.type, node.location);
  value->value = info.kind;
  warn_of_precision(scope.binding, info.type, node.typmod, -1);
  value->typmod = std::min(node.typmod, limits::max_time_precision);
  return value;
}

[[noreturn]] void unsupported(Scope& scope, UnsupportedFeature feature, const ast::Node* node) {
  throw_unsupported(feature, scope.position(node->location));
}

}  // namespace

const BoundExpression* bind_constant(StatementBinding& binding, const ast::Constant& constant) {
  auto make = [&](Oid type, Datum value) {
    return make_constant(binding.arena, type, value, constant.location);
  };
  switch (constant.constant_kind) {
    case ast::ConstantKind::null:
      return make(type_oid::unknown, Datum());
    case ast::ConstantKind::boolean:
      return make(type_oid::boolean, Datum::of_bool(constant.boolean));
    case ast::ConstantKind::integer:
      return make(type_oid::int4, Datum::of_int(constant.integer));
    case ast::ConstantKind::string:
      return make(type_oid::unknown, Datum::of_bytes(copy_value(constant.text, binding.arena)));
    case ast::ConstantKind::bit_string:
      throw_unsupported(UnsupportedFeature::bit_string, binding.position(constant.location));
    case ast::ConstantKind::decimal:
      break;
  }
  ast::NumberValue number = ast::number_value(constant);
  if (number.type != type_oid::numeric) return make(number.type, Datum::of_int(number.integer));
  Datum value = type_info(type_oid::numeric)
                    .parse(binding.arena.copy_string(constant.text), no_typmod, binding.types);
  return make(type_oid::numeric, value);
}

const BoundExpression* bind_expression(Scope& scope, const ast::Node* node) {
  DepthGuard depth(scope.binding);
  switch (node->kind) {
    case ast::NodeKind::constant:
      return bind_constant(scope.binding, *ast::as<ast::Constant>(node));
    case ast::NodeKind::column_ref:
      return bind_column_reference(scope, *ast::as<ast::ColumnRef>(node));
    case ast::NodeKind::param_ref:
      return bind_parameter(scope.binding, ast::as<ast::ParamRef>(node)->number, node->location);
    case ast::NodeKind::func_call:
      return bind_function_call(scope, *ast::as<ast::FuncCall>(node));
    case ast::NodeKind::operator_expr:
      return bind_operator_expression(scope, *ast::as<ast::OperatorExpr>(node));
    case ast::NodeKind::bool_expr:
      return bind_boolean(scope, *ast::as<ast::BoolExpr>(node));
    case ast::NodeKind::null_test:
      return bind_null_test(scope, *ast::as<ast::NullTest>(node));
    case ast::NodeKind::boolean_test:
      return bind_boolean_test(scope, *ast::as<ast::BooleanTest>(node));
    case ast::NodeKind::case_expr:
      return bind_case(scope, *ast::as<ast::CaseExpr>(node));
    case ast::NodeKind::coalesce_expr:
      return bind_coalesce(scope, *ast::as<ast::CoalesceExpr>(node));
    case ast::NodeKind::min_max_expr:
      return bind_min_max(scope, *ast::as<ast::MinMaxExpr>(node));
    case ast::NodeKind::type_cast:
      return bind_type_cast(scope, *ast::as<ast::TypeCast>(node));
    case ast::NodeKind::collate_clause:
      return bind_collate(scope, *ast::as<ast::CollateClause>(node));
    case ast::NodeKind::sublink:
      return bind_sublink(scope, *ast::as<ast::SubLink>(node));
    case ast::NodeKind::row_expr:
      return bind_row(scope, *ast::as<ast::RowExpr>(node));
    case ast::NodeKind::array_expr:
      return bind_array(scope, *ast::as<ast::ArrayExpr>(node), {});
    case ast::NodeKind::sql_value_function:
      return bind_sql_value(scope, *ast::as<ast::SqlValueFunction>(node));
    case ast::NodeKind::indirection:
      return bind_indirection(scope, *ast::as<ast::Indirection>(node));
    case ast::NodeKind::set_to_default:
      throw SqlError(sqlstate::syntax_error, "DEFAULT is not allowed in this context")
          .at(scope.position(node->location));
    case ast::NodeKind::grouping_func:
      unsupported(scope, UnsupportedFeature::grouping_sets, node);
    case ast::NodeKind::named_argument:
      unsupported(scope, UnsupportedFeature::named_argument, node);
    case ast::NodeKind::current_of:
      unsupported(scope, UnsupportedFeature::where_current_of, node);
    default:
      break;
  }
  throw SqlError(sqlstate::internal_error,
                 concat("unrecognized node type: ", static_cast<int>(node->kind)));
}

const BoundExpression* bind_expression(Scope& scope, const ast::Node* node, ExpressionPlace place) {
  PlaceGuard guard(scope, place);
  return bind_expression(scope, node);
}

const BoundExpression* bind_condition(Scope& scope, const ast::Node* node, ExpressionPlace place,
                                      std::string_view construct) {
  if (node == nullptr) return nullptr;
  return coerce_to_boolean(scope.binding, bind_expression(scope, node, place), construct);
}

const BoundExpression* resolve_unknown(StatementBinding& binding,
                                       const BoundExpression* expression) {
  if (expression->type != type_oid::unknown) return expression;
  return coerce_type(binding, expression, type_oid::text, no_typmod, CoercionContext::implicit,
                     CallForm::implicit_cast, -1);
}

}  // namespace pgsilo
