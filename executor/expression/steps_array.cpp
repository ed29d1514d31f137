// Steps on arrays: made of values, compared with, cast.
#include <algorithm>
#include <optional>

#include "base/asking_allocator.h"
#include "base/long_work.h"
#include "executor/expression/steps.h"
#include "sql/limits.h"
#include "sql/sql_error.h"
#include "sql/types/array_parts.h"

namespace pgsilo::steps {

const Step* compare_with_array(const Step* step, Datum* registers, RowContext& context) {
  const auto& data = *static_cast<const ArrayComparisonData*>(step->data);
  Datum& result = registers[step->result];
  Datum arguments[2] = {registers[step->a], Datum()};
  const Datum array = registers[step->b];
  result = Datum();
  if (array.null) return step + 1;
  bool seen_null = false;
  ArrayReader reader(array);
  WorkMeter meter;
  while (reader.next(&arguments[1])) {
    meter.did(64);
    Datum outcome;
    if (!data.strict || (!arguments[0].null && !arguments[1].null)) {
      outcome = invoke(data.comparison, context, arguments);
    }
    if (outcome.null) {
      seen_null = true;
    } else if (outcome.as_bool() != data.is_all) {
      result = Datum::of_bool(!data.is_all);
      return step + 1;
    }
  }
  if (!seen_null) result = Datum::of_bool(data.is_all);
  return step + 1;
}

const Step* make_array(const Step* step, Datum* registers, RowContext& context) {
  const auto& element = *static_cast<const TypeInfo*>(step->data);
  registers[step->result] =
      pgsilo::make_array(element, ArrayShape::of_vector(static_cast<size_t>(step->c)),
                         {registers + step->a, static_cast<size_t>(step->c)}, *context.arena);
  return step + 1;
}

namespace {

// Throws where an array is not of the shape that those before it have; `parts` counts them.
void require_same_shape(const ArrayShape& shape, const ArrayShape& first) {
  if (shape == first) return;
  throw SqlError(sqlstate::array_subscript_error,
                 "multidimensional arrays must have array expressions with matching dimensions");
}

}  // namespace

const Step* join_arrays(const Step* step, Datum* registers, RowContext& context) {
  const auto& element = *static_cast<const TypeInfo*>(step->data);
  // Nulls and arrays without elements are no parts, but there may be no others beside them then.
  std::optional<ArrayShape> first;
  AskingVector<Datum> values;
  WorkMeter meter;
  for (int32_t i = 0; i < step->c; ++i) {
    const Datum& part = registers[step->a + i];
    ArrayShape shape = part.null ? ArrayShape() : ArrayReader(part).shape();
    if (!first) first = shape;
    require_same_shape(shape, *first);
    if (shape.dimensions == 0) continue;
    ArrayReader reader(part);
    Datum value;
    for (; reader.next(&value); meter.did(32)) values.push_back(value);
  }
  bool is_empty = first->dimensions == 0;
  ArrayShape shape = is_empty ? ArrayShape() : shape_above(*first, static_cast<size_t>(step->c));
  registers[step->result] = pgsilo::make_array(element, shape, values, *context.arena);
  return step + 1;
}

namespace {
Datum convert_to_base(const ArrayCoercion& coercion, Datum value, RowContext& context) {
  if (coercion.call != nullptr) {
    if (value.null && coercion.strict) return value;
    // Some cast functions also want a modifier and whether the cast is explicit.
    const Datum arguments[] = {value, Datum::of_int(no_typmod),
                               Datum::of_bool(coercion.is_explicit)};
    value = invoke(*coercion.call, context, arguments);
  } else if (coercion.conversion.from != nullptr && !value.null) {
    value = through_text(coercion.conversion, value, context);
  }
  if (value.null) return value;
  if (coercion.target->key_form == KeyForm::uint32)
    return Datum::of_int(static_cast<uint32_t>(value.i64));
  if (coercion.target->key_form == KeyForm::int32)
    return Datum::of_int(static_cast<int32_t>(value.i64));
  return value;
}

Datum convert_element(const ArrayCoercion& coercion, Datum value, RowContext& context) {
  value = convert_to_base(coercion, value, context);
  const TypeInfo& target = *coercion.target;
  if (!is_domain(target)) return value;
  if (!value.null && target.base_typmod >= 0 && target.base->has_typmods()) {
    value =
        target.base->apply_typmod(value, target.base_typmod, coercion.is_explicit, *context.types);
  }
  check_domain(target, value, *context.types);
  return value;
}
}  // namespace

const Step* convert_elements(const Step* step, Datum* registers, RowContext& context) {
  const auto& coercion = *static_cast<const ArrayCoercion*>(step->data);
  const Datum& array = registers[step->a];
  if (array.null) {
    registers[step->result] = Datum();
    return step + 1;
  }
  if (coercion.relabels) {
    registers[step->result] = relabel_array(array, coercion.target->oid, *context.arena);
    return step + 1;
  }
  ArrayReader reader(array);
  AskingVector<Datum> values;
  values.reserve(reader.count());
  Datum value;
  WorkMeter meter;
  while (reader.next(&value)) {
    meter.did(128);
    values.push_back(convert_element(coercion, value, context));
  }
  // A vector without elements has a dimension, an array of its elements none.
  ArrayShape shape = values.empty() ? ArrayShape() : reader.shape();
  registers[step->result] = pgsilo::make_array(*coercion.target, shape, values, *context.arena);
  return step + 1;
}

}  // namespace pgsilo::steps
