// Where a value lies among a column's values: before or behind one of them, and how far on the way
// from one to the next. The value may have another type that operators compare with the column's.
// Thread safety: pure functions.
#pragma once

#include <optional>

#include "sql/types/datum.h"

namespace pgsilo {

struct TypeInfo;

// A value that is known while planning, not NULL.
struct KnownValue {
  const TypeInfo* type = nullptr;
  Datum value;
};

// Whether the two can be compared here: values of one type with an order, integers or floats of
// different lengths, texts, days and times.
bool is_comparable(const TypeInfo& column, const TypeInfo& value);

// <0: `own`, a value of the column, lies before it; precondition: is_comparable().
int compare_with(const TypeInfo& column, Datum own, const KnownValue& value);

// Where the value lies between two of the column, 0 to 1, as far as values of the type are numbers
// or texts; the middle where it cannot be told.
double part_of_the_way(const TypeInfo& column, Datum low, Datum high, const KnownValue& value);

}  // namespace pgsilo
