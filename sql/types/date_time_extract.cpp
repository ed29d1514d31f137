// extract() and date_part(): one field of a date, time, timestamp or interval.
#include "base/arena.h"
#include "sql/types/date_time.h"
#include "sql/types/date_time_internal.h"
#include "sql/types/date_time_words.h"
#include "sql/types/numeric.h"
#include "sql/types/time_with_zone.h"

namespace pgsilo {
namespace {

constexpr std::string_view timestamp_name = "timestamp without time zone";
constexpr std::string_view timestamptz_name = "timestamp with time zone";
constexpr std::string_view time_name = "time without time zone";
constexpr std::string_view timetz_name = "time with time zone";

// Centuries and millennia have no year 0: year 1 to 100 is the first, -99 (100 BC) to 0 (1 BC) the
// last before it.
int64_t ordinal_period(int64_t year, int64_t length) {
  return year > 0 ? (year + length - 1) / length : -((length - 1 - (year - 1)) / length);
}

// Years as extract shows them: 1 BC is -1.
int64_t shown_year(int64_t year) { return year > 0 ? year : year - 1; }

// The fields a date has; false for others.
bool date_field(TimeUnit unit, const DateTimeFields& fields, int64_t date, int64_t* value) {
  int32_t iso_year, week;
  switch (unit) {
    case TimeUnit::day:
      *value = fields.day;
      return true;
    case TimeUnit::month:
      *value = fields.month;
      return true;
    case TimeUnit::quarter:
      *value = (fields.month - 1) / 3 + 1;
      return true;
    case TimeUnit::year:
      *value = shown_year(fields.year);
      return true;
    case TimeUnit::decade:
      *value = floor_divide(fields.year, 10);
      return true;
    case TimeUnit::century:
      *value = ordinal_period(fields.year, 100);
      return true;
    case TimeUnit::millennium:
      *value = ordinal_period(fields.year, 1000);
      return true;
    case TimeUnit::day_of_week:
      *value = day_of_week(date);
      return true;
    case TimeUnit::iso_day_of_week:
      *value = (day_of_week(date) + 6) % 7 + 1;
      return true;
    case TimeUnit::day_of_year:
      *value =
          julian_day(fields.year, fields.month, fields.day) - julian_day(fields.year, 1, 1) + 1;
      return true;
    case TimeUnit::week:
      iso_week(date, &iso_year, &week);
      *value = week;
      return true;
    case TimeUnit::iso_year:
      iso_week(date, &iso_year, &week);
      *value = shown_year(iso_year);
      return true;
    default:
      return false;
  }
}

// The fields of a clock reading given in microseconds; *scale is how many decimal digits *value
// has.
bool time_field(TimeUnit unit, int64_t time, int64_t* value, int* scale) {
  *scale = 0;
  switch (unit) {
    case TimeUnit::microsecond:
      *value = time % usecs_per_minute;
      return true;
    case TimeUnit::millisecond:
      *value = time % usecs_per_minute;
      *scale = 3;
      return true;
    case TimeUnit::second:
      *value = time % usecs_per_minute;
      *scale = 6;
      return true;
    case TimeUnit::minute:
      *value = time / usecs_per_minute % 60;
      return true;
    case TimeUnit::hour:
      *value = time / usecs_per_hour;
      return true;
    default:
      return false;
  }
}

// The fields of a zone.
bool zone_field(TimeUnit unit, int32_t seconds_east, int64_t* value) {
  switch (unit) {
    case TimeUnit::timezone:
      *value = seconds_east;
      return true;
    case TimeUnit::timezone_hour:
      *value = seconds_east / 3600;
      return true;
    case TimeUnit::timezone_minute:
      *value = seconds_east / 60 % 60;
      return true;
    default:
      return false;
  }
}

// For an infinite moment: fields that only grow are infinite, the others null.
Datum infinite_field(std::string_view word, TimeUnit unit, bool positive, std::string_view type,
                     Arena& arena) {
  switch (unit) {
    case TimeUnit::year:
    case TimeUnit::decade:
    case TimeUnit::century:
    case TimeUnit::millennium:
    case TimeUnit::julian:
    case TimeUnit::iso_year:
    case TimeUnit::epoch:
      return parse_numeric(positive ? "Infinity" : "-Infinity", -1, arena);
    case TimeUnit::unknown:
      throw_unit_not_recognized(word, type);
    default:
      return Datum();
  }
}

Datum julian_with_time(int64_t timestamp, Arena& arena) {
  int64_t date = floor_divide(timestamp, usecs_per_day);
  Datum day = numeric_from_integer(date + postgres_epoch_julian, arena);
  Datum part = numeric_div(numeric_from_integer(timestamp - date * usecs_per_day, arena),
                           numeric_from_integer(usecs_per_day, arena), arena);
  return numeric_add(day, part, arena);
}

// Seconds since 1970 with six digits, without overflow: microseconds since 2000 plus a constant.
Datum epoch_of(int64_t timestamp, Arena& arena) {
  int64_t shifted;
  if (!__builtin_add_overflow(timestamp, postgres_epoch_unix_seconds * usecs_per_second,
                              &shifted)) {
    return numeric_from_scaled(shifted, 6, arena);
  }
  return numeric_add(numeric_from_scaled(timestamp, 6, arena),
                     numeric_from_scaled(postgres_epoch_unix_seconds * usecs_per_second, 6, arena),
                     arena);
}

// `local` is what the clock shows.
Datum moment_field(std::string_view word, TimeUnit unit, int64_t local, std::string_view type,
                   Arena& arena) {
  DateTimeFields fields = fields_of_timestamp(local);
  int64_t date = floor_divide(local, usecs_per_day);
  int64_t value;
  int scale;
  if (date_field(unit, fields, date, &value)) return numeric_from_integer(value, arena);
  if (time_field(unit, local - date * usecs_per_day, &value, &scale)) {
    return numeric_from_scaled(value, scale, arena);
  }
  if (unit == TimeUnit::julian) return julian_with_time(local, arena);
  if (unit == TimeUnit::unknown) throw_unit_not_recognized(word, type);
  throw_unit_not_supported(word, type);
}

Datum as_float(Datum value) {
  return value.null ? value : Datum::of_float(numeric_to_float8(value));
}

}  // namespace

Datum extract_date(std::string_view word, int64_t date, Arena& arena) {
  TimeUnit unit = find_extract_unit(word);
  bool clock = unit >= TimeUnit::microsecond && unit <= TimeUnit::hour;
  bool zone = unit >= TimeUnit::timezone;
  if (clock || zone) throw_unit_not_supported(word, "date");
  if (!date_is_finite(date))
    return infinite_field(word, unit, date == date_infinity, "date", arena);
  if (unit == TimeUnit::epoch) {
    return numeric_from_integer(date * 86400 + postgres_epoch_unix_seconds, arena);
  }
  if (unit == TimeUnit::julian) return numeric_from_integer(date + postgres_epoch_julian, arena);
  DateTimeFields fields;
  from_julian_day(static_cast<int32_t>(date + postgres_epoch_julian), &fields.year, &fields.month,
                  &fields.day);
  int64_t value;
  if (!date_field(unit, fields, date, &value)) throw_unit_not_recognized(word, "date");
  return numeric_from_integer(value, arena);
}

Datum extract_time(std::string_view word, int64_t time, Arena& arena) {
  TimeUnit unit = find_extract_unit(word);
  int64_t value;
  int scale;
  if (time_field(unit, time, &value, &scale)) return numeric_from_scaled(value, scale, arena);
  if (unit == TimeUnit::epoch) return numeric_from_scaled(time, 6, arena);
  if (unit == TimeUnit::unknown) throw_unit_not_recognized(word, time_name);
  throw_unit_not_supported(word, time_name);
}

Datum extract_time_with_zone(std::string_view word, const TimeWithZone& value, Arena& arena) {
  TimeUnit unit = find_extract_unit(word);
  int64_t field;
  int scale;
  if (time_field(unit, value.time, &field, &scale)) return numeric_from_scaled(field, scale, arena);
  if (zone_field(unit, -value.seconds_west, &field)) return numeric_from_integer(field, arena);
  if (unit == TimeUnit::epoch) {
    return numeric_from_scaled(value.time + value.seconds_west * usecs_per_second, 6, arena);
  }
  if (unit == TimeUnit::unknown) throw_unit_not_recognized(word, timetz_name);
  throw_unit_not_supported(word, timetz_name);
}

Datum extract_timestamp(std::string_view word, int64_t timestamp, Arena& arena) {
  TimeUnit unit = find_extract_unit(word);
  if (!timestamp_is_finite(timestamp)) {
    return infinite_field(word, unit, timestamp == timestamp_infinity, timestamp_name, arena);
  }
  if (unit == TimeUnit::epoch) return epoch_of(timestamp, arena);
  return moment_field(word, unit, timestamp, timestamp_name, arena);
}

Datum extract_timestamptz(std::string_view word, int64_t timestamptz, const TimeZone& zone,
                          Arena& arena) {
  TimeUnit unit = find_extract_unit(word);
  if (!timestamp_is_finite(timestamptz)) {
    return infinite_field(word, unit, timestamptz == timestamp_infinity, timestamptz_name, arena);
  }
  if (unit == TimeUnit::epoch) return epoch_of(timestamptz, arena);
  TimeZone::Offset offset;
  fields_of_timestamptz(timestamptz, zone, &offset);
  int64_t value;
  if (zone_field(unit, offset.seconds_east, &value)) return numeric_from_integer(value, arena);
  return moment_field(word, unit, timestamptz + offset.seconds_east * usecs_per_second,
                      timestamptz_name, arena);
}

Datum extract_interval(std::string_view word, const Interval& interval, Arena& arena) {
  TimeUnit unit = find_extract_unit(word);
  int64_t years = interval.month / 12;
  int64_t value;
  int scale;
  if (time_field(unit, interval.time, &value, &scale))
    return numeric_from_scaled(value, scale, arena);
  switch (unit) {
    case TimeUnit::day:
      return numeric_from_integer(interval.day, arena);
    case TimeUnit::month:
      return numeric_from_integer(interval.month % 12, arena);
    case TimeUnit::quarter:
      return numeric_from_integer(interval.month % 12 / 3 + 1, arena);
    case TimeUnit::year:
      return numeric_from_integer(years, arena);
    case TimeUnit::decade:
      return numeric_from_integer(years / 10, arena);
    case TimeUnit::century:
      return numeric_from_integer(years / 100, arena);
    case TimeUnit::millennium:
      return numeric_from_integer(years / 1000, arena);
    case TimeUnit::epoch: {
      // A year counts 365.25 days and a month 30.
      constexpr int64_t quarter_days_per_year = 1461;
      int64_t seconds = (years * quarter_days_per_year + int64_t{interval.month % 12} * 120 +
                         int64_t{interval.day} * 4) *
                        (86400 / 4);
      return numeric_add(numeric_from_scaled(interval.time, 6, arena),
                         numeric_from_integer(seconds, arena), arena);
    }
    case TimeUnit::unknown:
      throw_unit_not_recognized(word, "interval");
    default:
      throw_unit_not_supported(word, "interval");
  }
}

Datum date_part_time(std::string_view field, int64_t time) {
  Arena arena;
  return as_float(extract_time(field, time, arena));
}

Datum date_part_time_with_zone(std::string_view field, const TimeWithZone& value) {
  Arena arena;
  return as_float(extract_time_with_zone(field, value, arena));
}

Datum date_part_timestamp(std::string_view field, int64_t timestamp) {
  Arena arena;
  return as_float(extract_timestamp(field, timestamp, arena));
}

Datum date_part_timestamptz(std::string_view field, int64_t timestamptz, const TimeZone& zone) {
  Arena arena;
  return as_float(extract_timestamptz(field, timestamptz, zone, arena));
}

Datum date_part_interval(std::string_view field, const Interval& interval) {
  Arena arena;
  return as_float(extract_interval(field, interval, arena));
}

}  // namespace pgsilo
