// Floating point: checked arithmetic behind float4 and float8 operators and functions, reading and
// printing. Thread safety: pure functions. Errors: 22003 "value out of range: overflow" /
// "underflow", 22012, 22P02, 2201E, 2201F. A float4 is kept as a double that a float represents
// exactly; its operators compute in float.
#pragma once

#include <cstdint>
#include <string_view>

namespace pgsilo {

class ByteBuffer;

[[noreturn]] void throw_float_overflow();
[[noreturn]] void throw_float_underflow();

// Float is float or double throughout.
template <typename Float>
Float float_add(Float left, Float right);
template <typename Float>
Float float_sub(Float left, Float right);
template <typename Float>
Float float_mul(Float left, Float right);
template <typename Float>
Float float_div(Float left, Float right);

// The order of the btree operator class: NaN equals NaN and is above everything; -0 equals 0.
inline int float_compare(double left, double right) {
  if (left < right) return -1;
  if (left > right) return 1;
  if (left == right) return 0;
  bool left_nan = left != left;
  bool right_nan = right != right;
  return static_cast<int>(left_nan) - static_cast<int>(right_nan);
}
inline bool float_equal(double left, double right) {
  return left == right || (left != left && right != right);
}

// Casts. To an integer of `width` 2, 4 or 8 bytes: rounds half to even, 22003 outside.
int64_t float_to_integer(double value, size_t width);
double float8_to_float4(double value);

double float8_power(double base, double exponent);
double float8_sqrt(double value);
double float8_cbrt(double value);
double float8_exp(double value);
double float8_ln(double value);
double float8_log10(double value);
// Truncated toward zero; quotient of div().
double float8_trunc(double value);

// Trigonometry in radians and degrees; 22003 "input is out of range".
double float8_sin(double value);
double float8_cos(double value);
double float8_tan(double value);
double float8_cot(double value);
double float8_asin(double value);
double float8_acos(double value);
double float8_atan(double value);
double float8_atan2(double y, double x);
double float8_degrees(double value);
double float8_radians(double value);

// `is_float4` names "real" instead of "double precision" and rounds once, to float.
double parse_float(std::string_view text, bool is_float4);
// extra_float_digits > 0: the shortest text that reads back equal; else so many digits less than
// the type holds.
void print_float8(double value, int extra_float_digits, ByteBuffer& out);
void print_float4(float value, int extra_float_digits, ByteBuffer& out);

}  // namespace pgsilo
