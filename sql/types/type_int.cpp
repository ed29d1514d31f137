// int2, int4 and int8, and the arithmetic errors of integers.
#include "sql/sql_error.h"
#include "sql/types/integer.h"
#include "sql/types/scan.h"
#include "sql/types/type_functions.h"

namespace pgsilo {

namespace {
std::string_view integer_type_name(size_t width) {
  return width == 2 ? "smallint" : width == 4 ? "integer" : "bigint";
}
}  // namespace

void throw_integer_out_of_range(size_t width) {
  throw SqlError(sqlstate::numeric_value_out_of_range,
                 concat(integer_type_name(width), " out of range"));
}

void throw_division_by_zero() { throw SqlError(sqlstate::division_by_zero, "division by zero"); }

int64_t parse_integer(std::string_view text, size_t width) {
  const char* at = text.data();
  const char* end = at + text.size();
  while (at != end && is_space(*at)) ++at;
  bool negative = at != end && *at == '-';
  if (at != end && (*at == '-' || *at == '+')) ++at;
  if (at == end || !is_digit(*at)) throw_invalid_syntax(integer_type_name(width), text);
  // Accumulates below zero, where one more value fits than above.
  int64_t value = 0;
  bool overflow = false;
  for (; at != end && is_digit(*at); ++at) {
    overflow |= __builtin_mul_overflow(value, int64_t{10}, &value);
    overflow |= __builtin_sub_overflow(value, int64_t{*at - '0'}, &value);
    if (overflow) break;
  }
  // The digits may be too many and the rest be wrong; PostgreSQL reports what it meets first.
  if (overflow) throw_value_out_of_range(integer_type_name(width), text);
  while (at != end && is_space(*at)) ++at;
  if (at != end) throw_invalid_syntax(integer_type_name(width), text);
  if (!negative && __builtin_sub_overflow(int64_t{0}, value, &value)) {
    throw_value_out_of_range(integer_type_name(width), text);
  }
  int64_t limit = width == 8 ? INT64_MAX : (int64_t{1} << (8 * width - 1)) - 1;
  if (value > limit || value < -limit - 1) throw_value_out_of_range(integer_type_name(width), text);
  return value;
}

namespace types {

template <size_t width>
Datum parse_int(const TypeInfo&, std::string_view text, int32_t, TypeContext&) {
  return Datum::of_int(parse_integer(text, width));
}

void print_int(const TypeInfo&, Datum value, ByteBuffer& out, const TypeContext&) {
  out.append_decimal(value.i64);
}

template <size_t width>
Datum receive_int(const TypeInfo&, std::string_view bytes, int32_t, TypeContext&) {
  const char* from = exact_bytes(bytes, width);
  if constexpr (width == 2) return Datum::of_int(static_cast<int16_t>(load_be16(from)));
  if constexpr (width == 4) return Datum::of_int(static_cast<int32_t>(load_be32(from)));
  return Datum::of_int(static_cast<int64_t>(load_be64(from)));
}

template <size_t width>
void send_int(const TypeInfo&, Datum value, ByteBuffer& out, const TypeContext&) {
  if constexpr (width == 2) out.append_be16(static_cast<uint16_t>(value.i64));
  if constexpr (width == 4) out.append_be32(static_cast<uint32_t>(value.i64));
  if constexpr (width == 8) out.append_be64(static_cast<uint64_t>(value.i64));
}

template Datum parse_int<2>(const TypeInfo&, std::string_view, int32_t, TypeContext&);
template Datum parse_int<4>(const TypeInfo&, std::string_view, int32_t, TypeContext&);
template Datum parse_int<8>(const TypeInfo&, std::string_view, int32_t, TypeContext&);
template Datum receive_int<2>(const TypeInfo&, std::string_view, int32_t, TypeContext&);
template Datum receive_int<4>(const TypeInfo&, std::string_view, int32_t, TypeContext&);
template Datum receive_int<8>(const TypeInfo&, std::string_view, int32_t, TypeContext&);
template void send_int<2>(const TypeInfo&, Datum, ByteBuffer&, const TypeContext&);
template void send_int<4>(const TypeInfo&, Datum, ByteBuffer&, const TypeContext&);
template void send_int<8>(const TypeInfo&, Datum, ByteBuffer&, const TypeContext&);

}  // namespace types
}  // namespace pgsilo
