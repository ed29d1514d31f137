// interval: arithmetic, justification, order, modifiers.
#include <cmath>
#include <cstdint>

#include "base/arena.h"
#include "base/hash.h"
#include "sql/limits.h"
#include "sql/sql_error.h"
#include "sql/types/date_time.h"
#include "sql/types/integer.h"
#include "sql/types/interval.h"
#include "sql/types/interval_internal.h"

namespace pgsilo {

namespace {

constexpr double seconds_per_day = 86400;
constexpr double days_per_month_real = 30;

// To a microsecond, against the noise of the last bits.
double round_to_usec(double value) { return std::rint(value * 1e6) / 1e6; }

int32_t to_int32(double value) {
  if (std::isnan(value) || value > INT32_MAX || value < INT32_MIN) throw_interval_out_of_range();
  return static_cast<int32_t>(value);
}

int64_t to_int64(double value) {
  if (std::isnan(value) || value >= 9223372036854775808.0 || value < -9223372036854775808.0) {
    throw_interval_out_of_range();
  }
  return static_cast<int64_t>(value);
}

int32_t add32(int32_t left, int32_t right) {
  int32_t result;
  if (__builtin_add_overflow(left, right, &result)) throw_interval_out_of_range();
  return result;
}

// Months, days and microseconds scaled apart; what is lost of a month goes to days, what is lost of
// a day to time.
Interval scale(double months, double days, double time) {
  Interval result;
  result.month = to_int32(months);
  result.day = to_int32(days);
  double month_days = round_to_usec((months - result.month) * days_per_month_real);
  double seconds = round_to_usec((days - result.day + month_days - static_cast<int>(month_days)) *
                                 seconds_per_day);
  if (std::fabs(seconds) >= seconds_per_day) {
    int whole = static_cast<int>(seconds / seconds_per_day);
    result.day = add32(result.day, whole);
    seconds -= whole * seconds_per_day;
  }
  result.day = add32(result.day, static_cast<int32_t>(month_days));
  result.time = to_int64(std::rint(time + seconds * static_cast<double>(usecs_per_second)));
  return result;
}

}  // namespace

void throw_interval_out_of_range() {
  throw SqlError(sqlstate::datetime_field_overflow, "interval out of range");
}

Datum interval_datum(const Interval& value, Arena& arena) {
  char* place = static_cast<char*>(arena.allocate(sizeof value, 1));
  std::memcpy(place, &value, sizeof value);
  return Datum::of_bytes({place, sizeof value});
}

__int128 interval_span(const Interval& value) {
  __int128 days = __int128{value.month} * days_per_month + value.day;
  return days * usecs_per_day + value.time;
}

Interval interval_add(const Interval& left, const Interval& right) {
  Interval result;
  if (__builtin_add_overflow(left.month, right.month, &result.month) ||
      __builtin_add_overflow(left.day, right.day, &result.day) ||
      __builtin_add_overflow(left.time, right.time, &result.time)) {
    throw_interval_out_of_range();
  }
  return result;
}

Interval interval_sub(const Interval& left, const Interval& right) {
  Interval result;
  if (__builtin_sub_overflow(left.month, right.month, &result.month) ||
      __builtin_sub_overflow(left.day, right.day, &result.day) ||
      __builtin_sub_overflow(left.time, right.time, &result.time)) {
    throw_interval_out_of_range();
  }
  return result;
}

Interval interval_negate(const Interval& value) { return interval_sub(Interval{}, value); }

Interval interval_mul(const Interval& value, double factor) {
  return scale(value.month * factor, value.day * factor, static_cast<double>(value.time) * factor);
}

Interval interval_div(const Interval& value, double divisor) {
  if (divisor == 0) throw_division_by_zero();
  return scale(value.month / divisor, value.day / divisor,
               static_cast<double>(value.time) / divisor);
}

static void carry_time_into_days(Interval* value) {
  int64_t days = value->time / usecs_per_day;
  value->time -= days * usecs_per_day;
  value->day = add32(value->day, static_cast<int32_t>(days));
}

static void carry_days_into_months(Interval* value) {
  int32_t months = value->day / days_per_month;
  value->day -= months * days_per_month;
  value->month = add32(value->month, months);
}

static void same_sign_of_day_and_time(Interval* value) {
  if (value->day > 0 && value->time < 0) {
    value->time += usecs_per_day;
    --value->day;
  } else if (value->day < 0 && value->time > 0) {
    value->time -= usecs_per_day;
    ++value->day;
  }
}

Interval justify_hours(const Interval& value) {
  Interval result = value;
  carry_time_into_days(&result);
  same_sign_of_day_and_time(&result);
  return result;
}

Interval justify_days(const Interval& value) {
  Interval result = value;
  carry_days_into_months(&result);
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
  // Days first where that keeps the sum with the hours small.
  if ((result.day > 0 && result.time > 0) || (result.day < 0 && result.time < 0)) {
    carry_days_into_months(&result);
  }
  carry_time_into_days(&result);
  carry_days_into_months(&result);
  if (result.month > 0 && (result.day < 0 || (result.day == 0 && result.time < 0))) {
    result.day += days_per_month;
    --result.month;
  } else if (result.month < 0 && (result.day > 0 || (result.day == 0 && result.time > 0))) {
    result.day -= days_per_month;
    ++result.month;
  }
  same_sign_of_day_and_time(&result);
  return result;
}

Interval make_interval(int32_t years, int32_t months, int32_t weeks, int32_t days, int32_t hours,
                       int32_t minutes, double seconds) {
  if (std::isinf(seconds) || std::isnan(seconds)) throw_interval_out_of_range();
  Interval result;
  // PostgreSQL's wrap around.
  result.month = static_cast<int32_t>(int64_t{years} * months_per_year + months);
  result.day = static_cast<int32_t>(int64_t{weeks} * 7 + days);
  double usecs = std::rint(seconds * 1e6);
  // What is no int64 is the least one: so the processor converts it.
  bool fits = usecs >= -0x1p63 && usecs < 0x1p63;
  uint64_t time = static_cast<uint64_t>(fits ? static_cast<int64_t>(usecs) : INT64_MIN);
  time += static_cast<uint64_t>(hours * usecs_per_hour + minutes * usecs_per_minute);
  result.time = static_cast<int64_t>(time);
  return result;
}

Interval interval_apply_typmod(const Interval& value, int32_t typmod) {
  if (typmod < 0) return value;
  Interval result = value;
  int fields = interval_fields(typmod);
  auto cut_time = [&](int64_t unit) { result.time = result.time / unit * unit; };
  if (fields == interval_field_year) {
    result.month = result.month / months_per_year * months_per_year;
    result.day = 0;
    result.time = 0;
  } else if (fields == interval_field_month ||
             fields == (interval_field_year | interval_field_month)) {
    result.day = 0;
    result.time = 0;
  } else if (fields == interval_field_day) {
    result.time = 0;
  } else if (fields != interval_all_fields) {
    // The least unit named counts.
    if ((fields & interval_field_second) == 0) {
      cut_time((fields & interval_field_minute) != 0 ? usecs_per_minute : usecs_per_hour);
    }
  }
  int precision = interval_precision(typmod);
  if (precision < limits::max_time_precision) {
    int64_t unit = 1;
    for (int i = precision; i < limits::max_time_precision; ++i) unit *= 10;
    int64_t half = result.time >= 0 ? unit / 2 : -(unit / 2);
    int64_t rounded;
    if (__builtin_add_overflow(result.time, half, &rounded)) throw_interval_out_of_range();
    result.time = rounded / unit * unit;
  }
  return result;
}

}  // namespace pgsilo
