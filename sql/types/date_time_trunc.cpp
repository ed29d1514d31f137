// date_trunc() and date_bin(): moments and intervals cut to a unit.
#include "sql/sql_error.h"
#include "sql/types/date_time.h"
#include "sql/types/date_time_internal.h"
#include "sql/types/date_time_words.h"

namespace pgsilo {
namespace {

// The first year of a decade, century or millennium; the latter two begin with a year 1.
int32_t period_start(int32_t year, int32_t length, int32_t first) {
  int32_t shifted = year - first;
  int32_t periods = shifted / length - (shifted % length < 0 ? 1 : 0);
  return periods * length + first;
}

// Cuts the fields; false when the unit is none that a moment can be cut to.
bool truncate_fields(TimeUnit unit, DateTimeFields& fields) {
  switch (unit) {
    case TimeUnit::week: {
      int64_t date =
          int64_t{julian_day(fields.year, fields.month, fields.day)} - postgres_epoch_julian;
      int64_t monday = date - (day_of_week(date) + 6) % 7;
      from_julian_day(static_cast<int32_t>(monday + postgres_epoch_julian), &fields.year,
                      &fields.month, &fields.day);
      unit = TimeUnit::day;
      break;
    }
    case TimeUnit::millennium:
      fields.year = period_start(fields.year, 1000, 1);
      unit = TimeUnit::year;
      break;
    case TimeUnit::century:
      fields.year = period_start(fields.year, 100, 1);
      unit = TimeUnit::year;
      break;
    case TimeUnit::decade:
      fields.year = period_start(fields.year, 10, 0);
      unit = TimeUnit::year;
      break;
    case TimeUnit::quarter:
      fields.month = (fields.month - 1) / 3 * 3 + 1;
      unit = TimeUnit::month;
      break;
    default:
      break;
  }
  switch (unit) {
    case TimeUnit::year:
      fields.month = 1;
      [[fallthrough]];
    case TimeUnit::month:
      fields.day = 1;
      [[fallthrough]];
    case TimeUnit::day:
      fields.hour = 0;
      [[fallthrough]];
    case TimeUnit::hour:
      fields.minute = 0;
      [[fallthrough]];
    case TimeUnit::minute:
      fields.second = 0;
      [[fallthrough]];
    case TimeUnit::second:
      fields.microsecond = 0;
      return true;
    case TimeUnit::millisecond:
      fields.microsecond = fields.microsecond / 1000 * 1000;
      return true;
    case TimeUnit::microsecond:
      return true;
    default:
      return false;
  }
}

[[noreturn]] void throw_bad_unit(std::string_view word, TimeUnit unit, std::string_view type) {
  if (unit == TimeUnit::unknown) throw_unit_not_recognized(word, type);
  throw_unit_not_supported(word, type);
}

}  // namespace

int64_t timestamp_trunc(std::string_view word, int64_t timestamp) {
  if (!timestamp_is_finite(timestamp)) return timestamp;
  TimeUnit unit = find_trunc_unit(word);
  DateTimeFields fields = fields_of_timestamp(timestamp);
  if (!truncate_fields(unit, fields)) throw_bad_unit(word, unit, "timestamp without time zone");
  return timestamp_of_fields(fields);
}

int64_t timestamptz_trunc(std::string_view word, int64_t timestamptz, const TimeZone& zone) {
  if (!timestamp_is_finite(timestamptz)) return timestamptz;
  TimeUnit unit = find_trunc_unit(word);
  TimeZone::Offset offset;
  DateTimeFields fields = fields_of_timestamptz(timestamptz, zone, &offset);
  if (!truncate_fields(unit, fields)) throw_bad_unit(word, unit, "timestamp with time zone");
  // Below a day the offset stays what it was, so that the repeated hour of autumn is not mixed up.
  if (unit <= TimeUnit::hour)
    return timestamp_of_fields(fields) - offset.seconds_east * usecs_per_second;
  return timestamptz_of_fields(fields, zone);
}

Interval interval_trunc(std::string_view word, const Interval& interval) {
  TimeUnit unit = find_trunc_unit(word);
  auto cut = [](auto value, auto length) { return value / length * length; };
  Interval result = interval;
  switch (unit) {
    case TimeUnit::millennium:
      return {0, 0, cut(interval.month, 12000)};
    case TimeUnit::century:
      return {0, 0, cut(interval.month, 1200)};
    case TimeUnit::decade:
      return {0, 0, cut(interval.month, 120)};
    case TimeUnit::year:
      return {0, 0, cut(interval.month, 12)};
    case TimeUnit::quarter:
      return {0, 0, cut(interval.month, 3)};
    case TimeUnit::month:
      return {0, 0, interval.month};
    case TimeUnit::day:
      return {0, interval.day, interval.month};
    case TimeUnit::hour:
      result.time = cut(interval.time, usecs_per_hour);
      return result;
    case TimeUnit::minute:
      result.time = cut(interval.time, usecs_per_minute);
      return result;
    case TimeUnit::second:
      result.time = cut(interval.time, usecs_per_second);
      return result;
    case TimeUnit::millisecond:
      result.time = cut(interval.time, int64_t{1000});
      return result;
    case TimeUnit::microsecond:
      return result;
    case TimeUnit::week:
      throw SqlError(sqlstate::feature_not_supported,
                     concat("unit \"", word, "\" not supported for type interval"))
          .detail("Months usually have fractional weeks.");
    default:
      throw_bad_unit(word, unit, "interval");
  }
}

int64_t timestamp_bin(const Interval& stride, int64_t timestamp, int64_t origin) {
  if (!timestamp_is_finite(timestamp)) return timestamp;
  if (!timestamp_is_finite(origin)) {
    throw SqlError(sqlstate::datetime_field_overflow, "origin out of range");
  }
  if (stride.month != 0) {
    throw SqlError(sqlstate::feature_not_supported,
                   "timestamps cannot be binned into intervals containing months or years");
  }
  int64_t width;
  if (__builtin_mul_overflow(int64_t{stride.day}, usecs_per_day, &width) ||
      __builtin_add_overflow(width, stride.time, &width)) {
    throw SqlError(sqlstate::datetime_field_overflow, "interval out of range");
  }
  if (width <= 0)
    throw SqlError(sqlstate::datetime_field_overflow, "stride must be greater than zero");
  int64_t distance;
  if (__builtin_sub_overflow(timestamp, origin, &distance)) {
    throw SqlError(sqlstate::datetime_field_overflow, "interval out of range");
  }
  // The start of the bin towards the origin lies between the two, the one before it may lie beyond
  // all.
  int64_t excess = distance % width;
  int64_t bin = origin + (distance - excess);
  if (excess < 0 && (__builtin_sub_overflow(bin, width, &bin) || !is_valid_timestamp(bin))) {
    throw SqlError(sqlstate::datetime_field_overflow, "timestamp out of range");
  }
  return bin;
}

}  // namespace pgsilo
