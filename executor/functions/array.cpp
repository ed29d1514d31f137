// Bounds and order of arrays.
#include "sql/types/array.h"

#include "executor/functions/function.h"
#include "sql/sql_error.h"
#include "sql/types/type.h"

namespace pgsilo::functions {
namespace {

// Null where there is no such dimension.
bool has_dimension(const ArrayShape& shape, int64_t dimension) {
  return dimension >= 1 && dimension <= shape.dimensions;
}
Datum lower_bound(EvalContext&, const Datum* a) {
  ArrayShape shape = ArrayReader(a[0]).shape();
  if (!has_dimension(shape, a[1].i64)) return Datum();
  return Datum::of_int(shape.lower_bounds[a[1].i64 - 1]);
}
Datum upper_bound(EvalContext&, const Datum* a) {
  ArrayShape shape = ArrayReader(a[0]).shape();
  if (!has_dimension(shape, a[1].i64)) return Datum();
  int64_t at = a[1].i64 - 1;
  return Datum::of_int(int64_t{shape.lower_bounds[at]} + shape.lengths[at] - 1);
}

Datum length(EvalContext&, const Datum* a) {
  ArrayShape shape = ArrayReader(a[0]).shape();
  if (!has_dimension(shape, a[1].i64)) return Datum();
  return Datum::of_int(shape.lengths[a[1].i64 - 1]);
}
Datum cardinality(EvalContext&, const Datum* a) { return Datum::of_int(ArrayReader(a[0]).count()); }
Datum dimensions(EvalContext&, const Datum* a) {
  int32_t dimensions = ArrayReader(a[0]).shape().dimensions;
  return dimensions != 0 ? Datum::of_int(dimensions) : Datum();
}

// Of arrays of one type.
const TypeInfo& array_of(const Datum& array) {
  return type_info(type_info(ArrayReader(array).element()).array);
}
bool are_equal(const Datum* a) {
  const TypeInfo& type = array_of(a[0]);
  if (type.has_equality()) return type.equal(a[0], a[1]);
  throw SqlError(
      sqlstate::undefined_function,
      concat("could not identify an equality operator for type ", format_type(type.element)));
}
int order_of(const Datum* a) {
  const TypeInfo& type = array_of(a[0]);
  if (type.is_ordered()) return type.compare(a[0], a[1]);
  throw SqlError(
      sqlstate::undefined_function,
      concat("could not identify a comparison function for type ", format_type(type.element)));
}
Datum equal(EvalContext&, const Datum* a) { return Datum::of_bool(are_equal(a)); }
Datum not_equal(EvalContext&, const Datum* a) { return Datum::of_bool(!are_equal(a)); }
Datum less(EvalContext&, const Datum* a) { return Datum::of_bool(order_of(a) < 0); }
Datum less_equal(EvalContext&, const Datum* a) { return Datum::of_bool(order_of(a) <= 0); }
Datum greater(EvalContext&, const Datum* a) { return Datum::of_bool(order_of(a) > 0); }
Datum greater_equal(EvalContext&, const Datum* a) { return Datum::of_bool(order_of(a) >= 0); }
Datum order(EvalContext&, const Datum* a) {
  int sign = order_of(a);
  return Datum::of_int(sign < 0 ? -1 : sign > 0 ? 1 : 0);
}

Datum larger(EvalContext&, const Datum* a) { return order_of(a) > 0 ? a[0] : a[1]; }
Datum smaller(EvalContext&, const Datum* a) { return order_of(a) < 0 ? a[0] : a[1]; }

constexpr FunctionEntry entries[] = {
    {2091, lower_bound}, {2092, upper_bound}, {2176, length},       {3179, cardinality},
    {748, dimensions},   {744, equal},        {390, not_equal},     {391, less},
    {393, less_equal},   {392, greater},      {396, greater_equal}, {382, order},
    {515, larger},       {516, smaller},
};

}  // namespace

std::span<const FunctionEntry> array() { return entries; }

}  // namespace pgsilo::functions
