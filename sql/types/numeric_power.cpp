// numeric: roots, exponentials, logarithms and powers. The scale of each result follows
// PostgreSQL's choice (at least 16 significant digits, not less than the arguments' scales, at most
// 1000); the value is the exact one, rounded to it.
#include <algorithm>
#include <cmath>

#include "sql/limits.h"
#include "sql/sql_error.h"
#include "sql/types/integer.h"
#include "sql/types/numeric.h"
#include "sql/types/numeric_fixed_point.h"
#include "sql/types/numeric_value.h"

namespace pgsilo {

using namespace numeric;

namespace {

constexpr double log10_of_e = 0.434294481903252;
// Exponents of e beyond this overflow or vanish whatever the scale.
constexpr double exponent_limit = max_result_scale * 3;
// Digits beyond those of the result, so that its rounding is right.
constexpr int guard_digits = 20;

int choose_scale(int result_weight, int left_scale, int right_scale) {
  int scale = std::max({min_significant_digits - result_weight, left_scale, right_scale, 0});
  return std::min(scale, max_display_scale);
}

int floor_log10(int digits) {
  return digits >= 1000 ? 3 : digits >= 100 ? 2 : digits >= 10 ? 1 : 0;
}

double log10_of(const mpz_class& magnitude, int scale) {
  long exponent;
  double mantissa = mpz_get_d_2exp(&exponent, magnitude.get_mpz_t());
  return std::log10(std::fabs(mantissa)) + static_cast<double>(exponent) * 0.3010299956639812 -
         scale;
}

// The decimal weight of ln(value), estimated as PostgreSQL does from the leading digits.
int ln_weight(const Decimal& value) {
  if (value.unscaled <= 0) return 0;
  mpz_class one = power_of_ten_big(value.scale);
  mpz_class from_one = value.unscaled - one;
  if (abs(from_one) * 10 <= one) {
    LeadingGroup group = leading_group(from_one, value.scale);
    return group.weight * digits_per_group + floor_log10(group.digits);
  }
  // Two groups of four digits.
  LeadingGroup group = leading_group(value.unscaled, value.scale);
  int position = (group.weight - 1) * digits_per_group;
  mpz_class leading = value.scale + position >= 0
                          ? mpz_class(value.unscaled / power_of_ten_big(value.scale + position))
                          : mpz_class(value.unscaled * power_of_ten_big(-value.scale - position));
  double ln = std::log(leading.get_d()) + position * 2.302585092994046;
  return static_cast<int>(std::log10(std::fabs(ln)));
}

double to_double_clamped(const Decimal& value) {
  if (value.unscaled == 0) return 0;
  double log = log10_of(value.unscaled, value.scale);
  if (log > 300) return value.unscaled < 0 ? -HUGE_VAL : HUGE_VAL;
  if (log < -300) return 0;
  mpq_class quotient(value.unscaled, power_of_ten_big(value.scale));
  return quotient.get_d();
}

[[noreturn]] void throw_power(std::string_view message) {
  throw SqlError(sqlstate::invalid_argument_for_power_function, std::string(message));
}

FixedPoint to_fixed(const Decimal& value, int precision) {
  mpz_class bits;
  mpz_mul_2exp(bits.get_mpz_t(), value.unscaled.get_mpz_t(), static_cast<unsigned long>(precision));
  return {bits / power_of_ten_big(value.scale), precision};
}

// The logarithm of a positive finite number as a value, or the errors of ln and log.
void check_logarithm(Datum value) {
  int sign = sign_of(value);
  if (sign < 0) {
    throw SqlError(sqlstate::invalid_argument_for_log,
                   "cannot take logarithm of a negative number");
  }
  if (sign == 0)
    throw SqlError(sqlstate::invalid_argument_for_log, "cannot take logarithm of zero");
}

// base^exponent for exponents that are integers of 32 bits: 16 digits after the point whatever the
// size, exact if its digits are not too many.
Datum integer_power(const Decimal& base, int32_t exponent, Arena& arena) {
  int scale = choose_scale(0, base.scale, 0);
  if (exponent == 0) return make_number(power_of_ten_big(scale), scale, arena);
  if (base.unscaled == 0) {
    if (exponent < 0) throw_division_by_zero();
    return make_small(0, scale, arena);
  }
  double weight = exponent * log10_of(base.unscaled, base.scale);
  if (weight > limits::max_numeric_integer_digits) throw_overflow();
  if (weight + 2 < -scale) return make_small(0, scale, arena);
  auto count = static_cast<unsigned long>(std::llabs(int64_t{exponent}));
  constexpr double exact_digits_limit = 400000;
  if (static_cast<double>(count) * count_digits(base.unscaled) < exact_digits_limit) {
    mpz_class power;
    mpz_pow_ui(power.get_mpz_t(), base.unscaled.get_mpz_t(), count);
    int power_scale = base.scale * static_cast<int>(count);
    if (exponent > 0) return make_number(rescale(power, power_scale, scale), scale, arena);
    return make_number(divide_rounded(power_of_ten_big(power_scale + scale), power), scale, arena);
  }
  int digits = scale + static_cast<int>(std::fabs(weight)) + 10 + guard_digits;
  mpz_class result = power_scaled(abs(base.unscaled), base.scale, exponent, scale, digits);
  if (base.unscaled < 0 && count % 2 == 1) result = -result;
  return make_number(result, scale, arena);
}

// e^(exponent ln base), base positive.
Datum real_power(const Decimal& base, const Decimal& exponent, Arena& arena) {
  if (base.unscaled == power_of_ten_big(base.scale)) {
    // One, whatever the exponent: its logarithm is no factor for one that only infinity stands for.
    int scale = choose_scale(0, base.scale, exponent.scale);
    return make_number(power_of_ten_big(scale), scale, arena);
  }
  int weight_of_ln = ln_weight(base);
  // PostgreSQL's estimate, rounded as there: the scale hangs on which side of an integer it lies.
  int rough_scale = std::clamp(8 - weight_of_ln, 0, max_display_scale);
  FixedPoint rough = fixed_ln(base.unscaled, base.scale, bits_for_digits(rough_scale + 10));
  mpz_class unit;
  mpz_ui_pow_ui(unit.get_mpz_t(), 2, static_cast<unsigned long>(rough.precision));
  Decimal estimate{divide_rounded(rough.bits * power_of_ten_big(rough_scale), unit), rough_scale};
  estimate.unscaled =
      rescale(estimate.unscaled * exponent.unscaled, rough_scale + exponent.scale, rough_scale);
  double product = to_double_clamped(estimate);
  if (std::fabs(product) > max_result_scale * 3.01) {
    if (product > 0) throw_overflow();
    return make_small(0, max_display_scale, arena);
  }
  int weight = static_cast<int>(product * log10_of_e);
  int scale = choose_scale(weight, base.scale, exponent.scale);
  int exponent_digits = std::max(count_digits(exponent.unscaled) - exponent.scale, 0);
  int digits = scale + std::abs(weight) + exponent_digits + guard_digits;
  FixedPoint ln = fixed_ln(base.unscaled, base.scale, bits_for_digits(digits));
  ln.bits = ln.bits * exponent.unscaled / power_of_ten_big(exponent.scale);
  return make_number(exp_scaled(ln, scale), scale, arena);
}

bool is_integer(const Decimal& value) {
  return value.unscaled % power_of_ten_big(value.scale) == 0;
}

bool is_one(Datum value, Arena& arena) { return numeric_equal(value, make_small(1, 0, arena)); }

// Powers with an infinity, by POSIX's pow().
Datum special_power(Datum base, Datum exponent, Arena& arena) {
  Datum one = make_small(1, 0, arena);
  Datum zero = make_small(0, 0, arena);
  if (is_nan(base)) return !is_nan(exponent) && sign_of(exponent) == 0 ? one : make_nan();
  if (is_nan(exponent)) return is_one(base, arena) ? one : make_nan();
  if (sign_of(base) == 0 && sign_of(exponent) < 0) {
    throw_power("zero raised to a negative power is undefined");
  }
  if (is_one(base, arena) || sign_of(exponent) == 0) return one;
  if (sign_of(base) == 0) return zero;
  if (is_special(exponent)) {
    Datum magnitude = numeric_abs(base, arena);
    int order = numeric_compare(magnitude, one);
    if (order == 0) return one;  // (-1)^(+-Infinity)
    return (order > 0) == (sign_of(exponent) > 0) ? make_infinity(false) : zero;
  }
  // base is an infinity, exponent finite and not zero.
  if (sign_of(base) > 0) return sign_of(exponent) > 0 ? make_infinity(false) : zero;
  Decimal power = decimal_of(exponent);
  if (!is_integer(power)) {
    throw_power("a negative number raised to a non-integer power yields a complex result");
  }
  if (sign_of(exponent) < 0) return zero;
  bool odd = mpz_class(power.unscaled / power_of_ten_big(power.scale)) % 2 != 0;
  return make_infinity(odd);
}

Datum root_of(const Decimal& number, int scale, Arena& arena) {
  // sqrt(u / 10^s) * 10^scale = sqrt(u * 10^(2 scale - s)), one digit more for rounding.
  int shift = 2 * (scale + 1) - number.scale;
  mpz_class radicand = shift >= 0 ? mpz_class(number.unscaled * power_of_ten_big(shift))
                                  : mpz_class(number.unscaled / power_of_ten_big(-shift));
  return make_number(rescale(sqrt(radicand), scale + 1, scale), scale, arena);
}

}  // namespace

Datum numeric_sqrt(Datum value, Arena& arena) {
  if (is_nan(value)) return value;
  if (sign_of(value) < 0) {
    throw SqlError(sqlstate::invalid_argument_for_power_function,
                   "cannot take square root of a negative number");
  }
  if (is_special(value)) return value;
  Decimal number = decimal_of(value);
  int group_weight = leading_group(number.unscaled, number.scale).weight;
  int weight = group_weight >= 0 ? group_weight * digits_per_group / 2 + 1
                                 : 1 - (1 - group_weight * digits_per_group) / 2;
  return root_of(number, choose_scale(weight, number.scale, 0), arena);
}

Datum numeric_sqrt_as_scaled(Datum value, Arena& arena) {
  Decimal number = decimal_of(value);
  return root_of(number, number.scale, arena);
}

Datum numeric_exp(Datum value, Arena& arena) {
  if (is_special(value)) {
    return is_nan(value) || sign_of(value) > 0 ? value : make_small(0, 0, arena);
  }
  Decimal number = decimal_of(value);
  double exponent = to_double_clamped(number);
  double limited =
      std::clamp(exponent * log10_of_e, -double{max_result_scale}, double{max_result_scale});
  int weight = static_cast<int>(limited);
  int scale = choose_scale(weight, number.scale, 0);
  if (std::fabs(exponent) >= exponent_limit) {
    if (exponent > 0) throw_overflow();
    return make_small(0, scale, arena);
  }
  int digits = scale + std::abs(static_cast<int>(exponent * log10_of_e)) + guard_digits;
  return make_number(exp_scaled(to_fixed(number, bits_for_digits(digits)), scale), scale, arena);
}

Datum numeric_ln(Datum value, Arena& arena) {
  if (is_nan(value)) return value;
  check_logarithm(value);
  if (is_special(value)) return value;
  Decimal number = decimal_of(value);
  int scale = choose_scale(ln_weight(number), number.scale, 0);
  int precision = bits_for_digits(scale + guard_digits);
  FixedPoint ln = fixed_ln(number.unscaled, number.scale, precision);
  mpz_class unit;
  mpz_ui_pow_ui(unit.get_mpz_t(), 2, static_cast<unsigned long>(precision));
  return make_number(divide_rounded(ln.bits * power_of_ten_big(scale), unit), scale, arena);
}

Datum numeric_log(Datum base, Datum value, Arena& arena) {
  if (is_nan(base) || is_nan(value)) return make_nan();
  check_logarithm(base);
  check_logarithm(value);
  if (is_special(base)) return is_special(value) ? make_nan() : make_small(0, 0, arena);
  if (is_special(value)) return value;
  Decimal b = decimal_of(base);
  Decimal x = decimal_of(value);
  int base_weight = ln_weight(b);
  int scale = choose_scale(ln_weight(x) - base_weight, b.scale, x.scale);
  int precision =
      bits_for_digits(scale + 2 * std::abs(base_weight) + std::abs(ln_weight(x)) + guard_digits);
  FixedPoint numerator = fixed_ln(x.unscaled, x.scale, precision);
  FixedPoint denominator = fixed_ln(b.unscaled, b.scale, precision);
  if (is_one(base, arena)) throw_division_by_zero();
  return make_number(divide_rounded(numerator.bits * power_of_ten_big(scale), denominator.bits),
                     scale, arena);
}

Datum numeric_power(Datum base, Datum exponent, Arena& arena) {
  if (is_special(base) || is_special(exponent)) return special_power(base, exponent, arena);
  Decimal b = decimal_of(base);
  Decimal e = decimal_of(exponent);
  if (b.unscaled == 0 && e.unscaled < 0)
    throw_power("zero raised to a negative power is undefined");
  bool integer = is_integer(e);
  if (b.unscaled < 0 && !integer) {
    throw_power("a negative number raised to a non-integer power yields a complex result");
  }
  mpz_class whole = e.unscaled / power_of_ten_big(e.scale);
  if (integer && whole.fits_sint_p()) {
    return integer_power(b, static_cast<int32_t>(whole.get_si()), arena);
  }
  if (b.unscaled == 0) return make_small(0, min_significant_digits, arena);
  bool negative = b.unscaled < 0 && whole % 2 != 0;
  b.unscaled = abs(b.unscaled);
  Datum result = real_power(b, e, arena);
  return negative ? numeric_negate(result, arena) : result;
}

Datum numeric_factorial(int64_t value, Arena& arena) {
  if (value < 0) {
    throw SqlError(sqlstate::numeric_value_out_of_range,
                   "factorial of a negative number is undefined");
  }
  constexpr int64_t largest = 32177;
  if (value > largest) throw_overflow();
  mpz_class result;
  mpz_fac_ui(result.get_mpz_t(), static_cast<unsigned long>(value));
  return make_number(result, 0, arena);
}

}  // namespace pgsilo
