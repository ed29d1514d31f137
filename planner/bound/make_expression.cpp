#include "planner/bound/make_expression.h"

#include <vector>

#include "catalog/builtin/builtin.h"

namespace pgsilo {

const ConstantExpression* make_constant(Arena& arena, Oid type, Datum value, int32_t location) {
  auto* constant = make_expression<ConstantExpression>(arena, type, location);
  constant->value = value;
  return constant;
}

const ColumnExpression* make_column(Arena& arena, int32_t relation, int32_t column, Oid type,
                                    int32_t typmod, int32_t location) {
  auto* node = make_expression<ColumnExpression>(arena, type, location);
  node->typmod = typmod;
  node->relation = relation;
  node->column = column;
  return node;
}

Volatility volatility_of(const BuiltinProcedure& procedure) {
  switch (procedure.volatility) {
    case 'i':
      return Volatility::immutable;
    case 's':
      return Volatility::stable;
    default:
      return Volatility::volatile_;
  }
}

CallExpression* make_call(Arena& arena, const BuiltinProcedure& procedure, Oid result,
                          ExpressionList arguments, int32_t location) {
  auto* call = make_expression<CallExpression>(arena, result, location);
  call->procedure = procedure.oid;
  call->volatility = volatility_of(procedure);
  call->strict = procedure.strict;
  call->arguments = arguments;
  return call;
}

const BoundExpression* make_boolean_list(Arena& arena, BooleanOperator op,
                                         std::span<const BoundExpression* const> list) {
  std::vector<const BoundExpression*> flat;
  for (const BoundExpression* item : list) {
    if (item == nullptr) continue;
    auto* nested = try_as<BooleanExpression>(item);
    if (nested != nullptr && nested->op == op) {
      flat.insert(flat.end(), nested->arguments.begin(), nested->arguments.end());
    } else {
      flat.push_back(item);
    }
  }
  if (flat.empty()) return make_boolean(arena, op == BooleanOperator::and_);
  if (flat.size() == 1) return flat.front();
  auto* node = make_expression<BooleanExpression>(arena, type_oid::boolean, flat.front()->location);
  node->op = op;
  node->arguments = arena.copy_span(flat);
  return node;
}

const BoundExpression* make_not(Arena& arena, const BoundExpression* argument) {
  auto* node = make_expression<BooleanExpression>(arena, type_oid::boolean, argument->location);
  node->op = BooleanOperator::not_;
  node->arguments = arena.copy_span(std::initializer_list<const BoundExpression*>{argument});
  return node;
}

}  // namespace pgsilo
