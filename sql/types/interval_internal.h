// What the interval files share. Internal to sql/types.
#pragma once

#include <cstdint>

#include "sql/types/interval.h"

namespace pgsilo {

inline constexpr int32_t months_per_year = 12;
inline constexpr int32_t days_per_month = 30;

[[noreturn]] void throw_interval_out_of_range();

// The modifier of interval: a precision in the low 16 bits (FFFF none), a set of fields in the high
// 16, as PostgreSQL's.
inline constexpr int interval_field_month = 1 << 1;
inline constexpr int interval_field_year = 1 << 2;
inline constexpr int interval_field_day = 1 << 3;
inline constexpr int interval_field_hour = 1 << 10;
inline constexpr int interval_field_minute = 1 << 11;
inline constexpr int interval_field_second = 1 << 12;
inline constexpr int interval_all_fields = 0x7fff;
inline constexpr int interval_no_precision = 0xffff;

inline int interval_fields(int32_t typmod) {
  return typmod < 0 ? interval_all_fields : (typmod >> 16) & 0x7fff;
}
inline int interval_precision(int32_t typmod) {
  return typmod < 0 ? interval_no_precision : typmod & 0xffff;
}

}  // namespace pgsilo
