// Making bound expressions. Every node is made here or through make_node(), so that no kind is
// forgotten. Thread safety: none; the arena's.
#pragma once

#include <initializer_list>

#include "base/arena.h"
#include "planner/bound/expression.h"

namespace pgsilo {

struct BuiltinProcedure;

template <typename T>
T* make_expression(Arena& arena, Oid type, int32_t location = -1) {
  T* node = arena.make<T>();
  node->kind = T::expression_kind;
  node->type = type;
  node->location = location;
  return node;
}

const ConstantExpression* make_constant(Arena& arena, Oid type, Datum value, int32_t location = -1);
inline const ConstantExpression* make_int4(Arena& arena, int32_t value) {
  return make_constant(arena, type_oid::int4, Datum::of_int(value));
}
inline const ConstantExpression* make_boolean(Arena& arena, bool value) {
  return make_constant(arena, type_oid::boolean, Datum::of_bool(value));
}
inline const ConstantExpression* make_null(Arena& arena, Oid type) {
  return make_constant(arena, type, Datum());
}

const ColumnExpression* make_column(Arena& arena, int32_t relation, int32_t column, Oid type,
                                    int32_t typmod, int32_t location = -1);

// A call of a built-in procedure; its volatility and strictness come from the table.
CallExpression* make_call(Arena& arena, const BuiltinProcedure& procedure, Oid result,
                          ExpressionList arguments, int32_t location);
Volatility volatility_of(const BuiltinProcedure& procedure);

// AND (OR) of the list, flattened; the only element itself; for an empty list true (false). Null
// elements are skipped.
const BoundExpression* make_boolean_list(Arena& arena, BooleanOperator op,
                                         std::span<const BoundExpression* const> list);
inline const BoundExpression* make_and(Arena& arena,
                                       std::initializer_list<const BoundExpression*> list) {
  return make_boolean_list(arena, BooleanOperator::and_, {list.begin(), list.size()});
}
const BoundExpression* make_not(Arena& arena, const BoundExpression* argument);

}  // namespace pgsilo
