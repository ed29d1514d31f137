// The proleptic Gregorian calendar: Julian days, weeks, and splitting and joining timestamps.
#include "sql/sql_error.h"
#include "sql/types/date_time.h"
#include "sql/types/date_time_internal.h"

namespace pgsilo {

// Days from civil dates by counting years from March, so that the leap day ends the year; eras of
// 400 years.
int32_t julian_day(int32_t year, int32_t month, int32_t day) {
  int64_t y = month <= 2 ? int64_t{year} - 1 : year;
  int64_t era = floor_divide(y, 400);
  int64_t year_of_era = y - era * 400;
  int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  constexpr int64_t julian_of_era_start = 1721120;  // 0000-03-01
  return static_cast<int32_t>(era * 146097 + day_of_era + julian_of_era_start);
}

void from_julian_day(int32_t julian, int32_t* year, int32_t* month, int32_t* day) {
  constexpr int64_t julian_of_era_start = 1721120;
  int64_t days = julian - julian_of_era_start;
  int64_t era = floor_divide(days, 146097);
  int64_t day_of_era = days - era * 146097;
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
  static constexpr int8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && is_leap_year(year) ? 29 : days[month - 1];
}

int day_of_week(int64_t date) {
  // 2000-01-01 was a Saturday.
  return static_cast<int>(floor_modulo(date + 6, 7));
}

void iso_week(int64_t date, int32_t* iso_year, int32_t* week) {
  // A week belongs to the year of its Thursday.
  int64_t monday_based = floor_modulo(date + 5, 7);
  int64_t thursday = date - monday_based + 3;
  int32_t month;
  int32_t day;
  from_julian_day(static_cast<int32_t>(thursday + postgres_epoch_julian), iso_year, &month, &day);
  int64_t first_day = int64_t{julian_day(*iso_year, 1, 1)} - postgres_epoch_julian;
  *week = static_cast<int32_t>((thursday - first_day) / 7 + 1);
}

DateTimeFields fields_of_timestamp(int64_t timestamp) {
  int64_t date = floor_divide(timestamp, usecs_per_day);
  int64_t time = timestamp - date * usecs_per_day;
  DateTimeFields fields;
  from_julian_day(static_cast<int32_t>(date + postgres_epoch_julian), &fields.year, &fields.month,
                  &fields.day);
  split_time(time, &fields);
  return fields;
}

void split_time(int64_t time, DateTimeFields* fields) {
  fields->hour = static_cast<int32_t>(time / usecs_per_hour);
  time %= usecs_per_hour;
  fields->minute = static_cast<int32_t>(time / usecs_per_minute);
  time %= usecs_per_minute;
  fields->second = static_cast<int32_t>(time / usecs_per_second);
  fields->microsecond = static_cast<int32_t>(time % usecs_per_second);
}

DateTimeFields fields_of_timestamptz(int64_t timestamp, const TimeZone& zone,
                                     TimeZone::Offset* offset) {
  *offset = zone.offset_at(floor_divide(timestamp, usecs_per_second) + postgres_epoch_unix_seconds);
  return fields_of_timestamp(timestamp + offset->seconds_east * usecs_per_second);
}

void throw_timestamp_out_of_range() {
  throw SqlError(sqlstate::datetime_field_overflow, "timestamp out of range");
}

void throw_date_out_of_range_for_timestamp() {
  throw SqlError(sqlstate::datetime_field_overflow, "date out of range for timestamp");
}

bool join_timestamp(const DateTimeFields& fields, int64_t* timestamp) {
  if (!is_valid_julian(fields.year, fields.month)) return false;
  int64_t date = int64_t{julian_day(fields.year, fields.month, fields.day)} - postgres_epoch_julian;
  int64_t time = time_of_fields(fields);
  return !__builtin_mul_overflow(date, usecs_per_day, timestamp) &&
         !__builtin_add_overflow(*timestamp, time, timestamp) && is_valid_timestamp(*timestamp);
}

int64_t timestamp_of_fields(const DateTimeFields& fields) {
  int64_t timestamp;
  if (!join_timestamp(fields, &timestamp)) throw_timestamp_out_of_range();
  return timestamp;
}

int64_t local_seconds(const DateTimeFields& fields) {
  int64_t days = int64_t{julian_day(fields.year, fields.month, fields.day)} - unix_epoch_julian;
  return days * 86400 + fields.hour * 3600 + fields.minute * 60 + fields.second;
}

int64_t timestamptz_of_fields(const DateTimeFields& fields, const TimeZone& zone) {
  if (!is_valid_julian(fields.year, fields.month)) throw_timestamp_out_of_range();
  int32_t offset = zone.offset_at_local(local_seconds(fields));
  // The local reading may leave the range where UTC does not, so join first and check after.
  int64_t date = int64_t{julian_day(fields.year, fields.month, fields.day)} - postgres_epoch_julian;
  int64_t timestamp;
  if (__builtin_mul_overflow(date, usecs_per_day, &timestamp) ||
      __builtin_add_overflow(timestamp, time_of_fields(fields), &timestamp) ||
      __builtin_sub_overflow(timestamp, offset * usecs_per_second, &timestamp) ||
      !is_valid_timestamp(timestamp)) {
    throw_timestamp_out_of_range();
  }
  return timestamp;
}

}  // namespace pgsilo
