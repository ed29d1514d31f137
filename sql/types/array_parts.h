// Parts of arrays: slices, what becomes of an array when a part of it is assigned to, arrays one
// after the other. Thread safety: pure functions; results live in the arena or are an argument.
#pragma once

#include <cstdint>
#include <span>

#include "base/asking_allocator.h"
#include "sql/types/array.h"

namespace pgsilo {

// Of one dimension, both inclusive. A bound that is not written lies beyond every subscript.
struct SliceBounds {
  int64_t lower;
  int64_t upper;
};
inline constexpr int64_t omitted_lower_bound = INT64_MIN;
inline constexpr int64_t omitted_upper_bound = INT64_MAX;

AskingVector<Datum> array_elements(ArrayReader& reader);

// What of the array lies within the bounds, its subscripts counted from 1.
Datum array_slice(Datum array, std::span<const SliceBounds> bounds, Arena& arena);

// The array with `value` as the element that the subscripts name. One of one dimension grows to
// hold it, with nulls between. Throws 2202E where it does not fit.
Datum set_array_element(Datum array, std::span<const int32_t> subscripts, Datum value,
                        Arena& arena);
// The array with the elements of `source` within the bounds; the same rules.
Datum set_array_slice(Datum array, std::span<const SliceBounds> bounds, Datum source, Arena& arena);

// Two of the same dimensions one after the other, or one as a further element of the other's first
// dimension. Throws 2202E where they do not fit together.
Datum concatenate_arrays(Datum left, Datum right, Arena& arena);

// Arrays of one shape as the parts of one with a dimension more; an empty one of no arrays. Throws
// 22004 and 2202E where they are no such parts.
Datum array_of_arrays(const TypeInfo& element, std::span<const Datum> arrays, Arena& arena);

// The shape of `parts` arrays of that shape. Throws 54000 where it has too many dimensions.
ArrayShape shape_above(const ArrayShape& part, size_t parts);

}  // namespace pgsilo
