// array_agg, and the least and the greatest of arrays.
#include <algorithm>

#include "base/long_work.h"
#include "executor/functions/function.h"
#include "sql/sql_error.h"
#include "sql/types/array_parts.h"
#include "sql/types/type.h"

namespace pgsilo::functions {
namespace {

// Values in the group's memory, in a row that doubles.
struct Gathered {
  Datum* values;
  size_t count;
  size_t capacity;
  const TypeInfo* element;  // null: no row yet
};

void gather(EvalContext& context, Gathered& gathered, const Datum& value) {
  if (gathered.count == gathered.capacity) {
    size_t capacity = gathered.capacity == 0 ? 8 : 2 * gathered.capacity;
    Datum* values = context.arena->make_span<Datum>(capacity).data();
    std::copy_n(gathered.values, gathered.count, values);
    did_work(gathered.count * sizeof(Datum));
    gathered.values = values;
    gathered.capacity = capacity;
  }
  gathered.values[gathered.count++] = copy_datum(value, *gathered.element, *context.arena);
}

void gather_value(EvalContext& context, void* state, const Datum* a) {
  auto& gathered = *static_cast<Gathered*>(state);
  if (gathered.element == nullptr) gathered.element = &type_info(context.call->argument_types[0]);
  gather(context, gathered, a[0]);
}
Datum gathered_values(EvalContext& context, const void* state) {
  const auto& gathered = *static_cast<const Gathered*>(state);
  if (gathered.element == nullptr) return Datum();
  return make_array(*gathered.element, ArrayShape::of_vector(gathered.count),
                    {gathered.values, gathered.count}, *context.arena);
}

// Arrays of one shape become the parts of one with a dimension more.
struct GatheredArrays {
  Gathered elements;
  ArrayShape part;
  int32_t parts;
};

void gather_array(EvalContext& context, void* state, const Datum* a) {
  auto& gathered = *static_cast<GatheredArrays*>(state);
  if (a[0].null) throw SqlError(sqlstate::null_value_not_allowed, "cannot accumulate null arrays");
  ArrayReader reader(a[0]);
  if (gathered.parts == 0) {
    if (reader.shape().dimensions == 0)
      throw SqlError(sqlstate::array_subscript_error, "cannot accumulate empty arrays");
    static_cast<void>(shape_above(reader.shape(), 1));  // throws where it cannot be
    gathered.part = reader.shape();
    gathered.elements.element = &type_info(reader.element());
  } else if (!(reader.shape() == gathered.part)) {
    throw SqlError(sqlstate::array_subscript_error,
                   "cannot accumulate arrays of different dimensionality");
  }
  ++gathered.parts;
  WorkMeter meter;
  for (Datum value; reader.next(&value); meter.did(32)) gather(context, gathered.elements, value);
}
Datum gathered_arrays(EvalContext& context, const void* state) {
  const auto& gathered = *static_cast<const GatheredArrays*>(state);
  if (gathered.parts == 0) return Datum();
  ArrayShape shape = shape_above(gathered.part, static_cast<size_t>(gathered.parts));
  const Gathered& elements = gathered.elements;
  return make_array(*elements.element, shape, {elements.values, elements.count}, *context.arena);
}

struct Extreme {
  Datum value;
  const TypeInfo* type;  // null: no row yet
};
void require_order(const TypeInfo& type) {
  if (type.is_ordered()) return;
  throw SqlError(
      sqlstate::undefined_function,
      concat("could not identify a comparison function for type ", format_type(type.element)));
}
template <bool max>
void take_extreme(EvalContext& context, void* state, const Datum* a) {
  auto& extreme = *static_cast<Extreme*>(state);
  bool is_first = extreme.type == nullptr;
  if (is_first) extreme.type = &type_info(context.call->argument_types[0]);
  if (!is_first) {
    require_order(*extreme.type);
    int order = extreme.type->compare(a[0], extreme.value);
    if (max ? order <= 0 : order >= 0) return;
  }
  extreme.value = copy_datum(a[0], *extreme.type, *context.arena);
}
Datum extreme_value(EvalContext&, const void* state) {
  const auto& extreme = *static_cast<const Extreme*>(state);
  return extreme.type == nullptr ? Datum() : extreme.value;
}

constexpr AggregateFunction entries[] = {
    {2335, sizeof(Gathered), gather_value, gathered_values, false},
    {4053, sizeof(GatheredArrays), gather_array, gathered_arrays, false},
    {2050, sizeof(Extreme), take_extreme<true>, extreme_value, true},
    {2051, sizeof(Extreme), take_extreme<false>, extreme_value, true},
};

}  // namespace

std::span<const AggregateFunction> array_aggregates() { return entries; }

}  // namespace pgsilo::functions
