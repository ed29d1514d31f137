// float4 and float8: text and binary forms.
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

#include "sql/sql_error.h"
#include "sql/types/float.h"
#include "sql/types/scan.h"
#include "sql/types/type_functions.h"

namespace pgsilo {

namespace {

std::string_view float_type_name(bool is_float4) { return is_float4 ? "real" : "double precision"; }

// What plain decimals do not cover: infinities, NaN with a payload, hexadecimal. strtod reads them
// as PostgreSQL does; the process never leaves the "C" locale.
template <typename Float>
Float parse_unusual_float(std::string_view text, std::string_view number, bool is_float4) {
  std::string terminated(number);
  char* end = nullptr;
  errno = 0;
  Float value;
  if constexpr (sizeof(Float) == 4) {
    value = std::strtof(terminated.c_str(), &end);
  } else {
    value = std::strtod(terminated.c_str(), &end);
  }
  if (end == terminated.c_str() || end != terminated.c_str() + terminated.size()) {
    throw_invalid_syntax(float_type_name(is_float4), text);
  }
  if (errno == ERANGE && (value == 0 || std::isinf(value))) {
    throw SqlError(
        sqlstate::numeric_value_out_of_range,
        concat("\"", number, "\" is out of range for type ", float_type_name(is_float4)));
  }
  return value;
}

template <typename Float>
Float parse_as(std::string_view text, bool is_float4) {
  std::string_view number = trim_space(text);
  std::string_view digits = number;
  if (!digits.empty() && digits[0] == '+') digits.remove_prefix(1);
  if (digits.empty() || (digits.size() < number.size() && digits[0] == '-')) {
    throw_invalid_syntax(float_type_name(is_float4), text);
  }
  Float value;
  const char* end = digits.data() + digits.size();
  auto [stop, error] = std::from_chars(digits.data(), end, value);
  // Zero and infinity may stand for a number out of range; the slow way tells.
  if (error == std::errc() && stop == end && value != 0 && std::isfinite(value)) return value;
  return parse_unusual_float<Float>(text, number, is_float4);
}

// Whether the decimal digits * 10^exponent lies exactly between `value` and a neighbour. Such
// digits read back as `value` only by the rule of ties to even; PostgreSQL's shortest text does not
// lean on that, so 1e23 prints as 9.999999999999999e+22.
template <typename Float>
bool is_halfway(Float value, uint64_t digits, int exponent) {
  constexpr int max_power_of_five = 23;
  int binary_exponent;
  Float fraction = std::frexp(std::fabs(value), &binary_exponent);
  constexpr int mantissa_bits = std::numeric_limits<Float>::digits;
  auto mantissa = static_cast<uint64_t>(std::ldexp(fraction, mantissa_bits));
  binary_exponent -= mantissa_bits;
  if (exponent < 0 || exponent > max_power_of_five || digits == 0) return false;
  // digits * 5^exponent * 2^exponent = (2 mantissa +- 1) * 2^(binary_exponent - 1): compare odd
  // parts and powers of two.
  int twos = __builtin_ctzll(digits);
  unsigned __int128 odd = digits >> twos;
  for (int i = 0; i < exponent; ++i) odd *= 5;
  if (twos + exponent != binary_exponent - 1) return false;
  return odd == 2 * mantissa + 1 || odd == 2 * mantissa - 1;
}

// The digits of d.ddde+xx and the power of ten of the last of them.
uint64_t digits_of(std::string_view text, int* exponent) {
  uint64_t digits = 0;
  int after_point = -1;
  size_t at = text[0] == '-' ? 1 : 0;
  for (; text[at] != 'e'; ++at) {
    if (text[at] == '.') {
      after_point = 0;
    } else {
      digits = digits * 10 + static_cast<uint64_t>(text[at] - '0');
      if (after_point >= 0) ++after_point;
    }
  }
  size_t start = text[at + 1] == '+' ? at + 2 : at + 1;
  std::from_chars(text.data() + start, text.data() + text.size(), *exponent);
  *exponent -= std::max(after_point, 0);
  return digits;
}

// The shortest digits strictly nearer to `value` than to its neighbours, as d.ddde+xx; returns the
// end.
template <typename Float>
char* shortest_scientific(Float value, char* text, char* limit) {
  char* end = std::to_chars(text, limit, value, std::chars_format::scientific).ptr;
  // Below this, what lies halfway between two values has more digits than are ever printed.
  if (std::fabs(value) < std::ldexp(Float{1}, std::numeric_limits<Float>::digits)) return end;
  int exponent;
  uint64_t digits = digits_of({text, static_cast<size_t>(end - text)}, &exponent);
  if (!is_halfway(value, digits, exponent)) return end;
  for (int precision = 1; precision <= std::numeric_limits<Float>::max_digits10; ++precision) {
    end = std::to_chars(text, limit, value, std::chars_format::scientific, precision).ptr;
    Float again;
    std::from_chars(text, end, again);
    digits = digits_of({text, static_cast<size_t>(end - text)}, &exponent);
    while (digits % 10 == 0) {
      digits /= 10;
      ++exponent;
    }
    if (again == value && !is_halfway(value, digits, exponent)) break;
  }
  return end;
}

// Lays out shortest digits as PostgreSQL does: plain between 10^-4 and 10^(digits10), else with an
// exponent.
template <typename Float>
void print_shortest(Float value, int plain_exponent_limit, ByteBuffer& out) {
  char text[32];
  char* end = shortest_scientific(value, text, text + sizeof text);
  char* mantissa = text;
  if (*mantissa == '-') out.append(*mantissa++);
  char* mark = end - 1;
  while (*mark != 'e') --mark;
  int exponent = 0;
  std::from_chars(mark[1] == '+' ? mark + 2 : mark + 1, end, exponent);
  if (exponent < -4 || exponent >= plain_exponent_limit) {
    out.append(std::string_view(mantissa, static_cast<size_t>(end - mantissa)));
    return;
  }
  // Digits without the point.
  char digits[24];
  size_t count = 0;
  for (char* at = mantissa; at != mark; ++at) {
    if (*at != '.') digits[count++] = *at;
  }
  if (exponent < 0) {
    out.append("0.");
    out.append_repeated('0', static_cast<size_t>(-exponent - 1));
    out.append(std::string_view(digits, count));
    return;
  }
  size_t whole = static_cast<size_t>(exponent) + 1;
  if (count <= whole) {
    out.append(std::string_view(digits, count));
    out.append_repeated('0', whole - count);
  } else {
    out.append(std::string_view(digits, whole));
    out.append('.');
    out.append(std::string_view(digits + whole, count - whole));
  }
}

template <typename Float>
void print_float(Float value, int extra_float_digits, int decimal_digits, ByteBuffer& out) {
  if (std::isnan(value)) {
    out.append("NaN");
  } else if (std::isinf(value)) {
    out.append(value > 0 ? "Infinity" : "-Infinity");
  } else if (extra_float_digits > 0) {
    print_shortest(value, decimal_digits, out);
  } else {
    int precision = std::max(decimal_digits + extra_float_digits, 1);
    char* place = out.reserve(40);
    out.commit_to(
        std::to_chars(place, place + 40, value, std::chars_format::general, precision).ptr);
  }
}

}  // namespace

double parse_float(std::string_view text, bool is_float4) {
  return is_float4 ? static_cast<double>(parse_as<float>(text, true))
                   : parse_as<double>(text, false);
}

void print_float8(double value, int extra_float_digits, ByteBuffer& out) {
  print_float(value, extra_float_digits, 15, out);
}

void print_float4(float value, int extra_float_digits, ByteBuffer& out) {
  print_float(value, extra_float_digits, 6, out);
}

namespace types {

Datum parse_float4(const TypeInfo&, std::string_view text, int32_t, TypeContext&) {
  return Datum::of_float(parse_float(text, true));
}

Datum parse_float8(const TypeInfo&, std::string_view text, int32_t, TypeContext&) {
  return Datum::of_float(parse_float(text, false));
}

void print_float4(const TypeInfo&, Datum value, ByteBuffer& out, const TypeContext& ctx) {
  pgsilo::print_float4(static_cast<float>(value.f64), ctx.extra_float_digits, out);
}

void print_float8(const TypeInfo&, Datum value, ByteBuffer& out, const TypeContext& ctx) {
  pgsilo::print_float8(value.f64, ctx.extra_float_digits, out);
}

Datum receive_float4(const TypeInfo&, std::string_view bytes, int32_t, TypeContext&) {
  uint32_t bits = load_be32(exact_bytes(bytes, 4));
  return Datum::of_float(static_cast<double>(std::bit_cast<float>(bits)));
}

Datum receive_float8(const TypeInfo&, std::string_view bytes, int32_t, TypeContext&) {
  return Datum::of_float(std::bit_cast<double>(load_be64(exact_bytes(bytes, 8))));
}

void send_float4(const TypeInfo&, Datum value, ByteBuffer& out, const TypeContext&) {
  out.append_be32(std::bit_cast<uint32_t>(static_cast<float>(value.f64)));
}

void send_float8(const TypeInfo&, Datum value, ByteBuffer& out, const TypeContext&) {
  out.append_be64(std::bit_cast<uint64_t>(value.f64));
}

int compare_float(const TypeInfo&, Datum left, Datum right) {
  return float_compare(left.f64, right.f64);
}

bool equal_float(const TypeInfo&, Datum left, Datum right) {
  return float_equal(left.f64, right.f64);
}

uint64_t hash_float(const TypeInfo&, Datum value) {
  // All NaNs are equal, and so are the zeros.
  double canonical = value.f64 == 0 ? 0.0 : std::isnan(value.f64) ? std::nan("") : value.f64;
  return hash_integer(std::bit_cast<uint64_t>(canonical));
}

}  // namespace types
}  // namespace pgsilo
