// Logarithm and exponential of exact decimals to any precision, as binary fixed-point integers.
// Internal to numeric. A FixedPoint's value is bits / 2^precision; errors stay below a few units in
// the last place of the precision asked for, so callers ask for guard bits. Thread safety: pure
// functions.
#pragma once

#include <gmpxx.h>

namespace pgsilo::numeric {

struct FixedPoint {
  mpz_class bits;
  int precision = 0;
};

// Bits that hold so many decimal digits, with guard bits on top.
int bits_for_digits(int digits);

// Natural logarithm of unscaled / 10^scale, which is positive; absolute error about 2^-precision.
FixedPoint fixed_ln(const mpz_class& unscaled, int scale, int precision);

// e^exponent * 10^scale, rounded to an integer; the result's leading digits are right as far as
// `exponent` carries them.
mpz_class exp_scaled(const FixedPoint& exponent, int scale);

// (unscaled / 10^scale)^exponent * 10^result_scale, rounded to an integer whose first `digits`
// digits are right; exponent may be negative, unscaled is positive.
mpz_class power_scaled(const mpz_class& unscaled, int scale, int64_t exponent, int result_scale,
                       int digits);

double to_double(const FixedPoint& value);

}  // namespace pgsilo::numeric
