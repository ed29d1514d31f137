// Dates, times and timestamps as each other, compared across types, and made from numbers.
#include <cmath>
#include <cstdio>

#include "sql/sql_error.h"
#include "sql/types/date_time.h"
#include "sql/types/date_time_internal.h"

namespace pgsilo {

namespace {

int64_t checked_timestamp(int64_t timestamp) {
  if (!is_valid_timestamp(timestamp)) throw_timestamp_out_of_range();
  return timestamp;
}

int64_t unix_seconds(int64_t timestamp) {
  return floor_divide(timestamp, usecs_per_second) + postgres_epoch_unix_seconds;
}

// What the clocks of the zone show, which need not be a timestamp: near the first and the last one
// it is still a date and a time.
int64_t local_reading(int64_t timestamptz, const TimeZone& zone) {
  if (!timestamp_is_finite(timestamptz)) return timestamptz;
  return timestamptz + zone.offset_at(unix_seconds(timestamptz)).seconds_east * usecs_per_second;
}

}  // namespace

int64_t date_to_timestamp(int64_t date) {
  if (date == date_infinity) return timestamp_infinity;
  if (date == date_minus_infinity) return timestamp_minus_infinity;
  if (date >= end_timestamp_date) throw_date_out_of_range_for_timestamp();
  return date * usecs_per_day;
}

int64_t date_to_timestamptz(int64_t date, const TimeZone& zone) {
  return timestamp_to_timestamptz(date_to_timestamp(date), zone);
}

int64_t timestamp_to_date(int64_t timestamp) {
  if (timestamp == timestamp_infinity) return date_infinity;
  if (timestamp == timestamp_minus_infinity) return date_minus_infinity;
  return floor_divide(timestamp, usecs_per_day);
}

int64_t timestamp_to_timestamptz(int64_t timestamp, const TimeZone& zone) {
  if (!timestamp_is_finite(timestamp)) return timestamp;
  return checked_timestamp(timestamp -
                           zone.offset_at_local(unix_seconds(timestamp)) * usecs_per_second);
}

int64_t timestamptz_to_timestamp(int64_t timestamptz, const TimeZone& zone) {
  if (!timestamp_is_finite(timestamptz)) return timestamptz;
  return checked_timestamp(local_reading(timestamptz, zone));
}

int64_t timestamptz_to_date(int64_t timestamptz, const TimeZone& zone) {
  return timestamp_to_date(local_reading(timestamptz, zone));
}

Datum timestamp_to_time(int64_t timestamp) {
  if (!timestamp_is_finite(timestamp)) return Datum();
  return Datum::of_int(timestamp - floor_divide(timestamp, usecs_per_day) * usecs_per_day);
}

Datum timestamptz_to_time(int64_t timestamptz, const TimeZone& zone) {
  return timestamp_to_time(local_reading(timestamptz, zone));
}

int64_t interval_to_time(const Interval& value) {
  if (value.time >= 0) return value.time % usecs_per_day;
  // The least times wrap around on the way, as PostgreSQL's do.
  auto missing = static_cast<int64_t>(static_cast<uint64_t>(usecs_per_day) - 1 -
                                      static_cast<uint64_t>(value.time));
  return static_cast<int64_t>(static_cast<uint64_t>(value.time) +
                              static_cast<uint64_t>(missing / usecs_per_day * usecs_per_day));
}

Interval time_to_interval(int64_t time) { return {time, 0, 0}; }

int date_compare_timestamp(int64_t date, int64_t timestamp) {
  if (!date_is_finite(date)) {
    int64_t infinity = date == date_infinity ? timestamp_infinity : timestamp_minus_infinity;
    return infinity < timestamp ? -1 : infinity > timestamp;
  }
  if (!timestamp_is_finite(timestamp)) return timestamp == timestamp_infinity ? -1 : 1;
  // Dates reach further than timestamps.
  __int128 wide = static_cast<__int128>(date) * usecs_per_day;
  return wide < timestamp ? -1 : wide > timestamp;
}

int date_compare_timestamptz(int64_t date, int64_t timestamptz, const TimeZone& zone) {
  if (!date_is_finite(date) || date >= end_timestamp_date) {
    return date_compare_timestamp(date, timestamptz);
  }
  int64_t other = date_to_timestamptz(date, zone);
  return other < timestamptz ? -1 : other > timestamptz;
}

int timestamp_compare_timestamptz(int64_t timestamp, int64_t timestamptz, const TimeZone& zone) {
  if (!timestamp_is_finite(timestamp))
    return timestamp < timestamptz ? -1 : timestamp > timestamptz;
  int64_t other = timestamp - zone.offset_at_local(unix_seconds(timestamp)) * usecs_per_second;
  return other < timestamptz ? -1 : other > timestamptz;
}

int64_t date_add_days(int64_t date, int64_t days) {
  if (!date_is_finite(date)) return date;
  int64_t result = date + days;
  if (!is_valid_date(result)) {
    throw SqlError(sqlstate::datetime_field_overflow, "date out of range");
  }
  return result;
}

int64_t date_sub_dates(int64_t left, int64_t right) {
  if (!date_is_finite(left) || !date_is_finite(right)) {
    throw SqlError(sqlstate::datetime_field_overflow, "cannot subtract infinite dates");
  }
  return left - right;
}

int64_t date_time_to_timestamp(int64_t date, int64_t time) {
  int64_t timestamp = date_to_timestamp(date);
  return timestamp_is_finite(timestamp) ? checked_timestamp(timestamp + time) : timestamp;
}

namespace {

std::string shown_date(int32_t year, int32_t month, int32_t day) {
  char text[48];
  std::snprintf(text, sizeof text, "%d-%02d-%02d", year, month, day);
  return text;
}

std::string shown_time(int32_t hour, int32_t minute, double second) {
  char text[64];
  std::snprintf(text, sizeof text, "%d:%02d:", hour, minute);
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%02g", second);
  if (std::isinf(second)) return concat(text, second < 0 ? "-Infinity" : "Infinity");
  return std::string(text) + (std::isnan(second) ? "NaN" : seconds);
}

// The year as it is counted with 0; a negative one is BC. Throws unless it is a date of the
// calendar. `shows_counted`: make_date() shows it as it is counted, make_timestamp() as it was
// given.
int32_t check_date(int32_t year, int32_t month, int32_t day, bool shows_counted) {
  int32_t counted = year < 0 ? year + 1 : year;
  if (year == 0 || month < 1 || month > 12 || day < 1 || day > days_in_month(counted, month)) {
    throw SqlError(sqlstate::datetime_field_overflow,
                   concat("date field value out of range: ",
                          shown_date(shows_counted ? counted : year, month, day)));
  }
  return counted;
}

}  // namespace

int64_t make_date(int32_t year, int32_t month, int32_t day) {
  int32_t counted = check_date(year, month, day, true);
  int64_t date = 0;
  bool valid = is_valid_julian(counted, month);
  if (valid) date = int64_t{julian_day(counted, month, day)} - postgres_epoch_julian;
  if (!valid || !is_valid_date(date)) {
    throw SqlError(sqlstate::datetime_field_overflow,
                   concat("date out of range: ", shown_date(counted, month, day)));
  }
  return date;
}

int64_t make_time(int32_t hour, int32_t minute, double second) {
  bool valid = hour >= 0 && hour <= 24 && minute >= 0 && minute < 60 && second >= 0 && second <= 60;
  int64_t time = 0;
  if (valid) {
    time = (int64_t{hour} * 60 + minute) * usecs_per_minute +
           static_cast<int64_t>(std::rint(second * usecs_per_second));
  }
  if (!valid || time > usecs_per_day) {
    throw SqlError(sqlstate::datetime_field_overflow,
                   concat("time field value out of range: ", shown_time(hour, minute, second)));
  }
  return time;
}

int64_t make_timestamp(int32_t year, int32_t month, int32_t day, int32_t hour, int32_t minute,
                       double second) {
  int32_t counted = check_date(year, month, day, false);
  if (!is_valid_julian(counted, month)) {
    throw SqlError(sqlstate::datetime_field_overflow,
                   concat("date out of range: ", shown_date(year, month, day)));
  }
  int64_t time = make_time(hour, minute, second);
  int64_t timestamp = 0;
  bool valid =
      !__builtin_mul_overflow(int64_t{julian_day(counted, month, day)} - postgres_epoch_julian,
                              usecs_per_day, &timestamp) &&
      !__builtin_add_overflow(timestamp, time, &timestamp);
  if (!valid || !is_valid_timestamp(timestamp)) {
    throw SqlError(sqlstate::datetime_field_overflow,
                   concat("timestamp out of range: ", shown_date(counted, month, day), " ",
                          shown_time(hour, minute, second)));
  }
  return timestamp;
}

int64_t make_timestamptz(int32_t year, int32_t month, int32_t day, int32_t hour, int32_t minute,
                         double second, const TimeZone& zone) {
  return timestamp_to_timestamptz(make_timestamp(year, month, day, hour, minute, second), zone);
}

int64_t timestamptz_of_unix_seconds(double seconds) {
  if (seconds != seconds)
    throw SqlError(sqlstate::datetime_field_overflow, "timestamp cannot be NaN");
  if (__builtin_isinf(seconds)) return seconds < 0 ? timestamp_minus_infinity : timestamp_infinity;
  double lowest = -210866803200.0;  // 4714-11-24 BC
  double end = 9224318016000.0;     // 294277-01-01
  if (seconds < lowest || seconds >= end) {
    char shown[64];
    std::snprintf(shown, sizeof shown, "%g", seconds);
    throw SqlError(sqlstate::datetime_field_overflow,
                   concat("timestamp out of range: \"", shown, "\""));
  }
  seconds -= static_cast<double>(postgres_epoch_unix_seconds);
  double rounded = __builtin_rint(seconds * static_cast<double>(usecs_per_second));
  return checked_timestamp(static_cast<int64_t>(rounded));
}

}  // namespace pgsilo
