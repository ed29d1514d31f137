#include "planner/explain/deparse_pretty.h"

#include "catalog/builtin/builtin.h"

namespace pgsilo {

namespace {

// What it encloses stands between its own parentheses, commas or words.
bool encloses(const BoundExpression& parent) {
  switch (parent.kind) {
    case ExpressionKind::call: {
      auto* call = as<CallExpression>(&parent);
      // Not AT TIME ZONE.
      return call->form == CallForm::function ||
             (call->form == CallForm::sql_syntax &&
              find_procedure(call->procedure)->name != "timezone");
    }
    case ExpressionKind::array:
    case ExpressionKind::row:
    case ExpressionKind::coalesce:
    case ExpressionKind::min_max:
    case ExpressionKind::null_if:
    case ExpressionKind::case_when:
      return true;
    default:
      return false;
  }
}

// How tightly + - and * / % bind: 1 and 2; 0: another operator, or none.
int arithmetic_level(const BoundExpression& e) {
  auto* call = try_as<CallExpression>(&e);
  if (call == nullptr || call->form != CallForm::infix_operator || call->arguments.size() != 2)
    return 0;
  const BuiltinOperator* op = find_operator(call->operator_oid);
  if (op == nullptr || op->name.size() != 1) return 0;
  if (op->name == "+" || op->name == "-") return 1;
  return op->name == "*" || op->name == "/" || op->name == "%" ? 2 : 0;
}

bool operation_stands_alone(const CallExpression& e, const BoundExpression& parent) {
  auto* outer = try_as<CallExpression>(&parent);
  if (outer == nullptr || outer->form != CallForm::infix_operator)
    return parent.kind == ExpressionKind::boolean || encloses(parent);
  int level = arithmetic_level(e);
  int outer_level = arithmetic_level(parent);
  if (level == 0 || outer_level == 0) return false;
  return level > outer_level || (level == outer_level && outer->arguments[0] == &e);
}

bool boolean_stands_alone(const BooleanExpression& e, const BoundExpression& parent) {
  auto* outer = try_as<BooleanExpression>(&parent);
  if (outer == nullptr) return encloses(parent);
  if (e.op == BooleanOperator::or_) return outer->op == BooleanOperator::or_;
  return outer->op != BooleanOperator::not_;
}

}  // namespace

bool stands_alone(const BoundExpression& e, const BoundExpression* parent) {
  if (parent == nullptr) return true;
  switch (e.kind) {
    case ExpressionKind::call: {
      auto* call = as<CallExpression>(&e);
      if (call->form == CallForm::infix_operator) return operation_stands_alone(*call, *parent);
      return true;
    }
    case ExpressionKind::boolean:
      return boolean_stands_alone(*as<BooleanExpression>(&e), *parent);
    case ExpressionKind::null_test:
    case ExpressionKind::boolean_test:
    case ExpressionKind::sublink:
      return parent->kind == ExpressionKind::boolean || encloses(*parent);
    case ExpressionKind::distinct_from:
      // Its negation is a NOT of its own.
      if (as<DistinctFromExpression>(&e)->negated) {
        auto* outer = try_as<BooleanExpression>(parent);
        return outer != nullptr ? outer->op != BooleanOperator::not_ : encloses(*parent);
      }
      return parent->kind == ExpressionKind::boolean || encloses(*parent);
    case ExpressionKind::relabel:
      return stands_alone(*as<RelabelExpression>(&e)->argument, &e);
    case ExpressionKind::io_conversion:
      return stands_alone(*as<IoConversionExpression>(&e)->argument, &e);
    case ExpressionKind::array_coercion:
      return stands_alone(*as<ArrayCoercionExpression>(&e)->argument, &e);
    case ExpressionKind::domain_coercion:
      return stands_alone(*as<DomainCoercionExpression>(&e)->argument, &e);
    case ExpressionKind::in_list:
    case ExpressionKind::array_comparison:
      return false;
    default:
      return true;
  }
}

}  // namespace pgsilo
