#include "sql/types/array_parts.h"

#include <algorithm>

#include "base/arena.h"
#include "base/long_work.h"
#include "sql/sql_error.h"
#include "sql/types/type.h"

namespace pgsilo {

namespace {

constexpr size_t element_work = 32;

int64_t end_of(const ArrayShape& shape, size_t dimension) {
  return int64_t{shape.lower_bounds[dimension]} + shape.lengths[dimension] - 1;
}

[[noreturn]] void throw_misfit(std::string message) {
  throw SqlError(sqlstate::array_subscript_error, std::move(message));
}

[[noreturn]] void throw_too_large() {
  throw SqlError(
      sqlstate::program_limit_exceeded,
      concat("array size exceeds the maximum allowed (", limits::max_array_elements, ")"));
}

// Calls visit(position) for each element of a part in the order in which they lie; the part's
// bounds are within the array's.
template <typename Visit>
void visit_part(const ArrayShape& shape, std::span<const SliceBounds> part, Visit visit) {
  const size_t dimensions = part.size();
  int64_t at[limits::max_array_dimensions];
  for (size_t i = 0; i < dimensions; ++i) at[i] = part[i].lower;
  WorkMeter meter;
  while (true) {
    uint32_t position = 0;
    for (size_t i = 0; i < dimensions; ++i) {
      position = position * static_cast<uint32_t>(shape.lengths[i]) +
                 static_cast<uint32_t>(at[i] - shape.lower_bounds[i]);
    }
    visit(position);
    meter.did(element_work);
    size_t moved = dimensions;
    while (moved > 0 && ++at[moved - 1] > part[moved - 1].upper) {
      at[moved - 1] = part[moved - 1].lower;
      --moved;
    }
    if (moved == 0) return;
  }
}

// The whole of the dimensions that are not named.
AskingVector<SliceBounds> with_all_dimensions(const ArrayShape& shape,
                                              std::span<const SliceBounds> bounds) {
  AskingVector<SliceBounds> all(bounds.begin(), bounds.end());
  for (size_t i = all.size(); i < static_cast<size_t>(shape.dimensions); ++i)
    all.push_back({shape.lower_bounds[i], end_of(shape, i)});
  return all;
}

ArrayShape shape_of(std::span<const SliceBounds> part) {
  ArrayShape shape;
  shape.dimensions = static_cast<int32_t>(part.size());
  for (size_t i = 0; i < part.size(); ++i) {
    shape.lengths[i] = static_cast<int32_t>(part[i].upper - part[i].lower + 1);
    shape.lower_bounds[i] = 1;
  }
  return shape;
}

// The array with its one dimension as long as it must be to have all of `bounds` in it.
void grow(ArrayShape& shape, AskingVector<Datum>& values, SliceBounds bounds) {
  int64_t before = std::max<int64_t>(int64_t{shape.lower_bounds[0]} - bounds.lower, 0);
  int64_t after = std::max<int64_t>(bounds.upper - end_of(shape, 0), 0);
  if (before == 0 && after == 0) return;
  int64_t length = shape.lengths[0] + before + after;
  if (length > static_cast<int64_t>(limits::max_array_elements)) throw_too_large();
  shape.lengths[0] = static_cast<int32_t>(length);
  shape.lower_bounds[0] -= static_cast<int32_t>(before);
  shape.check_bounds();
  AskingVector<Datum> grown(static_cast<size_t>(length));
  std::copy(values.begin(), values.end(), grown.begin() + before);
  values.swap(grown);
}

void check_within(const ArrayShape& shape, std::span<const SliceBounds> part) {
  for (size_t i = 0; i < part.size(); ++i) {
    if (part[i].lower < shape.lower_bounds[i] || part[i].upper > end_of(shape, i))
      throw_misfit("array subscript out of range");
  }
}

// Of an array that has no elements yet: the bounds are its own.
Datum slice_as_array(std::span<const SliceBounds> bounds, Datum source, Arena& arena) {
  ArrayReader reader(source);
  AskingVector<Datum> values = array_elements(reader);
  ArrayShape shape;
  shape.dimensions = static_cast<int32_t>(bounds.size());
  for (size_t i = 0; i < bounds.size(); ++i) {
    auto [lower, upper] = bounds[i];
    if (lower == omitted_lower_bound || upper == omitted_upper_bound) {
      throw SqlError(sqlstate::array_subscript_error,
                     "array slice subscript must provide both boundaries")
          .detail(
              "When assigning to a slice of an empty array value, slice boundaries must be fully "
              "specified.");
    }
    int64_t length = upper - lower + 1;
    if (length > INT32_MAX || length < INT32_MIN) throw_too_large();
    shape.lengths[i] = static_cast<int32_t>(length);
    shape.lower_bounds[i] = static_cast<int32_t>(lower);
  }
  size_t count = shape.count();
  if (values.size() < count) throw_misfit("source array too small");
  shape.check_bounds();
  if (count == 0) shape = ArrayShape();
  values.resize(count);
  return make_array(type_info(reader.element()), shape, values, arena);
}

// Bounds that are not written are the array's.
AskingVector<SliceBounds> resolve_bounds(const ArrayShape& shape,
                                         std::span<const SliceBounds> bounds) {
  AskingVector<SliceBounds> part = with_all_dimensions(shape, bounds);
  for (size_t i = 0; i < part.size(); ++i) {
    if (part[i].lower == omitted_lower_bound) part[i].lower = shape.lower_bounds[i];
    if (part[i].upper == omitted_upper_bound) part[i].upper = end_of(shape, i);
    if (part[i].lower > part[i].upper) throw_misfit("upper bound cannot be less than lower bound");
    if (shape.dimensions > 1) check_within(shape, std::span(part).first(i + 1));
  }
  return part;
}

}  // namespace

AskingVector<Datum> array_elements(ArrayReader& reader) {
  AskingVector<Datum> values;
  values.reserve(reader.count());
  WorkMeter meter;
  for (Datum value; reader.next(&value); meter.did(element_work)) values.push_back(value);
  return values;
}

Datum array_slice(Datum array, std::span<const SliceBounds> bounds, Arena& arena) {
  ArrayReader reader(array);
  const ArrayShape& shape = reader.shape();
  const TypeInfo& element = type_info(reader.element());
  auto nothing = [&] { return make_array(element, ArrayShape(), {}, arena); };
  if (static_cast<size_t>(shape.dimensions) < bounds.size()) return nothing();
  AskingVector<SliceBounds> part = with_all_dimensions(shape, bounds);
  for (size_t i = 0; i < part.size(); ++i) {
    part[i].lower = std::max<int64_t>(part[i].lower, shape.lower_bounds[i]);
    part[i].upper = std::min(part[i].upper, end_of(shape, i));
    if (part[i].lower > part[i].upper) return nothing();
  }
  AskingVector<Datum> values;
  visit_part(shape, part, [&](uint32_t position) { append(values, reader.at(position)); });
  return make_array(element, shape_of(part), values, arena);
}

Datum set_array_element(Datum array, std::span<const int32_t> subscripts, Datum value,
                        Arena& arena) {
  ArrayReader reader(array);
  const TypeInfo& element = type_info(reader.element());
  ArrayShape shape = reader.shape();
  if (shape.dimensions == 0) {
    shape.dimensions = static_cast<int32_t>(subscripts.size());
    std::fill_n(shape.lengths, subscripts.size(), 1);
    std::copy(subscripts.begin(), subscripts.end(), shape.lower_bounds);
    shape.check_bounds();
    return make_array(element, shape, {&value, 1}, arena);
  }
  if (static_cast<size_t>(shape.dimensions) != subscripts.size())
    throw_misfit("wrong number of array subscripts");
  AskingVector<SliceBounds> part;
  for (int32_t subscript : subscripts) part.push_back({subscript, subscript});
  AskingVector<Datum> values = array_elements(reader);
  if (shape.dimensions == 1) grow(shape, values, part[0]);
  check_within(shape, part);
  visit_part(shape, part, [&](uint32_t position) { values[position] = value; });
  return make_array(element, shape, values, arena);
}

Datum set_array_slice(Datum array, std::span<const SliceBounds> bounds, Datum source,
                      Arena& arena) {
  ArrayReader reader(array);
  ArrayShape shape = reader.shape();
  if (shape.dimensions == 0) return slice_as_array(bounds, source, arena);
  if (static_cast<size_t>(shape.dimensions) < bounds.size())
    throw_misfit("wrong number of array subscripts");
  AskingVector<SliceBounds> part = resolve_bounds(shape, bounds);
  AskingVector<Datum> values = array_elements(reader);
  if (shape.dimensions == 1) grow(shape, values, part[0]);
  ArrayReader from(source);
  if (shape_of(part).count() > from.count()) throw_misfit("source array too small");
  visit_part(shape, part, [&](uint32_t position) { from.next(&values[position]); });
  return make_array(type_info(reader.element()), shape, values, arena);
}

namespace {

[[noreturn]] void throw_incompatible(std::string detail) {
  throw SqlError(sqlstate::array_subscript_error, "cannot concatenate incompatible arrays")
      .detail(std::move(detail));
}

// Whether both have the same dimensions, those of `outer` from its second on where it has one more.
bool fits_into(const ArrayShape& inner, int32_t from, const ArrayShape& outer) {
  int32_t beyond = outer.dimensions - inner.dimensions;
  for (int32_t i = from; i < inner.dimensions; ++i) {
    if (inner.lengths[i] != outer.lengths[i + beyond] ||
        inner.lower_bounds[i] != outer.lower_bounds[i + beyond]) {
      return false;
    }
  }
  return true;
}

ArrayShape joined_shape(const ArrayShape& left, const ArrayShape& right) {
  int32_t difference = left.dimensions - right.dimensions;
  if (difference < -1 || difference > 1) {
    throw_incompatible(concat("Arrays of ", left.dimensions, " and ", right.dimensions,
                              " dimensions are not compatible for concatenation."));
  }
  ArrayShape shape = difference >= 0 ? left : right;
  const ArrayShape& other = difference >= 0 ? right : left;
  if (!fits_into(other, difference == 0 ? 1 : 0, shape)) {
    throw_incompatible(concat("Arrays with differing ", difference == 0 ? "element " : "",
                              "dimensions are not compatible for concatenation."));
  }
  int64_t length = int64_t{shape.lengths[0]} + (difference == 0 ? other.lengths[0] : 1);
  shape.lengths[0] = static_cast<int32_t>(std::min<int64_t>(length, INT32_MAX));
  static_cast<void>(shape.count());  // throws if they are too many
  shape.check_bounds();
  return shape;
}

}  // namespace

Datum concatenate_arrays(Datum left, Datum right, Arena& arena) {
  ArrayReader first(left);
  ArrayReader second(right);
  if (first.shape().dimensions == 0 && second.shape().dimensions != 0) return right;
  if (second.shape().dimensions == 0) return left;
  ArrayShape shape = joined_shape(first.shape(), second.shape());
  AskingVector<Datum> values = array_elements(first);
  AskingVector<Datum> others = array_elements(second);
  values.insert(values.end(), others.begin(), others.end());
  return make_array(type_info(first.element()), shape, values, arena);
}

ArrayShape shape_above(const ArrayShape& part, size_t parts) {
  if (part.dimensions == limits::max_array_dimensions) {
    throw SqlError(sqlstate::program_limit_exceeded,
                   concat("number of array dimensions (", part.dimensions + 1,
                          ") exceeds the maximum allowed (", limits::max_array_dimensions, ")"));
  }
  ArrayShape shape;
  shape.dimensions = part.dimensions + 1;
  shape.lengths[0] = static_cast<int32_t>(parts);
  shape.lower_bounds[0] = 1;
  std::copy_n(part.lengths, part.dimensions, shape.lengths + 1);
  std::copy_n(part.lower_bounds, part.dimensions, shape.lower_bounds + 1);
  static_cast<void>(shape.count());  // throws if they are too many
  shape.check_bounds();
  return shape;
}

Datum array_of_arrays(const TypeInfo& element, std::span<const Datum> arrays, Arena& arena) {
  ArrayShape first;
  AskingVector<Datum> values;
  WorkMeter meter;
  for (const Datum& array : arrays) {
    if (array.null)
      throw SqlError(sqlstate::null_value_not_allowed, "cannot accumulate null arrays");
    ArrayReader reader(array);
    if (reader.shape().dimensions == 0) throw_misfit("cannot accumulate empty arrays");
    if (first.dimensions == 0) first = reader.shape();
    if (!(reader.shape() == first))
      throw_misfit("cannot accumulate arrays of different dimensionality");
    for (Datum value; reader.next(&value); meter.did(element_work)) append(values, value);
  }
  ArrayShape shape = arrays.empty() ? ArrayShape() : shape_above(first, arrays.size());
  return make_array(element, shape, values, arena);
}

}  // namespace pgsilo
