// Integers: checked arithmetic behind int2, int4 and int8 operators, reading and the errors they
// share. Thread safety: pure functions. Errors: 22003 "integer out of range", 22012 "division by
// zero", 22P02.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

namespace pgsilo {

// "smallint", "integer" or "bigint" out of range, by the width in bytes.
[[noreturn]] void throw_integer_out_of_range(size_t width);
[[noreturn]] void throw_division_by_zero();

// Int is int16_t, int32_t or int64_t throughout.
template <typename Int>
Int int_narrow(int64_t value) {
  if (value != static_cast<Int>(value)) throw_integer_out_of_range(sizeof(Int));
  return static_cast<Int>(value);
}

template <typename Int>
Int int_add(Int left, Int right) {
  Int result;
  if (__builtin_add_overflow(left, right, &result)) throw_integer_out_of_range(sizeof(Int));
  return result;
}

template <typename Int>
Int int_sub(Int left, Int right) {
  Int result;
  if (__builtin_sub_overflow(left, right, &result)) throw_integer_out_of_range(sizeof(Int));
  return result;
}

template <typename Int>
Int int_mul(Int left, Int right) {
  Int result;
  if (__builtin_mul_overflow(left, right, &result)) throw_integer_out_of_range(sizeof(Int));
  return result;
}

template <typename Int>
Int int_negate(Int value) {
  return int_sub<Int>(0, value);
}

template <typename Int>
Int int_abs(Int value) {
  return value < 0 ? int_negate<Int>(value) : value;
}

// Truncates towards zero.
template <typename Int>
Int int_div(Int left, Int right) {
  if (right == 0) throw_division_by_zero();
  if (right == -1) return int_negate<Int>(left);
  return static_cast<Int>(left / right);
}

// Has the sign of `left`.
template <typename Int>
Int int_mod(Int left, Int right) {
  if (right == 0) throw_division_by_zero();
  if (right == -1) return 0;
  return static_cast<Int>(left % right);
}

// Not negative; throws when the result is the one that does not fit (the magnitude of the least
// integer).
template <typename Int>
Int int_gcd(Int left, Int right) {
  using Unsigned = uint64_t;
  Unsigned a = left < 0 ? Unsigned{0} - static_cast<Unsigned>(static_cast<int64_t>(left))
                        : static_cast<Unsigned>(left);
  Unsigned b = right < 0 ? Unsigned{0} - static_cast<Unsigned>(static_cast<int64_t>(right))
                         : static_cast<Unsigned>(right);
  while (b != 0) {
    Unsigned remainder = a % b;
    a = b;
    b = remainder;
  }
  if (a > static_cast<Unsigned>(std::numeric_limits<Int>::max())) {
    throw_integer_out_of_range(sizeof(Int));
  }
  return static_cast<Int>(a);
}

template <typename Int>
Int int_lcm(Int left, Int right) {
  if (left == 0 || right == 0) return 0;
  Int quotient = static_cast<Int>(left / int_gcd<Int>(left, right));
  return int_abs<Int>(int_mul<Int>(quotient, right));
}

// Shifts count modulo the width, as the hardware that PostgreSQL runs on does.
template <typename Int>
Int int_shift_left(Int value, int32_t count) {
  constexpr int mask = sizeof(Int) == 8 ? 63 : 31;
  return static_cast<Int>(static_cast<uint64_t>(static_cast<int64_t>(value)) << (count & mask));
}
template <typename Int>
Int int_shift_right(Int value, int32_t count) {
  constexpr int mask = sizeof(Int) == 8 ? 63 : 31;
  return static_cast<Int>(static_cast<int64_t>(value) >> (count & mask));
}

// The text form: white space around, a sign, decimal digits. `width` is 2, 4 or 8 bytes and names
// the type in errors.
int64_t parse_integer(std::string_view text, size_t width);

}  // namespace pgsilo
