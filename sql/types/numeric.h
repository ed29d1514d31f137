// numeric: exact decimal numbers with a display scale, NaN and the two infinities.
//
// A value is an integer `unscaled` and a scale: unscaled / 10^scale, the scale being what is
// printed after the point. As a Datum it is packed, all fields little-endian, no alignment:
//   uint16 header: low 14 bits the scale (or the special value), top 2 bits the form
//     form 0  small: two's complement of `unscaled` in length-2 bytes, as few as hold it (0 bytes:
//     zero), |unscaled| < 10^38 form 1  large positive, form 2 large negative: magnitude as
//     base-2^64 limbs, least first; never below 10^38 form 3  special: 0 NaN, 1 Infinity, 2
//     -Infinity
// A number has one packed form per scale, so equal bytes are equal values; equal values of
// different scales differ in bytes. Nearly every number in practice is small and computes in
// 128-bit integers; the rest go through GMP (numeric_big.h).
//
// Result scales, rounding (half away from zero), limits and errors are PostgreSQL's
// (src/backend/utils/adt/numeric.c, described, not copied). Thread safety: pure functions. Results
// live in the arena.
#pragma once

#include <cstdint>
#include <string_view>

#include "sql/types/datum.h"

namespace pgsilo {

class Arena;
class ByteBuffer;

// Arithmetic; 22003 "value overflows numeric format", 22012 "division by zero".
Datum numeric_add(Datum left, Datum right, Arena& arena);
Datum numeric_sub(Datum left, Datum right, Arena& arena);
Datum numeric_mul(Datum left, Datum right, Arena& arena);
Datum numeric_div(Datum left, Datum right, Arena& arena);
// Remainder with the sign of `left`; and the truncated quotient of div(numeric, numeric).
Datum numeric_mod(Datum left, Datum right, Arena& arena);
Datum numeric_div_trunc(Datum left, Datum right, Arena& arena);
Datum numeric_negate(Datum value, Arena& arena);
Datum numeric_abs(Datum value, Arena& arena);
Datum numeric_sign(Datum value, Arena& arena);

// Rounding to `scale` digits after the point; negative scales round before it.
Datum numeric_round(Datum value, int32_t scale, Arena& arena);
Datum numeric_trunc(Datum value, int32_t scale, Arena& arena);
Datum numeric_ceil(Datum value, Arena& arena);
Datum numeric_floor(Datum value, Arena& arena);

// 2201F for negative square roots and powers that have no real value, 2201E for logarithms.
Datum numeric_sqrt(Datum value, Arena& arena);
// To as many digits behind the point as the value has. The value is a number, not below 0.
Datum numeric_sqrt_as_scaled(Datum value, Arena& arena);
Datum numeric_exp(Datum value, Arena& arena);
Datum numeric_ln(Datum value, Arena& arena);
Datum numeric_log(Datum base, Datum value, Arena& arena);
Datum numeric_power(Datum base, Datum exponent, Arena& arena);
Datum numeric_factorial(int64_t value, Arena& arena);
Datum numeric_gcd(Datum left, Datum right, Arena& arena);
Datum numeric_lcm(Datum left, Datum right, Arena& arena);

// The display scale; the least scale that loses nothing; the value at that scale. For NaN and
// infinities: null or itself.
Datum numeric_scale(Datum value);
Datum numeric_min_scale(Datum value);
Datum numeric_trim_scale(Datum value, Arena& arena);
// width_bucket(operand, low, high, count).
int32_t numeric_width_bucket(Datum operand, Datum low, Datum high, int32_t count, Arena& arena);

// NaN equals NaN and is above everything.
int numeric_compare(Datum left, Datum right);
bool numeric_equal(Datum left, Datum right);
uint64_t numeric_hash(Datum value);
bool numeric_is_nan(Datum value);
bool numeric_is_infinite(Datum value);

// Casts. To an integer of `width` 2, 4 or 8 bytes: rounds half away from zero; 22003 outside, 0A000
// for NaN, infinity.
Datum numeric_from_integer(int64_t value, Arena& arena);
Datum numeric_from_float8(double value, Arena& arena);
Datum numeric_from_float4(float value, Arena& arena);
// unscaled / 10^scale, as exact results of extract() are made.
Datum numeric_from_scaled(int64_t unscaled, int scale, Arena& arena);
int64_t numeric_to_integer(Datum value, size_t width);
double numeric_to_float8(Datum value);
float numeric_to_float4(Datum value);

// numeric(p, s): rounds, 22003 "numeric field overflow". typmod as pg_attribute has it.
Datum numeric_apply_typmod(Datum value, int32_t typmod, bool explicit_cast, Arena& arena);

Datum parse_numeric(std::string_view text, int32_t typmod, Arena& arena);
void print_numeric(Datum value, ByteBuffer& out);

// A running total for sum and avg. Trivially destructible: what does not fit 128 bits lives in the
// arena.
class NumericAccumulator {
 public:
  void add(Datum value, Arena& arena);
  void add_integer(int64_t value, Arena& arena);
  void add(const NumericAccumulator& other, Arena& arena);
  int64_t count() const { return count_; }
  // sum(): the total, at the largest scale seen. avg(): the total / count(). Only when count() > 0.
  Datum sum(Arena& arena) const;
  Datum average(Arena& arena) const;

 private:
  void spill(Arena& arena);
  bool special(Datum* result) const;  // NaN or an infinity decides the total

  __int128 total_ = 0;  // unscaled, at scale_
  Datum spilled_;       // null until the total once left 128 bits; added to total_ at the end
  int64_t count_ = 0;
  int64_t nan_count_ = 0;
  int64_t infinity_count_ = 0;
  int64_t negative_infinity_count_ = 0;
  int scale_ = 0;
};

}  // namespace pgsilo
