#include "planner/access/strictness.h"

#include "catalog/builtin/builtin.h"
#include "sql/types/type.h"

namespace pgsilo {

namespace {

// Relations of which an all-null row makes the value NULL.
RelationSet null_propagating(const BoundExpression& expression) {
  switch (expression.kind) {
    case ExpressionKind::column: {
      auto* column = as<ColumnExpression>(&expression);
      return column->levels_up == 0 ? RelationSet::of(column->relation) : RelationSet();
    }
    case ExpressionKind::call: {
      auto* call = as<CallExpression>(&expression);
      RelationSet set;
      if (!call->strict) return set;
      for (const BoundExpression* argument : call->arguments) set |= null_propagating(*argument);
      return set;
    }
    case ExpressionKind::relabel:
      return null_propagating(*as<RelabelExpression>(&expression)->argument);
    case ExpressionKind::io_conversion:
      return null_propagating(*as<IoConversionExpression>(&expression)->argument);
    case ExpressionKind::array_coercion:
      return null_propagating(*as<ArrayCoercionExpression>(&expression)->argument);
    case ExpressionKind::typmod_coercion:
      return null_propagating(*as<TypmodCoercionExpression>(&expression)->argument);
    case ExpressionKind::in_list:
      return null_propagating(*as<InListExpression>(&expression)->operand);
    case ExpressionKind::boolean: {
      auto* boolean = as<BooleanExpression>(&expression);
      return boolean->op == BooleanOperator::not_ ? null_propagating(*boolean->arguments[0])
                                                  : RelationSet();
    }
    default:
      return {};
  }
}

RelationSet of_boolean(const BooleanExpression& boolean) {
  if (boolean.op == BooleanOperator::not_) return null_propagating(*boolean.arguments[0]);
  bool is_and = boolean.op == BooleanOperator::and_;
  RelationSet set = non_nullable_relations(*boolean.arguments[0]);
  for (const BoundExpression* argument : boolean.arguments.subspan(1)) {
    RelationSet other = non_nullable_relations(*argument);
    set = is_and ? set | other : set & other;
  }
  return set;
}

}  // namespace

RelationSet non_nullable_relations(const BoundExpression& condition) {
  switch (condition.kind) {
    case ExpressionKind::boolean:
      return of_boolean(*as<BooleanExpression>(&condition));
    case ExpressionKind::null_test: {
      auto* test = as<NullTestExpression>(&condition);
      if (!test->is_not_null || test->argument->type == type_oid::record) return {};
      return null_propagating(*test->argument);
    }
    case ExpressionKind::boolean_test: {
      auto* test = as<BooleanTestExpression>(&condition);
      bool rejects_null = test->test == BooleanTest::is_true ||
                          test->test == BooleanTest::is_false ||
                          test->test == BooleanTest::is_not_unknown;
      return rejects_null ? null_propagating(*test->argument) : RelationSet();
    }
    default:
      return null_propagating(condition);
  }
}

bool is_hashable_equality(const CallExpression& call) {
  const BuiltinOperator* op =
      call.operator_oid != invalid_oid ? find_operator(call.operator_oid) : nullptr;
  if (op == nullptr || op->name != "=" || call.arguments.size() != 2) return false;
  return hash_alike(call.arguments[0]->type, call.arguments[1]->type);
}

bool hash_alike(Oid left_type, Oid right_type) {
  const TypeInfo* left = find_type(left_type);
  const TypeInfo* right = find_type(right_type);
  if (left == nullptr || right == nullptr || !left->is_hashable() || !right->is_hashable())
    return false;
  if (left == right) return true;
  // Integers hash alike in all widths, and so do floats.
  auto is_float = [](Oid type) { return type == type_oid::float4 || type == type_oid::float8; };
  return (is_integer_type(left->oid) && is_integer_type(right->oid)) ||
         (is_float(left->oid) && is_float(right->oid));
}

}  // namespace pgsilo
