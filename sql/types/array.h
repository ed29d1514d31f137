// Arrays of up to six dimensions. As a Datum, packed, little-endian and unaligned (a storage
// format):
//   uint32  element type
//   uint32  bit 31 set; bits 0..7 the number of dimensions, bit 8: elements may be null, bits
//           16..23 the elements' StoredForm, bits 24..30 their width
//   per dimension int32 length, int32 lower bound
//   bitmap  if elements may be null: one bit each, set = null
//   of fixed width: the elements, one after the other, nulls too
//   else    uint32 per element: its end, counted from the start of the first; then their bytes
// An array without elements has no dimensions; int2vector and oidvector have one of length 0 then.
//
// Before there were dimensions, arrays were kept otherwise, and are still read: uint32 element
// type, uint32 count, int32 lower bound, then per element uint32 length (FFFFFFFF: null) and its
// bytes; an element that is by value takes 8 bytes, its i64 or f64.
// Thread safety: pure functions; an ArrayReader has one user.
#pragma once

#include <cstdint>
#include <span>

#include "sql/limits.h"
#include "sql/types/datum.h"
#include "sql/types/stored_form.h"
#include "sql/types/type_oid.h"

namespace pgsilo {

class Arena;
struct TypeInfo;

struct ArrayShape {
  int32_t dimensions = 0;
  int32_t lengths[limits::max_array_dimensions] = {};
  int32_t lower_bounds[limits::max_array_dimensions] = {};

  // One dimension; none when that is empty and does not begin at 0, as vectors do.
  static ArrayShape of_vector(size_t count, int32_t lower_bound = 1);
  // Throws 54000 if that many elements are no array.
  size_t count() const;
  // Throws 54000 if a subscript would not be an int4, nor the one behind the last.
  void check_bounds() const;
  bool operator==(const ArrayShape& other) const;
};

// values.size() == shape.count()
Datum make_array(const TypeInfo& element, const ArrayShape& shape, std::span<const Datum> values,
                 Arena& arena);
// Of one dimension, of a built-in type.
Datum make_array(Oid element, std::span<const Datum> values, Arena& arena, int32_t lower_bound = 1);

// The same elements as those of a type of the same form in memory.
Datum relabel_array(Datum array, Oid element, Arena& arena);

// Walks an array from its first element, in the order in which they are written.
class ArrayReader {
 public:
  explicit ArrayReader(Datum array);
  Oid element() const { return element_; }
  uint32_t count() const { return count_; }
  const ArrayShape& shape() const { return shape_; }
  // Of the first dimension.
  int32_t lower_bound() const { return shape_.dimensions == 0 ? 1 : shape_.lower_bounds[0]; }
  // The next element; false at the end. By-reference elements point into the array.
  bool next(Datum* value);
  // The element at a position below count(), counted from 0; next() goes on behind it.
  Datum at(uint32_t position);

 private:
  void read_shape(const char* array, uint32_t word);
  void read_old_shape(const char* array);
  void next_old(Datum* value);

  Oid element_;
  uint32_t count_ = 0;
  uint32_t read_ = 0;
  StoredForm form_ = StoredForm::variable;
  uint8_t width_ = 0;
  bool is_old_ = false;
  const char* nulls_ = nullptr;  // null: there are none
  const char* ends_ = nullptr;   // of variable width
  const char* elements_ = nullptr;
  const char* at_ = nullptr;  // old form: the next element
  ArrayShape shape_;
};

// array[subscript]...; null outside the bounds, and where there are more or fewer dimensions.
Datum array_element(Datum array, std::span<const int32_t> subscripts);
Datum array_element(Datum array, int64_t subscript);

}  // namespace pgsilo
