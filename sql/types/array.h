// Arrays of one dimension (or none): what catalog tables and parameters need. More dimensions are
// 0A000. As a Datum, packed and unaligned, little-endian:
//   uint32 element type, uint32 count, int32 lower bound, then per element uint32 length (FFFFFFFF:
//   null) and its bytes; an element that is by value takes 8 bytes, its i64 or f64.
// int2vector and oidvector have the same form with lower bound 0.
// Thread safety: pure functions; an ArrayReader has one user.
#pragma once

#include <cstdint>
#include <span>

#include "sql/types/datum.h"
#include "sql/types/type_oid.h"

namespace pgsilo {

class Arena;

Datum make_array(Oid element, std::span<const Datum> values, Arena& arena, int32_t lower_bound = 1);

// The same elements as those of a type of the same form in memory.
Datum relabel_array(Datum array, Oid element, Arena& arena);

// Walks an array from its first element.
class ArrayReader {
 public:
  explicit ArrayReader(Datum array);
  Oid element() const { return element_; }
  uint32_t count() const { return count_; }
  int32_t lower_bound() const { return lower_bound_; }
  // The next element; false at the end. By-reference elements point into the array.
  bool next(Datum* value);

 private:
  const char* at_;
  Oid element_;
  uint32_t count_;
  uint32_t read_ = 0;
  int32_t lower_bound_;
  bool by_reference_;
};

// array[subscript]; null outside the bounds.
Datum array_element(Datum array, int64_t subscript);

}  // namespace pgsilo
