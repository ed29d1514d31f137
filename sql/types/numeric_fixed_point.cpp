#include "sql/types/numeric_fixed_point.h"

#include <algorithm>
#include <cmath>

#include "sql/types/numeric_value.h"

namespace pgsilo::numeric {

namespace {

constexpr int guard_bits = 64;

mpz_class shifted(const mpz_class& value, int bits) {
  mpz_class result;
  if (bits >= 0) {
    mpz_mul_2exp(result.get_mpz_t(), value.get_mpz_t(), static_cast<unsigned long>(bits));
  } else {
    mpz_fdiv_q_2exp(result.get_mpz_t(), value.get_mpz_t(), static_cast<unsigned long>(-bits));
  }
  return result;
}

// atanh(1/n): sum of n^-(2k+1) / (2k+1).
mpz_class atanh_inverse(unsigned long n, int precision) {
  mpz_class power = shifted(1, precision) / n;
  mpz_class sum = power;
  for (unsigned long k = 3; power != 0; k += 2) {
    power /= n * n;
    sum += power / k;
  }
  return sum;
}

// Gauss's formula for ln 2 from three quick series.
mpz_class fixed_ln2(int precision) {
  return 18 * atanh_inverse(26, precision) - 2 * atanh_inverse(4801, precision) +
         8 * atanh_inverse(8749, precision);
}

// ln of a fixed-point number in [1/2, 2): square roots bring it near 1, where 2 atanh((m-1)/(m+1))
// converges fast.
mpz_class ln_near_one(mpz_class m, int precision) {
  int roots = static_cast<int>(std::sqrt(precision)) / 2 + 1;
  int wide = precision + 2 * roots;
  m = shifted(m, wide - precision);
  for (int i = 0; i < roots; ++i) m = sqrt(shifted(m, wide));
  mpz_class one = shifted(1, wide);
  mpz_class numerator = shifted(m - one, wide);
  mpz_class denominator = m + one;
  mpz_class z = numerator / denominator;
  mpz_class square = shifted(z * z, -wide);
  mpz_class power = z;
  mpz_class sum = z;
  for (unsigned long k = 3; power != 0 && power != -1; k += 2) {
    power = shifted(power * square, -wide);
    sum += power / k;
  }
  return shifted(sum, roots + 1 - (wide - precision));
}

}  // namespace

int bits_for_digits(int digits) {
  return static_cast<int>(static_cast<int64_t>(std::max(digits, 1)) * 3322 / 1000) + guard_bits;
}

FixedPoint fixed_ln(const mpz_class& unscaled, int scale, int precision) {
  int wide = precision + guard_bits;
  mpz_class divisor = power_of_ten_big(scale);
  // unscaled / divisor = m * 2^k with m in (1/2, 2).
  int k = static_cast<int>(mpz_sizeinbase(unscaled.get_mpz_t(), 2)) -
          static_cast<int>(mpz_sizeinbase(divisor.get_mpz_t(), 2));
  mpz_class m =
      k >= wide ? unscaled / shifted(divisor, k - wide) : shifted(unscaled, wide - k) / divisor;
  mpz_class result = ln_near_one(m, wide);
  if (k != 0) result += k * fixed_ln2(wide);
  return {shifted(result, precision - wide), precision};
}

mpz_class exp_scaled(const FixedPoint& exponent, int scale) {
  int wide = exponent.precision + guard_bits;
  mpz_class x = shifted(exponent.bits, wide - exponent.precision);
  mpz_class ln2 = fixed_ln2(wide);
  mpz_class k = x / ln2;
  mpz_class rest = x - k * ln2;
  // e^rest: Taylor's series of rest / 2^halvings, then squared as often.
  int halvings = static_cast<int>(std::sqrt(wide)) / 2 + 1;
  int precision = wide + 2 * halvings;
  rest = shifted(rest, precision - wide - halvings);
  mpz_class sum = shifted(1, precision);
  mpz_class term = sum;
  for (unsigned long n = 1; term != 0 && term != -1; ++n) {
    term = shifted(term * rest, -precision) / n;
    sum += term;
  }
  for (int i = 0; i < halvings; ++i) sum = shifted(sum * sum, -precision);
  // sum * 2^(k - precision) * 10^scale, rounded.
  mpz_class scaled = sum * power_of_ten_big(scale);
  long shift = k.get_si() - precision;
  if (shift >= 0) return shifted(scaled, static_cast<int>(shift));
  if (-shift > static_cast<long>(mpz_sizeinbase(scaled.get_mpz_t(), 2)) + 1) return 0;
  return divide_rounded(scaled, shifted(1, static_cast<int>(-shift)));
}

namespace {

// mantissa * 2^exponent.
struct Rounded {
  mpz_class mantissa;
  int64_t exponent = 0;
};

Rounded product(const Rounded& left, const Rounded& right, int bits) {
  Rounded result{left.mantissa * right.mantissa, left.exponent + right.exponent};
  int excess = static_cast<int>(mpz_sizeinbase(result.mantissa.get_mpz_t(), 2)) - bits;
  if (excess > 0) {
    result.mantissa = shifted(result.mantissa, -excess);
    result.exponent += excess;
  }
  return result;
}

// By squaring, with no more than `bits` bits kept of each product.
Rounded rounded_power(const mpz_class& base, int64_t exponent, int bits) {
  Rounded result{1, 0};
  Rounded square = product({base, 0}, {1, 0}, bits);
  for (; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) result = product(result, square, bits);
    if (exponent > 1) square = product(square, square, bits);
  }
  return result;
}

}  // namespace

mpz_class power_scaled(const mpz_class& unscaled, int scale, int64_t exponent, int result_scale,
                       int digits) {
  int bits = bits_for_digits(digits);
  int64_t count = std::abs(exponent);
  Rounded numerator = rounded_power(unscaled, count, bits);
  Rounded denominator = rounded_power(10, count * scale, bits);
  if (exponent < 0) std::swap(numerator, denominator);
  mpz_class dividend = numerator.mantissa * power_of_ten_big(result_scale);
  mpz_class divisor = denominator.mantissa;
  int64_t shift = numerator.exponent - denominator.exponent;
  (shift >= 0 ? dividend : divisor) <<= static_cast<unsigned long>(std::abs(shift));
  return divide_rounded(dividend, divisor);
}

double to_double(const FixedPoint& value) {
  long exponent;
  double mantissa = mpz_get_d_2exp(&exponent, value.bits.get_mpz_t());
  return std::ldexp(mantissa, static_cast<int>(exponent) - value.precision);
}

}  // namespace pgsilo::numeric
