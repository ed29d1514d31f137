// The calendar, and timestamps as calendar fields.
#include <cstdio>

#include "sql/sql_error.h"
#include "sql/types/date_time.h"

namespace pgsilo {
namespace {

constexpr int32_t lowest_julian = 0;                       // 4714-11-24 BC
constexpr int32_t date_end_julian = 2147483494;            // 5874898-01-01
constexpr int32_t timestamp_end_julian = 109203528;        // 294277-01-01
constexpr int64_t lowest_timestamp = -211813488000000000;  // 4714-11-24 BC
constexpr int64_t end_timestamp = 9223371331200000000;     // 294277-01-01

[[noreturn]] void throw_timestamp_out_of_range() {
  throw SqlError(sqlstate::datetime_field_overflow, "timestamp out of range");
}

int64_t floor_divide(int64_t value, int64_t divisor) {
  int64_t quotient = value / divisor;
  return quotient * divisor > value ? quotient - 1 : quotient;
}

int64_t checked_timestamp(int64_t timestamp) {
  if (timestamp < lowest_timestamp || timestamp >= end_timestamp) throw_timestamp_out_of_range();
  return timestamp;
}

// Infinities of one type as those of another; false for finite values.
bool carry_infinity(int64_t timestamp, int64_t* date) {
  if (timestamp_is_finite(timestamp)) return false;
  *date = timestamp == timestamp_infinity ? date_infinity : date_minus_infinity;
  return true;
}

// Without the range check: comparison needs dates that no timestamp can hold.
__int128 wide_timestamp(int64_t date) { return static_cast<__int128>(date) * usecs_per_day; }

int64_t unix_seconds(int64_t timestamp) {
  return floor_divide(timestamp, usecs_per_second) + postgres_epoch_unix_seconds;
}

}  // namespace

// Days are counted from 0000-03-01 of the proleptic calendar, where leap days end a year.
int32_t julian_day(int32_t year, int32_t month, int32_t day) {
  int64_t shifted_year = int64_t{year} - (month <= 2 ? 1 : 0);
  int64_t era = floor_divide(shifted_year, 400);
  int64_t year_of_era = shifted_year - era * 400;
  int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return static_cast<int32_t>(era * 146097 + day_of_era + 1721120);
}

void from_julian_day(int32_t julian, int32_t* year, int32_t* month, int32_t* day) {
  int64_t shifted = int64_t{julian} - 1721120;
  int64_t era = floor_divide(shifted, 146097);
  int64_t day_of_era = shifted - era * 146097;
  int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  int64_t shifted_month = (5 * day_of_year + 2) / 153;
  *day = static_cast<int32_t>(day_of_year - (153 * shifted_month + 2) / 5 + 1);
  *month = static_cast<int32_t>(shifted_month < 10 ? shifted_month + 3 : shifted_month - 9);
  *year = static_cast<int32_t>(year_of_era + era * 400 + (*month <= 2 ? 1 : 0));
}

bool is_leap_year(int32_t year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

int days_in_month(int32_t year, int32_t month) {
  constexpr int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && is_leap_year(year) ? 29 : days[month - 1];
}

int day_of_week(int64_t date) {
  int64_t day = (date + postgres_epoch_julian + 1) % 7;
  return static_cast<int>(day < 0 ? day + 7 : day);
}

// Week 1 is the one with the year's first Thursday.
void iso_week(int64_t date, int32_t* iso_year, int32_t* week) {
  auto julian = static_cast<int32_t>(date + postgres_epoch_julian);
  int weekday = (day_of_week(date) + 6) % 7;  // 0 is Monday
  int32_t thursday = julian - weekday + 3;
  int32_t month, day;
  from_julian_day(thursday, iso_year, &month, &day);
  *week = (thursday - julian_day(*iso_year, 1, 1)) / 7 + 1;
}

DateTimeFields fields_of_timestamp(int64_t timestamp) {
  int64_t date = floor_divide(timestamp, usecs_per_day);
  int64_t time = timestamp - date * usecs_per_day;
  DateTimeFields fields;
  from_julian_day(static_cast<int32_t>(date + postgres_epoch_julian), &fields.year, &fields.month,
                  &fields.day);
  fields.hour = static_cast<int32_t>(time / usecs_per_hour);
  fields.minute = static_cast<int32_t>(time / usecs_per_minute % 60);
  fields.second = static_cast<int32_t>(time / usecs_per_second % 60);
  fields.microsecond = static_cast<int32_t>(time % usecs_per_second);
  return fields;
}

DateTimeFields fields_of_timestamptz(int64_t timestamp, const TimeZone& zone,
                                     TimeZone::Offset* offset) {
  *offset = zone.offset_at(unix_seconds(timestamp));
  return fields_of_timestamp(timestamp + offset->seconds_east * usecs_per_second);
}

int64_t timestamp_of_fields(const DateTimeFields& fields) {
  // A first check keeps the day number from wrapping.
  if (fields.year < -4713 || fields.year > 294277) throw_timestamp_out_of_range();
  int64_t date = int64_t{julian_day(fields.year, fields.month, fields.day)} - postgres_epoch_julian;
  int64_t time =
      ((int64_t{fields.hour} * 60 + fields.minute) * 60 + fields.second) * usecs_per_second +
      fields.microsecond;
  int64_t timestamp;
  if (__builtin_mul_overflow(date, usecs_per_day, &timestamp) ||
      __builtin_add_overflow(timestamp, time, &timestamp)) {
    throw_timestamp_out_of_range();
  }
  return checked_timestamp(timestamp);
}

int64_t timestamptz_of_fields(const DateTimeFields& fields, const TimeZone& zone) {
  return timestamp_to_timestamptz(timestamp_of_fields(fields), zone);
}

int64_t date_to_timestamp(int64_t date) {
  if (date == date_infinity) return timestamp_infinity;
  if (date == date_minus_infinity) return timestamp_minus_infinity;
  if (date + postgres_epoch_julian >= timestamp_end_julian) {
    throw SqlError(sqlstate::datetime_field_overflow, "date out of range for timestamp");
  }
  return date * usecs_per_day;
}

int64_t date_to_timestamptz(int64_t date, const TimeZone& zone) {
  return timestamp_to_timestamptz(date_to_timestamp(date), zone);
}

int64_t timestamp_to_date(int64_t timestamp) {
  int64_t date;
  if (carry_infinity(timestamp, &date)) return date;
  return floor_divide(timestamp, usecs_per_day);
}

int64_t timestamp_to_timestamptz(int64_t timestamp, const TimeZone& zone) {
  if (!timestamp_is_finite(timestamp)) return timestamp;
  return checked_timestamp(timestamp -
                           zone.offset_at_local(unix_seconds(timestamp)) * usecs_per_second);
}

int64_t timestamptz_to_timestamp(int64_t timestamptz, const TimeZone& zone) {
  if (!timestamp_is_finite(timestamptz)) return timestamptz;
  return checked_timestamp(timestamptz + zone.offset_at(unix_seconds(timestamptz)).seconds_east *
                                             usecs_per_second);
}

int64_t timestamptz_to_date(int64_t timestamptz, const TimeZone& zone) {
  return timestamp_to_date(timestamptz_to_timestamp(timestamptz, zone));
}

Datum timestamp_to_time(int64_t timestamp) {
  if (!timestamp_is_finite(timestamp)) return Datum();
  return Datum::of_int(timestamp - floor_divide(timestamp, usecs_per_day) * usecs_per_day);
}

Datum timestamptz_to_time(int64_t timestamptz, const TimeZone& zone) {
  return timestamp_to_time(timestamptz_to_timestamp(timestamptz, zone));
}

int64_t interval_to_time(const Interval& value) {
  int64_t time = value.time % usecs_per_day;
  return time < 0 ? time + usecs_per_day : time;
}

Interval time_to_interval(int64_t time) { return {time, 0, 0}; }

int date_compare_timestamp(int64_t date, int64_t timestamp) {
  if (!date_is_finite(date)) {
    int64_t infinity = date == date_infinity ? timestamp_infinity : timestamp_minus_infinity;
    return infinity < timestamp ? -1 : infinity > timestamp;
  }
  if (!timestamp_is_finite(timestamp)) return timestamp == timestamp_infinity ? -1 : 1;
  __int128 wide = wide_timestamp(date);
  return wide < timestamp ? -1 : wide > timestamp;
}

int date_compare_timestamptz(int64_t date, int64_t timestamptz, const TimeZone& zone) {
  if (!date_is_finite(date) || date + postgres_epoch_julian >= timestamp_end_julian) {
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
  int64_t julian = result + postgres_epoch_julian;
  if (julian < lowest_julian || julian >= date_end_julian) {
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

int64_t make_date(int32_t year, int32_t month, int32_t day) {
  auto fail = [&] {
    throw SqlError(
        sqlstate::datetime_field_overflow,
        concat("date field value out of range: ", year, "-", month < 10 && month >= 0 ? "0" : "",
               month, "-", day < 10 && day >= 0 ? "0" : "", day));
  };
  int32_t calendar_year = year < 0 ? year + 1 : year;  // a negative year is BC
  if (year == 0 || month < 1 || month > 12 || day < 1 || day > days_in_month(calendar_year, month))
    fail();
  if (calendar_year < -4713 || calendar_year > 5874897) {
    throw SqlError(sqlstate::datetime_field_overflow,
                   concat("date out of range: ", year, "-", month < 10 ? "0" : "", month, "-",
                          day < 10 ? "0" : "", day));
  }
  return int64_t{julian_day(calendar_year, month, day)} - postgres_epoch_julian;
}

int64_t make_time(int32_t hour, int32_t minute, double second) {
  bool valid = hour >= 0 && hour <= 24 && minute >= 0 && minute < 60 && second >= 0 && second <= 60;
  int64_t time = 0;
  if (valid) {
    time = (int64_t{hour} * 60 + minute) * usecs_per_minute +
           static_cast<int64_t>(__builtin_rint(second * usecs_per_second));
  }
  if (!valid || time > usecs_per_day) {
    char shown[64];
    std::snprintf(shown, sizeof shown, "%d:%02d:%02g", hour, minute, second);
    throw SqlError(sqlstate::datetime_field_overflow,
                   concat("time field value out of range: ", shown));
  }
  return time;
}

int64_t make_timestamp(int32_t year, int32_t month, int32_t day, int32_t hour, int32_t minute,
                       double second) {
  int64_t date = make_date(year, month, day);
  int64_t time = make_time(hour, minute, second);
  return date_time_to_timestamp(date, time);
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
