// CASE, COALESCE, GREATEST, LEAST and ARRAY[]: several expressions of one common type.
#include "planner/binder/coercion.h"
#include "planner/binder/expression_binder.h"
#include "planner/binder/expression_families.h"
#include "planner/binder/operator_call.h"
#include "planner/bound/expression_tree.h"
#include "planner/bound/make_expression.h"
#include "planner/unsupported_features.h"
#include "sql/types/type.h"

namespace pgsilo {

namespace {

using Items = std::vector<const BoundExpression*>;

void forbid_sets(Scope& scope, std::span<const BoundExpression* const> items,
                 std::string_view construct) {
  for (const BoundExpression* item : items) {
    const BoundExpression* found = nullptr;
    contains(*item, [&](const BoundExpression& e) {
      if (e.kind == ExpressionKind::set_returning) found = &e;
      return found != nullptr;
    });
    if (found == nullptr) continue;
    throw SqlError(sqlstate::feature_not_supported,
                   concat("set-returning functions are not allowed in ", construct))
        .hint("You might be able to move the set-returning function into a LATERAL FROM item.")
        .at(scope.position(found->location));
  }
}

Items bind_items(Scope& scope, ast::NodeList nodes) {
  Items items;
  for (const ast::Node* node : nodes) items.push_back(bind_expression(scope, node));
  return items;
}

// All items as their common type, which is returned.
Oid unify(Scope& scope, Items& items, std::string_view context) {
  Oid type = select_common_type(scope.binding, items, context);
  for (const BoundExpression*& item : items)
    item = coerce_to_common_type(scope.binding, item, type, context);
  return type;
}

const BoundExpression* bind_case_condition(Scope& scope, const ast::CaseWhen& when,
                                           const BoundExpression* argument) {
  const BoundExpression* condition = bind_expression(scope, when.condition);
  if (argument != nullptr) {
    condition = make_operator(scope.binding, "=", argument, condition, when.location);
  }
  return coerce_to_boolean(scope.binding, condition, "CASE/WHEN");
}

}  // namespace

const BoundExpression* bind_case(Scope& scope, const ast::CaseExpr& node) {
  auto* result = make_expression<CaseExpression>(scope.arena(), invalid_oid, node.location);
  const BoundExpression* placeholder = nullptr;
  if (node.argument != nullptr) {
    result->argument = resolve_unknown(scope.binding, bind_expression(scope, node.argument));
    result->argument_parameter = scope.binding.new_execution_parameter();
    auto* stand_in = make_expression<ExecutionParameterExpression>(
        scope.arena(), result->argument->type, result->argument->location);
    stand_in->typmod = result->argument->typmod;
    stand_in->index = result->argument_parameter;
    stand_in->source = result->argument;
    placeholder = stand_in;
  }
  // The ELSE counts first when the common type is chosen.
  Items values(1);
  std::span<BoundWhen> whens = scope.arena().make_span<BoundWhen>(node.whens.size());
  for (size_t i = 0; i < whens.size(); ++i) {
    whens[i].condition = bind_case_condition(scope, node.whens[i], placeholder);
    values.push_back(bind_expression(scope, node.whens[i].result));
  }
  values[0] = node.otherwise != nullptr ? bind_expression(scope, node.otherwise)
                                        : make_null(scope.arena(), type_oid::unknown);
  result->type = select_common_type(scope.binding, values, "CASE");
  for (const BoundExpression*& value : values) {
    value = coerce_to_common_type(scope.binding, value, result->type,
                                  &value == values.data() ? "CASE/ELSE" : "CASE/WHEN");
  }
  result->otherwise = values[0];
  for (size_t i = 0; i < whens.size(); ++i) whens[i].result = values[i + 1];
  result->whens = whens;
  result->typmod = select_common_typmod(values, result->type);
  Items everything = values;
  if (result->argument != nullptr) everything.push_back(result->argument);
  for (const BoundWhen& when : whens) everything.push_back(when.condition);
  forbid_sets(scope, everything, "CASE");
  return result;
}

const BoundExpression* bind_coalesce(Scope& scope, const ast::CoalesceExpr& node) {
  Items items = bind_items(scope, node.arguments);
  auto* result = make_expression<CoalesceExpression>(scope.arena(), unify(scope, items, "COALESCE"),
                                                     node.location);
  forbid_sets(scope, items, "COALESCE");
  result->arguments = scope.arena().copy_span(items);
  result->typmod = select_common_typmod(items, result->type);
  return result;
}

const BoundExpression* bind_min_max(Scope& scope, const ast::MinMaxExpr& node) {
  std::string_view name = node.is_least ? "LEAST" : "GREATEST";
  Items items = bind_items(scope, node.arguments);
  auto* result =
      make_expression<MinMaxExpression>(scope.arena(), unify(scope, items, name), node.location);
  result->is_least = node.is_least;
  result->arguments = scope.arena().copy_span(items);
  result->typmod = select_common_typmod(items, result->type);
  return result;
}

namespace {

// The elements; those that are constructors themselves as ones of the same type.
Items bind_array_items(Scope& scope, const ast::ArrayExpr& node, BoundType wanted,
                       bool* of_arrays) {
  Items items;
  for (const ast::Node* element : node.elements) {
    auto* nested = ast::try_as<ast::ArrayExpr>(element);
    items.push_back(nested != nullptr ? bind_array(scope, *nested, wanted)
                                      : bind_expression(scope, element));
    *of_arrays |= nested != nullptr || is_array_type(type_info(items.back()->type));
  }
  return items;
}

// ARRAY[...]::type[] casts each element.
void cast_items(Scope& scope, Items& items, BoundType target, int32_t location) {
  for (const BoundExpression*& item : items) {
    Oid from = item->type;
    int32_t begin = first_location(*item);
    item = coerce_to_target(scope.binding, item, target.type, target.typmod,
                            CoercionContext::explicit_, CallForm::explicit_cast, -1);
    if (item != nullptr) continue;
    throw SqlError(sqlstate::cannot_coerce,
                   concat("cannot cast type ", type_name(from), " to ", type_name(target.type)))
        .at(scope.position(begin >= 0 ? begin : location));
  }
}

// `common`: of the elements, which are arrays themselves or not.
void set_array_type(Scope& scope, ArrayExpression* array, Oid common) {
  const TypeInfo& type = type_info(common);
  array->element_type = array->of_arrays ? type.element : common;
  array->type = array->of_arrays ? common : type.array;
  if (array->of_arrays && !is_array_type(type)) {
    throw SqlError(sqlstate::undefined_object,
                   concat("could not find element type for data type ", type_name(common)))
        .at(scope.position(array->location));
  }
  if (array->type == invalid_oid) {
    throw SqlError(sqlstate::undefined_object,
                   concat("could not find array type for data type ", type_name(common)))
        .at(scope.position(array->location));
  }
}

}  // namespace

const BoundExpression* bind_array(Scope& scope, const ast::ArrayExpr& node, BoundType wanted) {
  DepthGuard depth(scope.binding);
  auto* result = make_expression<ArrayExpression>(scope.arena(), wanted.type, node.location);
  Items items = bind_array_items(scope, node, wanted, &result->of_arrays);
  if (wanted.type != invalid_oid) {
    result->typmod = wanted.typmod;
    result->element_type = type_info(wanted.type).element;
    Oid target = result->of_arrays ? wanted.type : result->element_type;
    cast_items(scope, items, {target, wanted.typmod}, node.location);
  } else if (items.empty()) {
    throw SqlError(sqlstate::indeterminate_datatype, "cannot determine type of empty array")
        .hint("Explicitly cast to the desired type, for example ARRAY[]::integer[].")
        .at(scope.position(node.location));
  } else {
    set_array_type(scope, result, unify(scope, items, "ARRAY"));
  }
  result->elements = scope.arena().copy_span(items);
  return result;
}

}  // namespace pgsilo
