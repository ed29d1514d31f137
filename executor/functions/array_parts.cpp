// Parts of arrays, what becomes of arrays when parts are assigned to or added, and arrays of one
// value.
#include "sql/types/array_parts.h"

#include <algorithm>
#include <vector>

#include "base/byte_buffer.h"
#include "base/long_work.h"
#include "catalog/builtin/builtin.h"
#include "executor/functions/function.h"
#include "sql/sql_error.h"
#include "sql/types/type.h"

namespace pgsilo::functions {
namespace {

size_t argument_count(const EvalContext& context) { return context.call->argument_types.size(); }

const TypeInfo& element_of(Oid array) { return element_type(type_info(array)); }

// What an array that is NULL is taken for by what adds to it.
Datum or_empty(EvalContext& context, const Datum& array, size_t argument) {
  if (!array.null) return array;
  return make_array(element_of(context.call->argument_types[argument]), ArrayShape(), {},
                    *context.arena);
}

std::vector<int32_t> subscripts(const Datum* a, size_t count) {
  std::vector<int32_t> found;
  found.reserve(count);
  for (size_t i = 0; i < count; ++i) found.push_back(static_cast<int32_t>(a[i].i64));
  return found;
}

// The upper bounds of all dimensions come before the lower ones: so PostgreSQL evaluates them.
std::vector<SliceBounds> bounds(const Datum* a, size_t count) {
  std::vector<SliceBounds> found;
  found.reserve(count);
  for (size_t i = 0; i < count; ++i) found.push_back({a[count + i].i64, a[i].i64});
  return found;
}

// A name's bytes, counted from 0; behind its end they are zero.
Datum byte_of_name(const Datum* a, size_t count) {
  constexpr int64_t length = 64;
  if (count != 1 || a[1].i64 < 0 || a[1].i64 >= length) return Datum();
  bool is_behind = a[1].i64 >= a[0].length;
  return Datum::of_int(is_behind ? 0 : static_cast<uint8_t>(a[0].ptr[a[1].i64]));
}

bool is_name(const EvalContext& context) {
  return context.call->argument_types[0] == type_oid::name;
}

Datum element(EvalContext& context, const Datum* a) {
  size_t count = argument_count(context) - 1;
  if (is_name(context)) return byte_of_name(a, count);
  if (count == 1) return array_element(a[0], a[1].i64);
  return array_element(a[0], subscripts(a + 1, count));
}
Datum slice(EvalContext& context, const Datum* a) {
  if (is_name(context))
    throw SqlError(sqlstate::feature_not_supported,
                   "slices of fixed-length arrays not implemented");
  size_t count = (argument_count(context) - 1) / 2;
  return array_slice(a[0], bounds(a + 1, count), *context.arena);
}

void require_subscripts(const Datum* first, size_t count) {
  bool has_null = std::any_of(first, first + count, [](const Datum& each) { return each.null; });
  if (!has_null) return;
  throw SqlError(sqlstate::null_value_not_allowed,
                 "array subscript in assignment must not be null");
}
// Array, subscripts, value.
Datum set_element(EvalContext& context, const Datum* a) {
  size_t count = argument_count(context) - 2;
  require_subscripts(a + 1, count);
  return set_array_element(or_empty(context, a[0], 0), subscripts(a + 1, count), a[count + 1],
                           *context.arena);
}
Datum set_slice(EvalContext& context, const Datum* a) {
  size_t count = (argument_count(context) - 2) / 2;
  require_subscripts(a + 1, 2 * count);
  Datum array = or_empty(context, a[0], 0);
  const Datum& source = a[2 * count + 1];
  if (source.null) return array;
  return set_array_slice(array, bounds(a + 1, count), source, *context.arena);
}

// ---- one element more

int32_t subscript_of_new(const ArrayShape& shape, bool at_end) {
  if (shape.dimensions > 1) {
    throw SqlError(sqlstate::data_exception, "argument must be empty or one-dimensional array");
  }
  if (shape.dimensions == 0) return 1;
  int64_t subscript = int64_t{shape.lower_bounds[0]} + (at_end ? shape.lengths[0] : -1);
  if (subscript < INT32_MIN || subscript > INT32_MAX)
    throw SqlError(sqlstate::numeric_value_out_of_range, "integer out of range");
  return static_cast<int32_t>(subscript);
}
Datum append(EvalContext& context, const Datum* a) {
  Datum array = or_empty(context, a[0], 0);
  int32_t subscript = subscript_of_new(ArrayReader(array).shape(), true);
  return set_array_element(array, {&subscript, 1}, a[1], *context.arena);
}
// Its first subscript stays what it was.
Datum prepend(EvalContext& context, const Datum* a) {
  Datum array = or_empty(context, a[1], 1);
  ArrayReader reader(array);
  static_cast<void>(subscript_of_new(reader.shape(), false));
  AskingVector<Datum> values = {a[0]};
  AskingVector<Datum> others = array_elements(reader);
  values.insert(values.end(), others.begin(), others.end());
  ArrayShape shape = ArrayShape::of_vector(values.size(), reader.lower_bound());
  return make_array(type_info(reader.element()), shape, values, *context.arena);
}
Datum concatenate(EvalContext& context, const Datum* a) {
  if (a[0].null || a[1].null) return a[0].null ? a[1] : a[0];
  return concatenate_arrays(a[0], a[1], *context.arena);
}

Datum trim(EvalContext& context, const Datum* a) {
  ArrayReader reader(a[0]);
  const ArrayShape& shape = reader.shape();
  int64_t length = shape.dimensions == 0 ? 0 : shape.lengths[0];
  if (a[1].i64 < 0 || a[1].i64 > length) {
    throw SqlError(sqlstate::array_element_error,
                   concat("number of elements to trim must be between 0 and ", length));
  }
  SliceBounds kept{omitted_lower_bound, reader.lower_bound() + length - a[1].i64 - 1};
  return array_slice(a[0], {&kept, 1}, *context.arena);
}

Datum dimensions_text(EvalContext& context, const Datum* a) {
  ArrayShape shape = ArrayReader(a[0]).shape();
  if (shape.dimensions == 0) return Datum();
  ByteBuffer text;
  for (int32_t i = 0; i < shape.dimensions; ++i) {
    text.append(concat("[", shape.lower_bounds[i], ":",
                       int64_t{shape.lower_bounds[i]} + shape.lengths[i] - 1, "]"));
  }
  return Datum::of_bytes(context.arena->copy_string(text.view()));
}

// ---- array_fill

// The numbers of an array that says something of each dimension.
std::vector<int32_t> per_dimension(const Datum& array) {
  ArrayReader reader(array);
  if (reader.shape().dimensions > 1) {
    throw SqlError(sqlstate::array_subscript_error, "wrong number of array subscripts")
        .detail("Dimension array must be one dimensional.");
  }
  std::vector<int32_t> numbers;
  for (Datum value; reader.next(&value);) {
    if (value.null)
      throw SqlError(sqlstate::null_value_not_allowed, "dimension values cannot be null");
    numbers.push_back(static_cast<int32_t>(value.i64));
  }
  return numbers;
}

ArrayShape filled_shape(const Datum* a, bool has_bounds) {
  if (a[1].null || (has_bounds && a[2].null)) {
    throw SqlError(sqlstate::null_value_not_allowed,
                   "dimension array or low bound array cannot be null");
  }
  std::vector<int32_t> lengths = per_dimension(a[1]);
  if (lengths.size() > limits::max_array_dimensions) {
    throw SqlError(sqlstate::program_limit_exceeded,
                   concat("number of array dimensions (", lengths.size(),
                          ") exceeds the maximum allowed (", limits::max_array_dimensions, ")"));
  }
  std::vector<int32_t> lower_bounds(lengths.size(), 1);
  if (has_bounds) lower_bounds = per_dimension(a[2]);
  if (lower_bounds.size() != lengths.size()) {
    throw SqlError(sqlstate::array_subscript_error, "wrong number of array subscripts")
        .detail("Low bound array has different size than dimensions array.");
  }
  ArrayShape shape;
  shape.dimensions = static_cast<int32_t>(lengths.size());
  std::copy(lengths.begin(), lengths.end(), shape.lengths);
  std::copy(lower_bounds.begin(), lower_bounds.end(), shape.lower_bounds);
  return shape;
}

template <bool has_bounds>
Datum fill(EvalContext& context, const Datum* a) {
  ArrayShape shape = filled_shape(a, has_bounds);
  size_t count = shape.count();
  shape.check_bounds();
  if (count == 0) shape = ArrayShape();
  const TypeInfo& element = type_info(context.call->argument_types[0]);
  AskingVector<Datum> values(count, a[0]);
  did_work(count * 32);
  return make_array(element, shape, values, *context.arena);
}

constexpr FunctionEntry entries[] = {
    {array_element_procedure, element},
    {array_slice_procedure, slice},
    {set_array_element_procedure, set_element},
    {set_array_slice_procedure, set_slice},
    {378, append},
    {379, prepend},
    {383, concatenate},
    {747, dimensions_text},
    {1193, fill<false>},
    {1286, fill<true>},
    {6172, trim},
};

}  // namespace

std::span<const FunctionEntry> array_parts() { return entries; }

}  // namespace pgsilo::functions
