// time with time zone: operations, text and binary forms, and its entry in the table of types.
#include "sql/sql_error.h"
#include "sql/types/date_time.h"
#include "sql/types/date_time_decode.h"
#include "sql/types/date_time_internal.h"
#include "sql/types/time_with_zone.h"
#include "sql/types/type_functions.h"

namespace pgsilo {

namespace {

constexpr size_t datum_bytes = 12;
constexpr int32_t zone_limit_seconds = 16 * 3600;

int64_t utc_time(const TimeWithZone& value) {
  return value.time + value.seconds_west * usecs_per_second;
}

}  // namespace

TimeWithZone time_with_zone_of(Datum value) {
  TimeWithZone result;
  std::memcpy(&result.time, value.ptr, sizeof result.time);
  std::memcpy(&result.seconds_west, value.ptr + sizeof result.time, sizeof result.seconds_west);
  return result;
}

Datum time_with_zone_datum(const TimeWithZone& value, Arena& arena) {
  char* place = static_cast<char*>(arena.allocate(datum_bytes, 1));
  std::memcpy(place, &value.time, sizeof value.time);
  std::memcpy(place + sizeof value.time, &value.seconds_west, sizeof value.seconds_west);
  return Datum::of_bytes({place, datum_bytes});
}

int time_with_zone_compare(const TimeWithZone& left, const TimeWithZone& right) {
  int64_t a = utc_time(left);
  int64_t b = utc_time(right);
  if (a != b) return a < b ? -1 : 1;
  return left.seconds_west < right.seconds_west ? -1 : left.seconds_west > right.seconds_west;
}

TimeWithZone timestamptz_to_time_with_zone(int64_t timestamptz, const TimeZone& zone) {
  TimeZone::Offset offset;
  DateTimeFields fields = fields_of_timestamptz(timestamptz, zone, &offset);
  return {time_of_fields(fields), -offset.seconds_east};
}

TimeWithZone time_to_time_with_zone(int64_t time, const TypeContext& ctx) {
  TimeZone::Offset offset;
  fields_of_timestamptz(ctx.transaction_timestamp, ctx.time_zone, &offset);
  return {time, -offset.seconds_east};
}

TimeWithZone time_in_zone(const TimeWithZone& value, const TimeZone& zone, int64_t now) {
  TimeZone::Offset offset;
  fields_of_timestamptz(now, zone, &offset);
  int64_t time = utc_time(value) + offset.seconds_east * usecs_per_second;
  time -= floor_divide(time, usecs_per_day) * usecs_per_day;
  return {time, -offset.seconds_east};
}

int64_t date_time_to_timestamptz(int64_t date, const TimeWithZone& time) {
  int64_t midnight = date_to_timestamp(date);
  if (!timestamp_is_finite(midnight)) return midnight;
  int64_t moment = midnight + utc_time(time);
  if (!is_valid_timestamp(moment)) throw_date_out_of_range_for_timestamp();
  return moment;
}

TimeWithZone parse_time_with_zone(std::string_view text, int32_t typmod, const TypeContext& ctx) {
  DecodedTime decoded;
  InputFields input;
  DecodeStatus status = input.split(text);
  if (status == DecodeStatus::ok) status = decode_time_only(input, ctx, &decoded);
  if (status != DecodeStatus::ok) {
    throw_decode_error(status, "time with time zone", text, decoded.bad_zone);
  }
  return {time_apply_typmod(time_of_fields(decoded.fields), typmod), -decoded.zone_east};
}

void print_time_with_zone(const TimeWithZone& value, ByteBuffer& out) {
  print_time(value.time, out);
  print_offset(-int64_t{value.seconds_west}, out);
}

namespace types {

Datum parse_timetz(const TypeInfo&, std::string_view text, int32_t typmod, TypeContext& ctx) {
  return time_with_zone_datum(parse_time_with_zone(text, typmod, ctx), *ctx.arena);
}

void print_timetz(const TypeInfo&, Datum value, ByteBuffer& out, const TypeContext&) {
  print_time_with_zone(time_with_zone_of(value), out);
}

Datum receive_timetz(const TypeInfo&, std::string_view bytes, int32_t typmod, TypeContext& ctx) {
  const char* from = exact_bytes(bytes, datum_bytes);
  TimeWithZone value{static_cast<int64_t>(load_be64(from)),
                     static_cast<int32_t>(load_be32(from + 8))};
  if (value.time < 0 || value.time > usecs_per_day) {
    throw SqlError(sqlstate::datetime_field_overflow, "time out of range");
  }
  if (value.seconds_west <= -zone_limit_seconds || value.seconds_west >= zone_limit_seconds) {
    throw SqlError(sqlstate::invalid_time_zone_displacement_value,
                   "time zone displacement out of range");
  }
  value.time = time_apply_typmod(value.time, typmod);
  return time_with_zone_datum(value, *ctx.arena);
}

void send_timetz(const TypeInfo&, Datum value, ByteBuffer& out, const TypeContext&) {
  TimeWithZone time = time_with_zone_of(value);
  out.append_be64(static_cast<uint64_t>(time.time));
  out.append_be32(static_cast<uint32_t>(time.seconds_west));
}

int compare_timetz(const TypeInfo&, Datum left, Datum right) {
  return time_with_zone_compare(time_with_zone_of(left), time_with_zone_of(right));
}

Datum apply_timetz_typmod(const TypeInfo&, Datum value, int32_t typmod, bool, TypeContext& ctx) {
  TimeWithZone time = time_with_zone_of(value);
  time.time = time_apply_typmod(time.time, typmod);
  return time_with_zone_datum(time, *ctx.arena);
}

}  // namespace types
}  // namespace pgsilo
