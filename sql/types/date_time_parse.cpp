// Dates, times and timestamps from text.
#include "sql/limits.h"
#include "sql/sql_error.h"
#include "sql/types/date_time.h"
#include "sql/types/date_time_decode.h"
#include "sql/types/date_time_internal.h"
#include "sql/types/scan.h"

namespace pgsilo {

namespace {

constexpr std::string_view date_name = "date";
constexpr std::string_view time_name = "time";
constexpr std::string_view timestamp_name = "timestamp";
constexpr std::string_view timestamptz_name = "timestamp with time zone";

// Digits at fixed places; -1 if one is none.
int digits_at(const char* at, int count) {
  int value = 0;
  for (int i = 0; i < count; ++i) {
    if (!is_digit(at[i])) return -1;
    value = value * 10 + (at[i] - '0');
  }
  return value;
}

// "2020-01-05", which is what nearly all dates look like; false for anything else, right or wrong.
bool scan_iso_date(std::string_view text, DateTimeFields* fields) {
  if (text.size() < 10 || text[4] != '-' || text[7] != '-') return false;
  fields->year = digits_at(text.data(), 4);
  fields->month = digits_at(text.data() + 5, 2);
  fields->day = digits_at(text.data() + 8, 2);
  return fields->year > 0 && fields->month >= 1 && fields->month <= 12 && fields->day >= 1 &&
         fields->day <= days_in_month(fields->year, fields->month);
}

// "2020-01-05 10:11:12" with up to six digits of a fraction and nothing after.
bool scan_iso_timestamp(std::string_view text, DateTimeFields* fields) {
  if (text.size() < 19 || (text[10] != ' ' && text[10] != 'T') || text[13] != ':' ||
      text[16] != ':' || !scan_iso_date(text, fields)) {
    return false;
  }
  fields->hour = digits_at(text.data() + 11, 2);
  fields->minute = digits_at(text.data() + 14, 2);
  fields->second = digits_at(text.data() + 17, 2);
  fields->microsecond = 0;
  if (text.size() > 19) {
    int digits = static_cast<int>(text.size()) - 20;
    if (text[19] != '.' || digits < 1 || digits > 6) return false;
    int fraction = digits_at(text.data() + 20, digits);
    if (fraction < 0) return false;
    for (; digits < 6; ++digits) fraction *= 10;
    fields->microsecond = fraction;
  }
  return fields->hour >= 0 && fields->hour < 24 && fields->minute >= 0 && fields->minute < 60 &&
         fields->second >= 0 && fields->second < 60;
}

void decode(std::string_view text, const TypeContext& ctx, std::string_view type_name,
            bool time_only, DecodedTime* decoded) {
  InputFields input;
  DecodeStatus status = input.split(text);
  if (status == DecodeStatus::ok) {
    status =
        time_only ? decode_time_only(input, ctx, decoded) : decode_date_time(input, ctx, decoded);
  }
  if (status != DecodeStatus::ok) throw_decode_error(status, type_name, text, decoded->bad_zone);
}

[[noreturn]] void throw_out_of_range(std::string_view type_name, std::string_view text) {
  throw SqlError(sqlstate::datetime_field_overflow,
                 concat(type_name, " out of range: \"", text, "\""));
}

int64_t days_of(const DateTimeFields& fields) {
  return int64_t{julian_day(fields.year, fields.month, fields.day)} - postgres_epoch_julian;
}

// An infinity or the epoch; false for a moment.
bool special_timestamp(DecodedKind kind, int64_t* timestamp) {
  switch (kind) {
    case DecodedKind::moment:
      return false;
    case DecodedKind::epoch:
      *timestamp = -postgres_epoch_unix_seconds * usecs_per_second;
      break;
    case DecodedKind::infinity:
      *timestamp = timestamp_infinity;
      break;
    case DecodedKind::minus_infinity:
      *timestamp = timestamp_minus_infinity;
      break;
  }
  return true;
}

}  // namespace

int64_t parse_date(std::string_view text, const TypeContext& ctx) {
  DecodedTime decoded;
  if (text.size() == 10 && scan_iso_date(text, &decoded.fields)) return days_of(decoded.fields);
  decode(text, ctx, date_name, false, &decoded);
  switch (decoded.kind) {
    case DecodedKind::epoch:
      return unix_epoch_julian - postgres_epoch_julian;
    case DecodedKind::infinity:
      return date_infinity;
    case DecodedKind::minus_infinity:
      return date_minus_infinity;
    case DecodedKind::moment:
      break;
  }
  const DateTimeFields& fields = decoded.fields;
  if (!is_valid_julian(fields.year, fields.month) || !is_valid_date(days_of(fields))) {
    throw_out_of_range(date_name, text);
  }
  return days_of(fields);
}

int64_t parse_time(std::string_view text, int32_t typmod, const TypeContext& ctx) {
  DecodedTime decoded;
  decode(text, ctx, time_name, true, &decoded);
  return time_apply_typmod(time_of_fields(decoded.fields), typmod);
}

int64_t parse_timestamp(std::string_view text, int32_t typmod, const TypeContext& ctx) {
  DecodedTime decoded;
  int64_t timestamp = 0;
  if (!scan_iso_timestamp(text, &decoded.fields)) {
    decode(text, ctx, timestamp_name, false, &decoded);
    if (special_timestamp(decoded.kind, &timestamp)) return timestamp;
  }
  if (!join_timestamp(decoded.fields, &timestamp)) throw_out_of_range(timestamp_name, text);
  return timestamp_apply_typmod(timestamp, typmod);
}

int64_t parse_timestamptz(std::string_view text, int32_t typmod, const TypeContext& ctx) {
  DecodedTime decoded;
  int64_t timestamp = 0;
  if (scan_iso_timestamp(text, &decoded.fields)) {
    decoded.zone_east = ctx.time_zone.offset_at_local(local_seconds(decoded.fields));
  } else {
    decode(text, ctx, timestamptz_name, false, &decoded);
    if (special_timestamp(decoded.kind, &timestamp)) return timestamp;
  }
  const DateTimeFields& fields = decoded.fields;
  if (!is_valid_julian(fields.year, fields.month) ||
      __builtin_mul_overflow(days_of(fields), usecs_per_day, &timestamp) ||
      __builtin_add_overflow(
          timestamp, time_of_fields(fields) - decoded.zone_east * usecs_per_second, &timestamp) ||
      !is_valid_timestamp(timestamp)) {
    throw_out_of_range("timestamp", text);
  }
  return timestamp_apply_typmod(timestamp, typmod);
}

// Rounds half away from zero, as PostgreSQL's AdjustTimestampForTypmod.
static int64_t round_to_precision(int64_t microseconds, int32_t precision) {
  static constexpr int64_t units[] = {1000000, 100000, 10000, 1000, 100, 10, 1};
  int64_t unit = units[precision];
  int64_t half = unit / 2;
  if (microseconds >= 0) return (microseconds + half) / unit * unit;
  return -((-microseconds + half) / unit * unit);
}

int64_t timestamp_apply_typmod(int64_t timestamp, int32_t typmod) {
  if (typmod < 0 || typmod >= limits::max_time_precision || !timestamp_is_finite(timestamp)) {
    return timestamp;
  }
  return round_to_precision(timestamp, typmod);
}

int64_t time_apply_typmod(int64_t time, int32_t typmod) {
  if (typmod < 0 || typmod >= limits::max_time_precision) return time;
  return round_to_precision(time, typmod);
}

}  // namespace pgsilo
