// interval: months, days and microseconds, kept apart because months and days vary in length.
// As a Datum: 16 bytes, the struct's fields in the machine's order, unaligned. PostgreSQL 15 has no
// infinite intervals. Thread safety: pure functions. Errors: 22008 "interval out of range", 22007,
// 22012.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "sql/types/datum.h"
#include "sql/types/type_context.h"

namespace pgsilo {

class Arena;
class ByteBuffer;

struct Interval {
  int64_t time = 0;  // microseconds
  int32_t day = 0;
  int32_t month = 0;
};
static_assert(sizeof(Interval) == 16);

inline Interval interval_of(Datum value) {
  Interval interval;
  std::memcpy(&interval, value.ptr, sizeof interval);
  return interval;
}
Datum interval_datum(const Interval& value, Arena& arena);

// Months count 30 days and days 24 hours: this is the order, and what equality and hashing see.
__int128 interval_span(const Interval& value);
inline int interval_compare(const Interval& left, const Interval& right) {
  __int128 a = interval_span(left);
  __int128 b = interval_span(right);
  return a < b ? -1 : a > b;
}

Interval interval_add(const Interval& left, const Interval& right);
Interval interval_sub(const Interval& left, const Interval& right);
Interval interval_negate(const Interval& value);
Interval interval_mul(const Interval& value, double factor);
Interval interval_div(const Interval& value, double divisor);

// 24 hours to a day; 30 days to a month; both, and signs made equal.
Interval justify_hours(const Interval& value);
Interval justify_days(const Interval& value);
Interval justify_interval(const Interval& value);

Interval make_interval(int32_t years, int32_t months, int32_t weeks, int32_t days, int32_t hours,
                       int32_t minutes, double seconds);

// interval(p) and interval FIELDS: typmod is precision | fields << 16 as in pg_attribute.
Interval interval_apply_typmod(const Interval& value, int32_t typmod);
Interval parse_interval(std::string_view text, int32_t typmod, IntervalStyle style);
void print_interval(const Interval& value, IntervalStyle style, ByteBuffer& out);

}  // namespace pgsilo
