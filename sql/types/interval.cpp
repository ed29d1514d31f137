#include "sql/types/interval.h"

#include <cmath>

#include "base/arena.h"
#include "sql/sql_error.h"
#include "sql/types/date_time.h"
#include "sql/types/integer.h"

namespace pgsilo {
namespace {

constexpr int32_t days_per_month = 30;

[[noreturn]] void throw_interval_out_of_range() {
  throw SqlError(sqlstate::datetime_field_overflow, "interval out of range");
}

// What floating point makes of a value that is meant to have six decimal digits.
double round_to_microseconds(double seconds) { return std::rint(seconds * 1e6) / 1e6; }

int32_t whole_int32(double value) {
  if (std::isnan(value) || value > INT32_MAX || value < INT32_MIN) throw_interval_out_of_range();
  return static_cast<int32_t>(value);
}

// Scales each field; what a field loses to rounding cascades down, months to days of 30, days to
// hours of 24.
Interval scaled(const Interval& value, double factor, bool divide) {
  auto scale = [&](double field) { return divide ? field / factor : field * factor; };
  Interval result;
  result.month = whole_int32(scale(value.month));
  result.day = whole_int32(scale(value.day));
  double month_remainder_days = (scale(value.month) - result.month) * days_per_month;
  month_remainder_days = round_to_microseconds(month_remainder_days);
  double seconds_remainder = (scale(value.day) - result.day + month_remainder_days -
                              static_cast<int32_t>(month_remainder_days)) *
                             86400;
  seconds_remainder = round_to_microseconds(seconds_remainder);
  // Rounding may have made a whole day of the rest.
  if (std::fabs(seconds_remainder) >= 86400) {
    result.day += static_cast<int32_t>(seconds_remainder / 86400);
    seconds_remainder -= static_cast<int32_t>(seconds_remainder / 86400) * 86400.0;
  }
  result.day = int_add<int32_t>(result.day, static_cast<int32_t>(month_remainder_days));
  double time = std::rint(scale(static_cast<double>(value.time)) + seconds_remainder * 1e6);
  if (std::isnan(time) || time >= 9223372036854775808.0 || time < -9223372036854775808.0)
    throw_interval_out_of_range();
  result.time = static_cast<int64_t>(time);
  return result;
}

template <typename Int>
Int checked_add(Int left, Int right) {
  Int result;
  if (__builtin_add_overflow(left, right, &result)) throw_interval_out_of_range();
  return result;
}
template <typename Int>
Int checked_sub(Int left, Int right) {
  Int result;
  if (__builtin_sub_overflow(left, right, &result)) throw_interval_out_of_range();
  return result;
}

}  // namespace

Datum interval_datum(const Interval& value, Arena& arena) {
  char* bytes = static_cast<char*>(arena.allocate(sizeof value, 1));
  std::memcpy(bytes, &value, sizeof value);
  return Datum::of_bytes({bytes, sizeof value});
}

__int128 interval_span(const Interval& value) {
  __int128 days = static_cast<__int128>(value.month) * days_per_month + value.day;
  return days * usecs_per_day + value.time;
}

Interval interval_add(const Interval& left, const Interval& right) {
  return {checked_add(left.time, right.time), checked_add(left.day, right.day),
          checked_add(left.month, right.month)};
}

Interval interval_sub(const Interval& left, const Interval& right) {
  return {checked_sub(left.time, right.time), checked_sub(left.day, right.day),
          checked_sub(left.month, right.month)};
}

Interval interval_negate(const Interval& value) { return interval_sub({}, value); }

Interval interval_mul(const Interval& value, double factor) { return scaled(value, factor, false); }

Interval interval_div(const Interval& value, double divisor) {
  if (divisor == 0) throw_division_by_zero();
  return scaled(value, divisor, true);
}

Interval justify_hours(const Interval& value) {
  Interval result = value;
  int64_t days = value.time / usecs_per_day;
  result.time -= days * usecs_per_day;
  result.day = whole_int32(static_cast<double>(value.day) + static_cast<double>(days));
  if (result.day > 0 && result.time < 0) {
    result.time += usecs_per_day;
    --result.day;
  } else if (result.day < 0 && result.time > 0) {
    result.time -= usecs_per_day;
    ++result.day;
  }
  return result;
}

Interval justify_days(const Interval& value) {
  Interval result = value;
  int32_t months = value.day / days_per_month;
  result.day -= months * days_per_month;
  result.month = checked_add(value.month, months);
  if (result.month > 0 && result.day < 0) {
    result.day += days_per_month;
    --result.month;
  } else if (result.month < 0 && result.day > 0) {
    result.day -= days_per_month;
    ++result.month;
  }
  return result;
}

Interval justify_interval(const Interval& value) {
  Interval result = value;
  int64_t days = value.time / usecs_per_day;
  result.time -= days * usecs_per_day;
  int64_t day = value.day + days;
  int64_t months = day / days_per_month;
  day -= months * days_per_month;
  result.month = whole_int32(static_cast<double>(value.month) + static_cast<double>(months));
  if (result.month > 0 && (day < 0 || (day == 0 && result.time < 0))) {
    day += days_per_month;
    --result.month;
  } else if (result.month < 0 && (day > 0 || (day == 0 && result.time > 0))) {
    day -= days_per_month;
    ++result.month;
  }
  if (day > 0 && result.time < 0) {
    result.time += usecs_per_day;
    --day;
  } else if (day < 0 && result.time > 0) {
    result.time -= usecs_per_day;
    ++day;
  }
  result.day = static_cast<int32_t>(day);
  return result;
}

Interval make_interval(int32_t years, int32_t months, int32_t weeks, int32_t days, int32_t hours,
                       int32_t minutes, double seconds) {
  if (std::isnan(seconds) || std::isinf(seconds)) throw_interval_out_of_range();
  auto narrow = [](int64_t value) {
    if (value > INT32_MAX || value < INT32_MIN) throw_interval_out_of_range();
    return static_cast<int32_t>(value);
  };
  Interval result;
  result.month = narrow(int64_t{years} * 12 + months);
  result.day = narrow(int64_t{weeks} * 7 + days);
  double time = std::rint(seconds * 1e6);
  if (std::fabs(time) > 9e18) throw_interval_out_of_range();
  result.time = checked_add(int64_t{hours} * usecs_per_hour + int64_t{minutes} * usecs_per_minute,
                            static_cast<int64_t>(time));
  return result;
}

}  // namespace pgsilo
