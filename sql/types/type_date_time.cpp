// date, time, timestamp and timestamptz: their entries in the table of types, binary forms and
// modifiers.
#include <algorithm>

#include "sql/limits.h"
#include "sql/sql_error.h"
#include "sql/types/date_time.h"
#include "sql/types/date_time_internal.h"
#include "sql/types/type_functions.h"

namespace pgsilo::types {

Datum parse_date(const TypeInfo&, std::string_view text, int32_t, TypeContext& ctx) {
  return Datum::of_int(pgsilo::parse_date(text, ctx));
}

void print_date(const TypeInfo&, Datum value, ByteBuffer& out, const TypeContext& ctx) {
  pgsilo::print_date(value.i64, ctx, out);
}

Datum receive_date(const TypeInfo&, std::string_view bytes, int32_t, TypeContext&) {
  int32_t date = static_cast<int32_t>(load_be32(exact_bytes(bytes, 4)));
  if (date_is_finite(date) && !is_valid_date(date)) {
    throw SqlError(sqlstate::datetime_field_overflow, "date out of range");
  }
  return Datum::of_int(date);
}

Datum parse_time(const TypeInfo&, std::string_view text, int32_t typmod, TypeContext& ctx) {
  return Datum::of_int(pgsilo::parse_time(text, typmod, ctx));
}

void print_time(const TypeInfo&, Datum value, ByteBuffer& out, const TypeContext&) {
  pgsilo::print_time(value.i64, out);
}

Datum receive_time(const TypeInfo&, std::string_view bytes, int32_t typmod, TypeContext&) {
  int64_t time = static_cast<int64_t>(load_be64(exact_bytes(bytes, 8)));
  if (time < 0 || time > usecs_per_day) {
    throw SqlError(sqlstate::datetime_field_overflow, "time out of range");
  }
  return Datum::of_int(time_apply_typmod(time, typmod));
}

Datum parse_timestamp(const TypeInfo&, std::string_view text, int32_t typmod, TypeContext& ctx) {
  return Datum::of_int(pgsilo::parse_timestamp(text, typmod, ctx));
}

void print_timestamp(const TypeInfo&, Datum value, ByteBuffer& out, const TypeContext& ctx) {
  pgsilo::print_timestamp(value.i64, ctx, out);
}

Datum receive_timestamp(const TypeInfo&, std::string_view bytes, int32_t typmod, TypeContext&) {
  int64_t timestamp = static_cast<int64_t>(load_be64(exact_bytes(bytes, 8)));
  if (timestamp_is_finite(timestamp) && !is_valid_timestamp(timestamp)) {
    throw_timestamp_out_of_range();
  }
  return Datum::of_int(timestamp_apply_typmod(timestamp, typmod));
}

Datum parse_timestamptz(const TypeInfo&, std::string_view text, int32_t typmod, TypeContext& ctx) {
  return Datum::of_int(pgsilo::parse_timestamptz(text, typmod, ctx));
}

void print_timestamptz(const TypeInfo&, Datum value, ByteBuffer& out, const TypeContext& ctx) {
  pgsilo::print_timestamptz(value.i64, ctx, out);
}

Datum apply_timestamp_typmod(const TypeInfo&, Datum value, int32_t typmod, bool, TypeContext&) {
  return Datum::of_int(timestamp_apply_typmod(value.i64, typmod));
}

Datum apply_time_typmod(const TypeInfo&, Datum value, int32_t typmod, bool, TypeContext&) {
  return Datum::of_int(time_apply_typmod(value.i64, typmod));
}

// PostgreSQL lowers what is beyond 6 with a warning.
int32_t make_time_typmod(std::span<const int32_t> modifiers) {
  if (modifiers.size() != 1) {
    throw SqlError(sqlstate::invalid_parameter_value, "invalid type modifier");
  }
  if (modifiers[0] < 0) {
    throw SqlError(sqlstate::invalid_parameter_value,
                   concat("TIMESTAMP(", modifiers[0], ") precision must not be negative"));
  }
  return std::min<int32_t>(modifiers[0], limits::max_time_precision);
}

void print_time_typmod(int32_t typmod, ByteBuffer& out) {
  out.append('(');
  out.append_decimal(typmod);
  out.append(')');
}

}  // namespace pgsilo::types
