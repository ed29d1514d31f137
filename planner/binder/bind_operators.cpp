// Operators in all their spellings: a + b, IN, BETWEEN, IS DISTINCT FROM, op ANY (array).
#include <algorithm>

#include "catalog/builtin/builtin.h"
#include "planner/binder/coercion.h"
#include "planner/binder/expression_binder.h"
#include "planner/binder/expression_families.h"
#include "planner/binder/operator_call.h"
#include "planner/binder/polymorphic_types.h"
#include "planner/binder/row_comparison.h"
#include "planner/bound/expression_tree.h"
#include "planner/bound/make_expression.h"
#include "sql/internal_error.h"
#include "sql/types/type.h"

namespace pgsilo {

namespace {

std::vector<const BoundExpression*> bind_list(Scope& scope, ast::NodeList nodes) {
  std::vector<const BoundExpression*> bound;
  for (const ast::Node* node : nodes) bound.push_back(bind_expression(scope, node));
  return bound;
}

const ast::SubLink* as_row_select(const ast::Node* node) {
  auto* sublink = ast::try_as<ast::SubLink>(node);
  return sublink != nullptr && sublink->sublink_kind == ast::SubLinkKind::expression ? sublink
                                                                                     : nullptr;
}

const BoundExpression* bind_plain(Scope& scope, const ast::OperatorExpr& node) {
  std::string_view op = operator_word(scope.binding, node.name, node.location);
  auto* left_row = ast::try_as<ast::RowExpr>(node.left);
  if (left_row != nullptr) {
    if (auto* right_row = ast::try_as<ast::RowExpr>(node.right)) {
      auto left = bind_list(scope, left_row->arguments);
      auto right = bind_list(scope, right_row->arguments);
      return make_row_comparison(scope.binding, op, left, right, node.location);
    }
    if (const ast::SubLink* sublink = as_row_select(node.right)) {
      auto left = bind_list(scope, left_row->arguments);
      auto right = bind_row_sublink(scope, *sublink->select, left.size(), sublink->location);
      return make_row_comparison(scope.binding, op, left, right, node.location);
    }
  }
  const BoundExpression* left = node.left != nullptr ? bind_expression(scope, node.left) : nullptr;
  const BoundExpression* right = bind_expression(scope, node.right);
  return make_operator(scope.binding, op, left, right, node.location);
}

const BoundExpression* bind_array_comparison(Scope& scope, const ast::OperatorExpr& node) {
  StatementBinding& binding = scope.binding;
  std::string_view op = operator_word(binding, node.name, node.location);
  const BoundExpression* left = bind_expression(scope, node.left);
  const BoundExpression* array = bind_expression(scope, node.right);
  Oid element = type_oid::unknown;
  if (array->type != type_oid::unknown) {
    const TypeInfo& type = base_type_of(type_info(array->type));
    if (type.category != 'A') {
      throw SqlError(sqlstate::wrong_object_type, "op ANY/ALL (array) requires array on right side")
          .at(binding.position(node.location));
    }
    element = type.element;
  }
  const BuiltinOperator& found = resolve_operator(binding, op, left->type, element, node.location);
  if (found.result != type_oid::boolean) {
    throw SqlError(sqlstate::wrong_object_type,
                   "op ANY/ALL (array) requires operator to yield boolean")
        .at(binding.position(node.location));
  }
  Oid actual[] = {left->type, element};
  Oid declared[] = {found.left, found.right};
  resolve_polymorphic_types(actual, declared, found.result);
  Oid right_element = declared[1];
  Oid array_type = type_info(right_element).array;
  if (array_type == invalid_oid) {
    throw SqlError(sqlstate::undefined_object,
                   concat("could not find array type for data type ", type_name(right_element)))
        .at(binding.position(node.location));
  }
  auto* comparison =
      make_expression<ArrayComparisonExpression>(scope.arena(), type_oid::boolean, node.location);
  comparison->operand = coerce_type(binding, left, declared[0], no_typmod,
                                    CoercionContext::implicit, CallForm::implicit_cast, -1);
  comparison->array = coerce_type(binding, array, array_type, no_typmod, CoercionContext::implicit,
                                  CallForm::implicit_cast, -1);
  comparison->procedure = found.procedure;
  comparison->operator_oid = found.oid;
  comparison->element_type = right_element;
  comparison->strict = find_procedure(found.procedure)->strict;
  comparison->is_all = node.operator_kind == ast::OperatorKind::op_all;
  return comparison;
}

bool is_null_constant(const ast::Node* node) {
  auto* constant = ast::try_as<ast::Constant>(node);
  return constant != nullptr && constant->constant_kind == ast::ConstantKind::null;
}

const BoundExpression* make_null_test(Scope& scope, const BoundExpression* argument,
                                      bool is_not_null, int32_t location) {
  auto* test = make_expression<NullTestExpression>(scope.arena(), type_oid::boolean, location);
  test->argument = argument;
  test->is_not_null = is_not_null;
  return test;
}

// Rows are distinct if one of their columns is.
const BoundExpression* bind_row_distinct(Scope& scope, const ast::OperatorExpr& node,
                                         bool negated) {
  auto left = bind_list(scope, ast::as<ast::RowExpr>(node.left)->arguments);
  auto right = bind_list(scope, ast::as<ast::RowExpr>(node.right)->arguments);
  if (left.size() != right.size()) {
    throw SqlError(sqlstate::syntax_error, "unequal number of entries in row expressions")
        .at(scope.position(node.location));
  }
  std::vector<const BoundExpression*> columns;
  columns.reserve(left.size());
  for (size_t i = 0; i < left.size(); ++i) {
    columns.push_back(make_distinct(scope.binding, left[i], right[i], negated, node.location));
  }
  return make_boolean_list(scope.arena(), negated ? BooleanOperator::and_ : BooleanOperator::or_,
                           columns);
}

const BoundExpression* bind_distinct(Scope& scope, const ast::OperatorExpr& node) {
  bool negated = node.operator_kind == ast::OperatorKind::is_not_distinct;
  if (is_null_constant(node.right)) {
    return make_null_test(scope, bind_expression(scope, node.left), !negated, node.location);
  }
  if (is_null_constant(node.left)) {
    return make_null_test(scope, bind_expression(scope, node.right), !negated, node.location);
  }
  if (ast::try_as<ast::RowExpr>(node.left) != nullptr &&
      ast::try_as<ast::RowExpr>(node.right) != nullptr) {
    return bind_row_distinct(scope, node, negated);
  }
  const BoundExpression* left = bind_expression(scope, node.left);
  const BoundExpression* right = bind_expression(scope, node.right);
  return make_distinct(scope.binding, left, right, negated, node.location);
}

const BoundExpression* bind_nullif(Scope& scope, const ast::OperatorExpr& node) {
  const BoundExpression* left = bind_expression(scope, node.left);
  const BoundExpression* right = bind_expression(scope, node.right);
  const auto* equality =
      as<CallExpression>(make_operator(scope.binding, "=", left, right, node.location));
  if (equality->type != type_oid::boolean) {
    throw SqlError(sqlstate::datatype_mismatch, "NULLIF requires = operator to yield boolean")
        .at(scope.position(node.location));
  }
  auto* result =
      make_expression<NullIfExpression>(scope.arena(), equality->arguments[0]->type, node.location);
  result->left = equality->arguments[0];
  result->right = equality->arguments[1];
  result->typmod = result->left->typmod;
  result->equality = equality->procedure;
  return result;
}

bool reads_columns(const BoundExpression& expression) {
  return contains(expression, [](const BoundExpression& e) {
    auto* column = try_as<ColumnExpression>(&e);
    return column != nullptr && column->levels_up == 0;
  });
}

// The items without columns as one list of a common type; null when they have none (then each is
// compared by itself).
const BoundExpression* make_in_list(Scope& scope, std::string_view op,
                                    const BoundExpression* operand,
                                    std::span<const BoundExpression* const> items,
                                    int32_t location) {
  StatementBinding& binding = scope.binding;
  std::vector<const BoundExpression*> all = {operand};
  all.insert(all.end(), items.begin(), items.end());
  Oid common = select_common_type(binding, all, {});
  if (common == invalid_oid || common == type_oid::record || type_info(common).array == invalid_oid)
    return nullptr;
  for (const BoundExpression* item : all) {
    if (!can_coerce(item->type, common, CoercionContext::implicit)) return nullptr;
  }
  const BuiltinOperator& found = resolve_operator(binding, op, operand->type, common, location);
  auto* list = make_expression<InListExpression>(scope.arena(), type_oid::boolean, location);
  Oid actual[] = {operand->type, common};
  Oid declared[] = {found.left, found.right};
  resolve_polymorphic_types(actual, declared, found.result);
  list->operand = coerce_type(binding, operand, declared[0], no_typmod, CoercionContext::implicit,
                              CallForm::implicit_cast, -1);
  std::vector<const BoundExpression*> coerced;
  for (const BoundExpression* item : items) {
    const BoundExpression* of_common = coerce_to_common_type(binding, item, common, "IN");
    coerced.push_back(coerce_type(binding, of_common, declared[1], no_typmod,
                                  CoercionContext::implicit, CallForm::implicit_cast, -1));
  }
  list->items = scope.arena().copy_span(coerced);
  list->procedure = found.procedure;
  list->operator_oid = found.oid;
  list->negated = op == "<>";
  return list;
}

const BoundExpression* bind_row_in(Scope& scope, const ast::OperatorExpr& node, std::string_view op,
                                   const ast::RowExpr& left_row) {
  auto left = bind_list(scope, left_row.arguments);
  std::vector<std::vector<const BoundExpression*>> rows;
  for (const ast::Node* item : node.arguments) {
    auto* row = ast::try_as<ast::RowExpr>(item);
    rows.emplace_back();
    if (row != nullptr) rows.back() = bind_list(scope, row->arguments);
  }
  std::vector<const BoundExpression*> comparisons;
  for (size_t i = 0; i < node.arguments.size(); ++i) {
    const ast::Node* item = node.arguments[i];
    auto* row = ast::try_as<ast::RowExpr>(item);
    if (row == nullptr) {
      const BoundExpression* record = bind_expression(scope, node.left);
      comparisons.push_back(
          make_operator(scope.binding, op, record, bind_expression(scope, item), node.location));
      continue;
    }
    comparisons.push_back(make_row_comparison(scope.binding, op, left, rows[i], node.location));
  }
  return make_boolean_list(scope.arena(), op == "=" ? BooleanOperator::or_ : BooleanOperator::and_,
                           comparisons);
}

const BoundExpression* bind_in(Scope& scope, const ast::OperatorExpr& node) {
  std::string_view op = node.name.back();
  if (auto* row = ast::try_as<ast::RowExpr>(node.left)) return bind_row_in(scope, node, op, *row);
  const BoundExpression* operand = bind_expression(scope, node.left);
  std::vector<const BoundExpression*> listed;
  std::vector<const BoundExpression*> single;
  for (const ast::Node* item : node.arguments) {
    const BoundExpression* bound = bind_expression(scope, item);
    (reads_columns(*bound) ? single : listed).push_back(bound);
  }
  std::vector<const BoundExpression*> comparisons;
  if (listed.size() > 1) {
    if (const BoundExpression* list = make_in_list(scope, op, operand, listed, node.location)) {
      comparisons.push_back(list);
      listed.clear();
    }
  }
  listed.insert(listed.end(), single.begin(), single.end());
  for (const BoundExpression* item : listed) {
    comparisons.push_back(coerce_to_boolean(
        scope.binding, make_operator(scope.binding, op, operand, item, node.location), "IN"));
  }
  return make_boolean_list(scope.arena(), op == "=" ? BooleanOperator::or_ : BooleanOperator::and_,
                           comparisons);
}

// a >= low AND a <= high; NOT BETWEEN: a < low OR a > high. SYMMETRIC: either order of the bounds
// will do (none, for NOT).
const BoundExpression* bind_between(Scope& scope, const ast::OperatorExpr& node) {
  bool negated = node.operator_kind == ast::OperatorKind::not_between ||
                 node.operator_kind == ast::OperatorKind::not_between_symmetric;
  bool symmetric = node.operator_kind == ast::OperatorKind::between_symmetric ||
                   node.operator_kind == ast::OperatorKind::not_between_symmetric;
  const BoundExpression* operand = bind_expression(scope, node.left);
  auto above = [&](const BoundExpression* bound) {
    return make_operator(scope.binding, negated ? "<" : ">=", operand, bound, node.location);
  };
  auto below = [&](const BoundExpression* bound) {
    return make_operator(scope.binding, negated ? ">" : "<=", operand, bound, node.location);
  };
  auto range = [&](const BoundExpression* from, const BoundExpression* to) {
    const BoundExpression* both[2] = {from, to};
    return make_boolean_list(scope.arena(), negated ? BooleanOperator::or_ : BooleanOperator::and_,
                             both);
  };
  // The first comparison is resolved before the other bound is looked at.
  const BoundExpression* low = bind_expression(scope, node.arguments[0]);
  const BoundExpression* from_low = above(low);
  const BoundExpression* high = bind_expression(scope, node.arguments[1]);
  const BoundExpression* inner = range(from_low, below(high));
  if (!symmetric) return inner;
  const BoundExpression* either[2] = {inner, range(above(high), below(low))};
  return make_boolean_list(scope.arena(), negated ? BooleanOperator::and_ : BooleanOperator::or_,
                           either);
}

}  // namespace

const BoundExpression* bind_operator_expression(Scope& scope, const ast::OperatorExpr& node) {
  switch (node.operator_kind) {
    case ast::OperatorKind::op:
    case ast::OperatorKind::like:
    case ast::OperatorKind::ilike:
    case ast::OperatorKind::similar:
      return bind_plain(scope, node);
    case ast::OperatorKind::op_any:
    case ast::OperatorKind::op_all:
      return bind_array_comparison(scope, node);
    case ast::OperatorKind::is_distinct:
    case ast::OperatorKind::is_not_distinct:
      return bind_distinct(scope, node);
    case ast::OperatorKind::nullif:
      return bind_nullif(scope, node);
    case ast::OperatorKind::in:
      return bind_in(scope, node);
    case ast::OperatorKind::between:
    case ast::OperatorKind::not_between:
    case ast::OperatorKind::between_symmetric:
    case ast::OperatorKind::not_between_symmetric:
      return bind_between(scope, node);
  }
  PGSILO_REQUIRE(false);
}

}  // namespace pgsilo
