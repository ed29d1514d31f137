// Casts that are functions in pg_cast: between numbers, between strings, and the ones that apply a
// type modifier.
#include "base/byte_buffer.h"
#include "executor/functions/function.h"
#include "sql/limits.h"
#include "sql/sql_error.h"
#include "sql/types/date_time.h"
#include "sql/types/float.h"
#include "sql/types/integer.h"
#include "sql/types/interval.h"
#include "sql/types/numeric.h"
#include "sql/types/text.h"
#include "sql/types/type.h"

namespace pgsilo::functions {
namespace {

constexpr size_t name_bytes = 63;

Datum identity(EvalContext&, const Datum* a) { return a[0]; }

template <typename Int>
Datum narrow(EvalContext&, const Datum* a) {
  return Datum::of_int(int_narrow<Int>(a[0].i64));
}
template <size_t width>
Datum float_to_int(EvalContext&, const Datum* a) {
  return Datum::of_int(float_to_integer(a[0].f64, width));
}
template <size_t width>
Datum numeric_to_int(EvalContext&, const Datum* a) {
  return Datum::of_int(numeric_to_integer(a[0], width));
}
Datum int_to_float8(EvalContext&, const Datum* a) {
  return Datum::of_float(static_cast<double>(a[0].i64));
}
Datum int_to_float4(EvalContext&, const Datum* a) {
  return Datum::of_float(static_cast<float>(a[0].i64));
}
Datum float8_to_float4(EvalContext&, const Datum* a) {
  return Datum::of_float(pgsilo::float8_to_float4(a[0].f64));
}
Datum numeric_to_float8(EvalContext&, const Datum* a) {
  return Datum::of_float(pgsilo::numeric_to_float8(a[0]));
}
Datum numeric_to_float4(EvalContext&, const Datum* a) {
  return Datum::of_float(pgsilo::numeric_to_float4(a[0]));
}
Datum int_to_numeric(EvalContext& context, const Datum* a) {
  return numeric_from_integer(a[0].i64, *context.arena);
}
Datum float8_to_numeric(EvalContext& context, const Datum* a) {
  return numeric_from_float8(a[0].f64, *context.arena);
}
Datum float4_to_numeric(EvalContext& context, const Datum* a) {
  return numeric_from_float4(static_cast<float>(a[0].f64), *context.arena);
}
Datum int_to_bool(EvalContext&, const Datum* a) { return Datum::of_bool(a[0].i64 != 0); }

// "char" is a signed byte where it becomes a number.
Datum char_to_int4(EvalContext&, const Datum* a) {
  return Datum::of_int(static_cast<int8_t>(a[0].i64));
}
Datum int4_to_char(EvalContext&, const Datum* a) {
  if (a[0].i64 < INT8_MIN || a[0].i64 > INT8_MAX) {
    throw SqlError(sqlstate::numeric_value_out_of_range, "\"char\" out of range");
  }
  return Datum::of_int(static_cast<uint8_t>(a[0].i64));
}
Datum text_to_char(EvalContext& context, const Datum* a) {
  return type_info(type_oid::single_char).parse(a[0].bytes(), no_typmod, *context.types);
}
Datum char_to_text(EvalContext& context, const Datum* a) {
  ByteBuffer text;
  type_info(type_oid::single_char).print(a[0], text, *context.types);
  return Datum::of_bytes(context.arena->copy_string(text.view()));
}

Datum bool_to_text(EvalContext&, const Datum* a) {
  return Datum::of_bytes(a[0].as_bool() ? "true" : "false");
}
Datum bpchar_to_text(EvalContext&, const Datum* a) {
  return Datum::of_bytes(bpchar_trim(a[0].bytes()));
}
Datum text_to_name(EvalContext&, const Datum* a) {
  return Datum::of_bytes(text_clip(a[0].bytes(), name_bytes));
}
Datum bpchar_to_name(EvalContext&, const Datum* a) {
  return Datum::of_bytes(text_clip(bpchar_trim(a[0].bytes()), name_bytes));
}

Datum int8_to_oid(EvalContext&, const Datum* a) {
  if (a[0].i64 < 0 || a[0].i64 > UINT32_MAX) {
    throw SqlError(sqlstate::numeric_value_out_of_range, "OID out of range");
  }
  return a[0];
}
Datum text_to_regclass(EvalContext& context, const Datum* a) {
  // Digits are a name here, not an OID.
  return Datum::of_int(context.types->object_names->find(type_oid::regclass, a[0].bytes()));
}

template <Oid type>
Datum apply_typmod(EvalContext& context, const Datum* a) {
  return type_info(type).apply_typmod(a[0], static_cast<int32_t>(a[1].i64), true, *context.types);
}
template <Oid type>
Datum apply_typmod_as(EvalContext& context, const Datum* a) {
  return type_info(type).apply_typmod(a[0], static_cast<int32_t>(a[1].i64), a[2].as_bool(),
                                      *context.types);
}

// A cast never asks for another precision, but who calls the function may.
template <Oid type>
Datum apply_precision(EvalContext& context, const Datum* a) {
  int64_t precision = a[1].i64;
  bool is_valid = precision >= no_typmod && precision <= limits::max_time_precision;
  if (!is_valid && timestamp_is_finite(a[0].i64)) {
    throw SqlError(sqlstate::invalid_parameter_value,
                   concat("timestamp(", precision, ") precision must be between 0 and ",
                          limits::max_time_precision));
  }
  return is_valid ? apply_typmod<type>(context, a) : a[0];
}

Datum timestamp_to_date(EvalContext&, const Datum* a) {
  return Datum::of_int(pgsilo::timestamp_to_date(a[0].i64));
}
Datum timestamptz_to_date(EvalContext& context, const Datum* a) {
  return Datum::of_int(pgsilo::timestamptz_to_date(a[0].i64, context.types->time_zone));
}
Datum date_to_timestamp(EvalContext&, const Datum* a) {
  return Datum::of_int(pgsilo::date_to_timestamp(a[0].i64));
}
Datum date_to_timestamptz(EvalContext& context, const Datum* a) {
  return Datum::of_int(pgsilo::date_to_timestamptz(a[0].i64, context.types->time_zone));
}
Datum timestamptz_to_timestamp(EvalContext& context, const Datum* a) {
  return Datum::of_int(pgsilo::timestamptz_to_timestamp(a[0].i64, context.types->time_zone));
}
Datum timestamp_to_timestamptz(EvalContext& context, const Datum* a) {
  return Datum::of_int(pgsilo::timestamp_to_timestamptz(a[0].i64, context.types->time_zone));
}
Datum timestamp_to_time(EvalContext&, const Datum* a) {
  return pgsilo::timestamp_to_time(a[0].i64);
}
Datum timestamptz_to_time(EvalContext& context, const Datum* a) {
  return pgsilo::timestamptz_to_time(a[0].i64, context.types->time_zone);
}
Datum interval_to_time(EvalContext&, const Datum* a) {
  return Datum::of_int(pgsilo::interval_to_time(interval_of(a[0])));
}
Datum time_to_interval(EvalContext& context, const Datum* a) {
  return interval_datum(pgsilo::time_to_interval(a[0].i64), *context.arena);
}

constexpr FunctionEntry entries[] = {
    {313, identity},         // int4(int2)
    {314, narrow<int16_t>},  // int2(int4)
    {480, narrow<int32_t>},  // int4(int8)
    {481, identity},         // int8(int4)
    {714, narrow<int16_t>},  // int2(int8)
    {754, identity},         // int8(int2)
    {237, float_to_int<2>},  // of float8
    {317, float_to_int<4>},
    {483, float_to_int<8>},
    {238, float_to_int<2>},  // of float4
    {319, float_to_int<4>},
    {653, float_to_int<8>},
    {1783, numeric_to_int<2>},
    {1744, numeric_to_int<4>},
    {1779, numeric_to_int<8>},
    {235, int_to_float8},
    {316, int_to_float8},
    {482, int_to_float8},
    {311, identity},  // float8(float4)
    {236, int_to_float4},
    {318, int_to_float4},
    {652, int_to_float4},
    {312, float8_to_float4},
    {1746, numeric_to_float8},
    {1745, numeric_to_float4},
    {1740, int_to_numeric},
    {1781, int_to_numeric},
    {1782, int_to_numeric},
    {1743, float8_to_numeric},
    {1742, float4_to_numeric},
    {2557, int_to_bool},
    {2558, identity},  // int4(bool)
    {77, char_to_int4},
    {78, int4_to_char},
    {944, text_to_char},
    {946, char_to_text},
    {860, char_to_text},  // bpchar("char")
    {2971, bool_to_text},
    {401, bpchar_to_text},
    {406, identity},   // text(name)
    {408, identity},   // bpchar(name)
    {1401, identity},  // varchar(name)
    {407, text_to_name},
    {1400, text_to_name},  // name(varchar)
    {409, bpchar_to_name},
    {1287, int8_to_oid},
    {1288, identity},  // int8(oid)
    {1079, text_to_regclass},
    {668, apply_typmod_as<type_oid::bpchar>},
    {669, apply_typmod_as<type_oid::varchar>},
    {1703, apply_typmod<type_oid::numeric>},
    {1961, apply_precision<type_oid::timestamp>},
    {1967, apply_precision<type_oid::timestamptz>},
    {1968, apply_typmod<type_oid::time>},
    {1969, apply_typmod<type_oid::timetz>},
    {1200, apply_typmod<type_oid::interval>},
    {2029, timestamp_to_date},
    {1178, timestamptz_to_date},
    {2024, date_to_timestamp},
    {1174, date_to_timestamptz},
    {2027, timestamptz_to_timestamp},
    {2028, timestamp_to_timestamptz},
    {1316, timestamp_to_time},
    {2019, timestamptz_to_time},
    {1419, interval_to_time},
    {1370, time_to_interval},
};

}  // namespace

std::span<const FunctionEntry> conversion() { return entries; }

}  // namespace pgsilo::functions
