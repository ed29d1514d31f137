// Timestamps, times and intervals added to and taken from each other.
#include <algorithm>

#include "sql/sql_error.h"
#include "sql/types/date_time.h"
#include "sql/types/date_time_internal.h"

namespace pgsilo {
namespace {

// The same clock time some months later; the day is cut to the month's length.
void add_months(DateTimeFields& fields, int32_t months) {
  int64_t month = int64_t{fields.year} * 12 + fields.month - 1 + months;
  int64_t year = month / 12 - (month % 12 < 0 ? 1 : 0);
  if (year < -4713 || year > 294277) throw_timestamp_out_of_range();
  fields.year = static_cast<int32_t>(year);
  fields.month = static_cast<int32_t>(month - year * 12) + 1;
  fields.day = std::min(fields.day, days_in_month(fields.year, fields.month));
}

// Days carry over in the calendar, so that a day is a day also where the clock changes.
void add_days(DateTimeFields& fields, int32_t days) {
  int64_t julian = int64_t{julian_day(fields.year, fields.month, fields.day)} + days;
  if (julian < 0 || julian > 109203528) throw_timestamp_out_of_range();
  from_julian_day(static_cast<int32_t>(julian), &fields.year, &fields.month, &fields.day);
}

int64_t add_time(int64_t timestamp, int64_t time) {
  int64_t result;
  if (__builtin_add_overflow(timestamp, time, &result)) throw_timestamp_out_of_range();
  // Both ends of the range are checked where fields become a timestamp.
  if (!timestamp_is_finite(result)) throw_timestamp_out_of_range();
  return timestamp_of_fields(fields_of_timestamp(result));
}

// PostgreSQL 15 takes infinity for the greatest timestamp here, and refuses -infinity.
void check_age_argument(int64_t timestamp) {
  if (timestamp == timestamp_minus_infinity) throw_timestamp_out_of_range();
}

Interval age_of(const DateTimeFields& left, const DateTimeFields& right, bool negative) {
  // Differences field by field, in the direction that is not negative as a whole.
  int sign = negative ? -1 : 1;
  int64_t microsecond = sign * (int64_t{left.microsecond} - right.microsecond);
  int64_t second = sign * (int64_t{left.second} - right.second);
  int64_t minute = sign * (int64_t{left.minute} - right.minute);
  int64_t hour = sign * (int64_t{left.hour} - right.hour);
  int64_t day = sign * (int64_t{left.day} - right.day);
  int64_t month = sign * (int64_t{left.month} - right.month);
  int64_t year = sign * (int64_t{left.year} - right.year);
  auto borrow = [](int64_t& low, int64_t& high, int64_t unit) {
    while (low < 0) {
      low += unit;
      --high;
    }
  };
  borrow(microsecond, second, usecs_per_second);
  borrow(second, minute, 60);
  borrow(minute, hour, 60);
  borrow(hour, day, 24);
  const DateTimeFields& earlier = negative ? left : right;
  borrow(day, month, days_in_month(earlier.year, earlier.month));
  borrow(month, year, 12);
  Interval age;
  age.month = static_cast<int32_t>(sign * (year * 12 + month));
  age.day = static_cast<int32_t>(sign * day);
  age.time = sign * (((hour * 60 + minute) * 60 + second) * usecs_per_second + microsecond);
  return age;
}

// The least int has no negation: PostgreSQL's stays what it is.
Interval wrapped_negation(const Interval& interval) {
  return {static_cast<int64_t>(0 - static_cast<uint64_t>(interval.time)),
          static_cast<int32_t>(-int64_t{interval.day}),
          static_cast<int32_t>(-int64_t{interval.month})};
}

}  // namespace

int64_t timestamp_add_interval(int64_t timestamp, const Interval& interval) {
  if (!timestamp_is_finite(timestamp)) return timestamp;
  if (interval.month != 0) {
    DateTimeFields fields = fields_of_timestamp(timestamp);
    add_months(fields, interval.month);
    timestamp = timestamp_of_fields(fields);
  }
  if (interval.day != 0) {
    DateTimeFields fields = fields_of_timestamp(timestamp);
    add_days(fields, interval.day);
    timestamp = timestamp_of_fields(fields);
  }
  return add_time(timestamp, interval.time);
}

int64_t timestamp_sub_interval(int64_t timestamp, const Interval& interval) {
  if (!timestamp_is_finite(timestamp)) return timestamp;
  return timestamp_add_interval(timestamp, wrapped_negation(interval));
}

int64_t timestamptz_add_interval(int64_t timestamptz, const Interval& interval,
                                 const TimeZone& zone) {
  if (!timestamp_is_finite(timestamptz)) return timestamptz;
  TimeZone::Offset offset;
  if (interval.month != 0) {
    DateTimeFields fields = fields_of_timestamptz(timestamptz, zone, &offset);
    add_months(fields, interval.month);
    timestamptz = timestamptz_of_fields(fields, zone);
  }
  if (interval.day != 0) {
    DateTimeFields fields = fields_of_timestamptz(timestamptz, zone, &offset);
    add_days(fields, interval.day);
    timestamptz = timestamptz_of_fields(fields, zone);
  }
  return add_time(timestamptz, interval.time);
}

int64_t timestamptz_sub_interval(int64_t timestamptz, const Interval& interval,
                                 const TimeZone& zone) {
  if (!timestamp_is_finite(timestamptz)) return timestamptz;
  return timestamptz_add_interval(timestamptz, wrapped_negation(interval), zone);
}

Interval timestamp_sub_timestamps(int64_t left, int64_t right) {
  if (!timestamp_is_finite(left) || !timestamp_is_finite(right)) {
    throw SqlError(sqlstate::datetime_field_overflow, "cannot subtract infinite timestamps");
  }
  // PostgreSQL 15 does not look for overflow here: a difference of more than 292,000 years wraps.
  int64_t difference;
  (void)__builtin_sub_overflow(left, right, &difference);
  return justify_hours({difference, 0, 0});
}

namespace {
// A time of day; what overflowed before has wrapped around, as PostgreSQL's does.
int64_t within_a_day(uint64_t wrapped) {
  int64_t time = static_cast<int64_t>(wrapped) % usecs_per_day;
  return time < 0 ? time + usecs_per_day : time;
}
}  // namespace

int64_t time_add_interval(int64_t time, const Interval& interval) {
  return within_a_day(static_cast<uint64_t>(time) + static_cast<uint64_t>(interval.time));
}

int64_t time_sub_interval(int64_t time, const Interval& interval) {
  return within_a_day(static_cast<uint64_t>(time) - static_cast<uint64_t>(interval.time));
}

Interval time_sub_times(int64_t left, int64_t right) { return {left - right, 0, 0}; }

Interval timestamp_age(int64_t left, int64_t right) {
  check_age_argument(left);
  check_age_argument(right);
  return age_of(fields_of_timestamp(left), fields_of_timestamp(right), left < right);
}

Interval timestamptz_age(int64_t left, int64_t right, const TimeZone& zone) {
  check_age_argument(left);
  check_age_argument(right);
  TimeZone::Offset left_offset, right_offset;
  DateTimeFields left_fields = fields_of_timestamptz(left, zone, &left_offset);
  DateTimeFields right_fields = fields_of_timestamptz(right, zone, &right_offset);
  return age_of(left_fields, right_fields, left < right);
}

}  // namespace pgsilo
