// Elements of arrays that are looked for: where they are, arrays without them or with others in
// their place, what arrays have in common.
#include <algorithm>

#include "base/long_work.h"
#include "executor/functions/function.h"
#include "sql/sql_error.h"
#include "sql/types/array_parts.h"
#include "sql/types/type.h"

namespace pgsilo::functions {
namespace {

constexpr size_t comparison_work = 64;

const TypeInfo& compared_element(const ArrayReader& reader) {
  const TypeInfo& type = type_info(reader.element());
  if (type.has_equality()) return type;
  throw SqlError(
      sqlstate::undefined_function,
      concat("could not identify an equality operator for type ", format_type(reader.element())));
}

// NULL is found where NULL is looked for.
bool is_found(const TypeInfo& type, const Datum& value, const Datum& wanted) {
  if (value.null || wanted.null) return value.null && wanted.null;
  return type.equal(value, wanted);
}

ArrayReader searched(const Datum& array) {
  ArrayReader reader(array);
  if (reader.shape().dimensions <= 1) return reader;
  throw SqlError(sqlstate::feature_not_supported,
                 "searching for elements in multidimensional arrays is not supported");
}

bool has_null(const Datum& array) {
  ArrayReader reader(array);
  WorkMeter meter;
  for (Datum value; reader.next(&value); meter.did(comparison_work)) {
    if (value.null) return true;
  }
  return false;
}

Datum position(EvalContext& context, const Datum* a) {
  if (a[0].null) return Datum();
  ArrayReader reader = searched(a[0]);
  if (reader.shape().dimensions == 0) return Datum();
  if (a[1].null && !has_null(a[0])) return Datum();
  int64_t at = reader.lower_bound();
  int64_t begin = at;
  if (context.call->argument_types.size() == 3) {
    if (a[2].null)
      throw SqlError(sqlstate::null_value_not_allowed, "initial position must not be null");
    begin = a[2].i64;
  }
  const TypeInfo& type = compared_element(reader);
  WorkMeter meter;
  for (Datum value; reader.next(&value); ++at, meter.did(comparison_work)) {
    if (at >= begin && is_found(type, value, a[1])) return Datum::of_int(at);
  }
  return Datum();
}

Datum positions(EvalContext& context, const Datum* a) {
  if (a[0].null) return Datum();
  ArrayReader reader = searched(a[0]);
  AskingVector<Datum> found;
  if (reader.shape().dimensions != 0) {
    const TypeInfo& type = compared_element(reader);
    int64_t at = reader.lower_bound();
    WorkMeter meter;
    for (Datum value; reader.next(&value); ++at, meter.did(comparison_work)) {
      if (is_found(type, value, a[1])) found.push_back(Datum::of_int(at));
    }
  }
  return make_array(type_oid::int4, found, *context.arena);
}

// The array without what is looked for, or with `replacement` for it.
Datum without(EvalContext& context, const Datum* a, const Datum* replacement) {
  if (a[0].null) return Datum();
  ArrayReader reader(a[0]);
  if (reader.count() == 0) return a[0];
  if (replacement == nullptr && reader.shape().dimensions > 1) {
    throw SqlError(sqlstate::feature_not_supported,
                   "removing elements from multidimensional arrays is not supported");
  }
  const TypeInfo& type = compared_element(reader);
  AskingVector<Datum> values;
  bool changes = false;
  WorkMeter meter;
  for (Datum value; reader.next(&value); meter.did(comparison_work)) {
    bool is_wanted = is_found(type, value, a[1]);
    changes |= is_wanted;
    if (!is_wanted) values.push_back(value);
    if (is_wanted && replacement != nullptr) values.push_back(*replacement);
  }
  if (!changes) return a[0];
  ArrayShape shape = reader.shape();
  if (values.empty()) shape = ArrayShape();
  if (replacement == nullptr) shape.lengths[0] = static_cast<int32_t>(values.size());
  return make_array(type, shape, values, *context.arena);
}
Datum remove(EvalContext& context, const Datum* a) { return without(context, a, nullptr); }
Datum replace(EvalContext& context, const Datum* a) { return without(context, a, a + 2); }

// Whether `array` has the value; never NULL.
bool has(const TypeInfo& type, std::span<const Datum> values, const Datum& wanted,
         WorkMeter& meter) {
  return std::any_of(values.begin(), values.end(), [&](const Datum& value) {
    meter.did(comparison_work);
    return !value.null && type.equal(value, wanted);
  });
}

// Whether all, or any, of the elements of `parts` are in `whole`.
bool are_in(const Datum& parts, const Datum& whole, bool all) {
  ArrayReader wanted(parts);
  ArrayReader reader(whole);
  const TypeInfo& type = compared_element(wanted);
  AskingVector<Datum> values = array_elements(reader);
  WorkMeter meter;
  for (Datum value; wanted.next(&value);) {
    bool is_there = !value.null && has(type, values, value, meter);
    if (is_there != all) return is_there;
  }
  return all;
}
Datum contains(EvalContext&, const Datum* a) { return Datum::of_bool(are_in(a[1], a[0], true)); }
Datum contained(EvalContext&, const Datum* a) { return Datum::of_bool(are_in(a[0], a[1], true)); }
Datum overlap(EvalContext&, const Datum* a) { return Datum::of_bool(are_in(a[0], a[1], false)); }

constexpr FunctionEntry entries[] = {
    {3277, position}, {3278, position}, {3279, positions}, {3167, remove},
    {3168, replace},  {2748, contains}, {2749, contained}, {2747, overlap},
};

}  // namespace

std::span<const FunctionEntry> array_search() { return entries; }

}  // namespace pgsilo::functions
