// What the date and time files share: floored division, range checks, joining fields. Internal to
// sql/types. Thread safety: pure functions.
#pragma once

#include <cstdint>

#include "sql/types/date_time.h"

namespace pgsilo {

inline int64_t floor_divide(int64_t dividend, int64_t divisor) {
  int64_t quotient = dividend / divisor;
  return dividend % divisor < 0 ? quotient - 1 : quotient;
}
inline int64_t floor_modulo(int64_t dividend, int64_t divisor) {
  int64_t remainder = dividend % divisor;
  return remainder < 0 ? remainder + divisor : remainder;
}

// 4714-11-24 BC up to, not including, the ends.
inline constexpr int64_t min_date = -2451545;
inline constexpr int64_t end_date = int64_t{2147483494} - postgres_epoch_julian;  // 5874898-01-01
inline constexpr int64_t min_timestamp = -211813488000000000;
inline constexpr int64_t end_timestamp = 9223371331200000000;  // 294277-01-01
inline constexpr int64_t end_timestamp_date = end_timestamp / usecs_per_day;

inline bool is_valid_timestamp(int64_t timestamp) {
  return timestamp >= min_timestamp && timestamp < end_timestamp;
}
inline bool is_valid_date(int64_t date) { return date >= min_date && date < end_date; }
// Whether a year and month are near enough for Julian day arithmetic not to overflow.
inline bool is_valid_julian(int32_t year, int32_t month) {
  return (year > -4713 || (year == -4713 && month >= 11)) &&
         (year < 5874898 || (year == 5874898 && month < 6));
}

inline int64_t time_of_fields(const DateTimeFields& fields) {
  return fields.hour * usecs_per_hour + fields.minute * usecs_per_minute +
         fields.second * usecs_per_second + fields.microsecond;
}
void split_time(int64_t time, DateTimeFields* fields);
// Seconds since 1970 as if the clock showed UTC.
int64_t local_seconds(const DateTimeFields& fields);
// False when out of range.
bool join_timestamp(const DateTimeFields& fields, int64_t* timestamp);
[[noreturn]] void throw_timestamp_out_of_range();
[[noreturn]] void throw_date_out_of_range_for_timestamp();

// "+05", "-03:30": appended.
void print_offset(int64_t seconds_east, ByteBuffer& out);

// 1 for 1 AD, -1 for 1 BC: the number that people say for a year counted with 0.
inline int32_t year_as_said(int32_t year) { return year > 0 ? year : -(year - 1); }

}  // namespace pgsilo
