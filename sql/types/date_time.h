// Dates, times of day and timestamps: calendar arithmetic, reading, printing and the functions on
// them.
//
// date: days since 2000-01-01, int32 range; time: microseconds since midnight, 24:00 included;
// timestamp: microseconds since 2000-01-01 00:00; timestamptz: the same in UTC. Least and greatest
// values stand for -infinity and infinity. The calendar is the proleptic Gregorian one, 4714-11-24
// BC to 5874897 (dates) and 294276 (timestamps); years BC are counted without 0: fields hold year 0
// for 1 BC. Thread safety: pure functions. Errors: 22007 invalid syntax, 22008 out of range, 22023
// unknown unit.
#pragma once

#include <cstdint>
#include <string_view>

#include "sql/types/datum.h"
#include "sql/types/interval.h"
#include "sql/types/type_context.h"

namespace pgsilo {

class Arena;
class ByteBuffer;

inline constexpr int64_t usecs_per_second = 1000000;
inline constexpr int64_t usecs_per_minute = 60 * usecs_per_second;
inline constexpr int64_t usecs_per_hour = 60 * usecs_per_minute;
inline constexpr int64_t usecs_per_day = 24 * usecs_per_hour;
inline constexpr int32_t postgres_epoch_julian = 2451545;  // 2000-01-01
inline constexpr int32_t unix_epoch_julian = 2440588;      // 1970-01-01
inline constexpr int64_t postgres_epoch_unix_seconds = 946684800;
inline constexpr int32_t date_infinity = INT32_MAX;
inline constexpr int32_t date_minus_infinity = INT32_MIN;
inline constexpr int64_t timestamp_infinity = INT64_MAX;
inline constexpr int64_t timestamp_minus_infinity = INT64_MIN;

inline bool date_is_finite(int64_t date) {
  return date != date_infinity && date != date_minus_infinity;
}
inline bool timestamp_is_finite(int64_t timestamp) {
  return timestamp != timestamp_infinity && timestamp != timestamp_minus_infinity;
}

// A moment as a calendar and clock show it.
struct DateTimeFields {
  int32_t year = 0;  // 0 is 1 BC
  int32_t month = 1;
  int32_t day = 1;
  int32_t hour = 0;
  int32_t minute = 0;
  int32_t second = 0;
  int32_t microsecond = 0;
};

// Calendar.
int32_t julian_day(int32_t year, int32_t month, int32_t day);
void from_julian_day(int32_t julian, int32_t* year, int32_t* month, int32_t* day);
bool is_leap_year(int32_t year);
int days_in_month(int32_t year, int32_t month);
// 0 is Sunday; `date` as in a Datum.
int day_of_week(int64_t date);
void iso_week(int64_t date, int32_t* iso_year, int32_t* week);
// Splits; `timestamp` finite. fields_of_timestamptz shows local time and gives the offset then.
DateTimeFields fields_of_timestamp(int64_t timestamp);
DateTimeFields fields_of_timestamptz(int64_t timestamp, const TimeZone& zone,
                                     TimeZone::Offset* offset);
// Joins; throws 22008 "timestamp out of range".
int64_t timestamp_of_fields(const DateTimeFields& fields);
int64_t timestamptz_of_fields(const DateTimeFields& fields, const TimeZone& zone);

// Casts; infinities carry over; 22008 where the target is too small.
int64_t date_to_timestamp(int64_t date);
int64_t date_to_timestamptz(int64_t date, const TimeZone& zone);
int64_t timestamp_to_date(int64_t timestamp);
int64_t timestamp_to_timestamptz(int64_t timestamp, const TimeZone& zone);
int64_t timestamptz_to_timestamp(int64_t timestamptz, const TimeZone& zone);
int64_t timestamptz_to_date(int64_t timestamptz, const TimeZone& zone);
// Null datum for an infinity.
Datum timestamp_to_time(int64_t timestamp);
Datum timestamptz_to_time(int64_t timestamptz, const TimeZone& zone);
int64_t interval_to_time(const Interval& value);
Interval time_to_interval(int64_t time);

// Comparison across types without overflow: <0, 0, >0.
int date_compare_timestamp(int64_t date, int64_t timestamp);
int date_compare_timestamptz(int64_t date, int64_t timestamptz, const TimeZone& zone);
int timestamp_compare_timestamptz(int64_t timestamp, int64_t timestamptz, const TimeZone& zone);

// Arithmetic.
int64_t date_add_days(int64_t date, int64_t days);
int64_t date_sub_dates(int64_t left, int64_t right);
int64_t timestamp_add_interval(int64_t timestamp, const Interval& interval);
int64_t timestamp_sub_interval(int64_t timestamp, const Interval& interval);
int64_t timestamptz_add_interval(int64_t timestamptz, const Interval& interval,
                                 const TimeZone& zone);
int64_t timestamptz_sub_interval(int64_t timestamptz, const Interval& interval,
                                 const TimeZone& zone);
Interval timestamp_sub_timestamps(int64_t left, int64_t right);
int64_t time_add_interval(int64_t time, const Interval& interval);
int64_t time_sub_interval(int64_t time, const Interval& interval);
Interval time_sub_times(int64_t left, int64_t right);
int64_t date_time_to_timestamp(int64_t date, int64_t time);

// age(): years, months and days as people count them.
Interval timestamp_age(int64_t left, int64_t right);
Interval timestamptz_age(int64_t left, int64_t right, const TimeZone& zone);

// make_date(...) and kin: 22008 "date field value out of range: 2023-02-30".
int64_t make_date(int32_t year, int32_t month, int32_t day);
int64_t make_time(int32_t hour, int32_t minute, double second);
int64_t make_timestamp(int32_t year, int32_t month, int32_t day, int32_t hour, int32_t minute,
                       double second);
int64_t make_timestamptz(int32_t year, int32_t month, int32_t day, int32_t hour, int32_t minute,
                         double second, const TimeZone& zone);
// to_timestamp(float8): seconds since 1970.
int64_t timestamptz_of_unix_seconds(double seconds);

// extract(field FROM x), a numeric; NULL or an infinity for infinite input as PostgreSQL has it.
// date_part() is the same as float8. `field` in any letter case; 22023 for unknown ones, 0A000 for
// those the type does not have.
Datum extract_date(std::string_view field, int64_t date, Arena& arena);
Datum extract_time(std::string_view field, int64_t time, Arena& arena);
Datum extract_timestamp(std::string_view field, int64_t timestamp, Arena& arena);
Datum extract_timestamptz(std::string_view field, int64_t timestamptz, const TimeZone& zone,
                          Arena& arena);
Datum extract_interval(std::string_view field, const Interval& interval, Arena& arena);
Datum date_part_time(std::string_view field, int64_t time);
Datum date_part_timestamp(std::string_view field, int64_t timestamp);
Datum date_part_timestamptz(std::string_view field, int64_t timestamptz, const TimeZone& zone);
Datum date_part_interval(std::string_view field, const Interval& interval);

// date_trunc and date_bin.
int64_t timestamp_trunc(std::string_view field, int64_t timestamp);
int64_t timestamptz_trunc(std::string_view field, int64_t timestamptz, const TimeZone& zone);
Interval interval_trunc(std::string_view field, const Interval& interval);
int64_t timestamp_bin(const Interval& stride, int64_t timestamp, int64_t origin);

// timestamp(p), time(p): rounds to p digits of a second. p in 0..6; no_typmod leaves as is.
int64_t timestamp_apply_typmod(int64_t timestamp, int32_t typmod);
int64_t time_apply_typmod(int64_t time, int32_t typmod);

// Text forms by ctx's DateStyle, order and zone.
int64_t parse_date(std::string_view text, const TypeContext& ctx);
int64_t parse_time(std::string_view text, int32_t typmod, const TypeContext& ctx);
int64_t parse_timestamp(std::string_view text, int32_t typmod, const TypeContext& ctx);
int64_t parse_timestamptz(std::string_view text, int32_t typmod, const TypeContext& ctx);
void print_date(int64_t date, const TypeContext& ctx, ByteBuffer& out);
void print_time(int64_t time, ByteBuffer& out);
void print_timestamp(int64_t timestamp, const TypeContext& ctx, ByteBuffer& out);
void print_timestamptz(int64_t timestamptz, const TypeContext& ctx, ByteBuffer& out);

}  // namespace pgsilo
