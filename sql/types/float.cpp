#include "sql/types/float.h"

#include <cmath>

#include "sql/sql_error.h"
#include "sql/types/integer.h"

namespace pgsilo {

namespace {

constexpr double radians_per_degree = 0.0174532925199432957692;

template <typename Float>
Float check_result(Float result, bool may_be_infinite, bool may_be_zero) {
  if (std::isinf(result) && !may_be_infinite) throw_float_overflow();
  if (result == 0 && !may_be_zero) throw_float_underflow();
  return result;
}

[[noreturn]] void throw_power(const char* message) {
  throw SqlError(sqlstate::invalid_argument_for_power_function, message);
}

[[noreturn]] void throw_input_out_of_range() {
  throw SqlError(sqlstate::numeric_value_out_of_range, "input is out of range");
}

double check_logarithm(double value) {
  if (value == 0) {
    throw SqlError(sqlstate::invalid_argument_for_log, "cannot take logarithm of zero");
  }
  if (value < 0) {
    throw SqlError(sqlstate::invalid_argument_for_log,
                   "cannot take logarithm of a negative number");
  }
  return value;
}

double check_angle(double value) {
  if (std::isinf(value)) throw_input_out_of_range();
  return value;
}

double check_sine(double value) {
  if (value < -1 || value > 1) throw_input_out_of_range();
  return value;
}

bool is_odd(double integer) { return std::floor(integer / 2) != integer / 2; }

double power_with_infinity(double base, double exponent) {
  if (std::isinf(exponent)) {
    double magnitude = std::fabs(base);
    if (magnitude == 1) return 1;
    return (magnitude > 1) == (exponent > 0) ? HUGE_VAL : 0;
  }
  if (exponent == 0) return 1;
  if (base > 0) return exponent > 0 ? base : 0;
  if (exponent > 0) return is_odd(exponent) ? base : -base;
  return is_odd(exponent) ? -0.0 : 0.0;
}

}  // namespace

void throw_float_overflow() {
  throw SqlError(sqlstate::numeric_value_out_of_range, "value out of range: overflow");
}

void throw_float_underflow() {
  throw SqlError(sqlstate::numeric_value_out_of_range, "value out of range: underflow");
}

template <typename Float>
Float float_add(Float left, Float right) {
  return check_result(left + right, std::isinf(left) || std::isinf(right), true);
}

template <typename Float>
Float float_sub(Float left, Float right) {
  return check_result(left - right, std::isinf(left) || std::isinf(right), true);
}

template <typename Float>
Float float_mul(Float left, Float right) {
  return check_result(left * right, std::isinf(left) || std::isinf(right), left == 0 || right == 0);
}

template <typename Float>
Float float_div(Float left, Float right) {
  if (right == 0 && !std::isnan(left)) throw_division_by_zero();
  return check_result(left / right, std::isinf(left), left == 0 || std::isinf(right));
}

template float float_add(float, float);
template float float_sub(float, float);
template float float_mul(float, float);
template float float_div(float, float);
template double float_add(double, double);
template double float_sub(double, double);
template double float_mul(double, double);
template double float_div(double, double);

int64_t float_to_integer(double value, size_t width) {
  double rounded = std::rint(value);
  double limit = std::ldexp(1.0, static_cast<int>(8 * width - 1));
  if (!(rounded >= -limit && rounded < limit)) throw_integer_out_of_range(width);
  return static_cast<int64_t>(rounded);
}

double float8_to_float4(double value) {
  return check_result(static_cast<float>(value), std::isinf(value), value == 0);
}

double float8_power(double base, double exponent) {
  if (std::isnan(base)) return exponent == 0 ? 1 : base;
  if (std::isnan(exponent)) return base == 1 ? 1 : exponent;
  if (base == 0 && exponent < 0) throw_power("zero raised to a negative power is undefined");
  if (base < 0 && std::floor(exponent) != exponent) {
    throw_power("a negative number raised to a non-integer power yields a complex result");
  }
  if (std::isinf(base) || std::isinf(exponent)) return power_with_infinity(base, exponent);
  return check_result(std::pow(base, exponent), false, base == 0);
}

double float8_sqrt(double value) {
  if (value < 0) throw_power("cannot take square root of a negative number");
  return std::sqrt(value);
}

double float8_cbrt(double value) { return std::cbrt(value); }

double float8_exp(double value) {
  if (std::isnan(value)) return value;
  return check_result(std::exp(value), std::isinf(value), std::isinf(value));
}

double float8_ln(double value) { return std::log(check_logarithm(value)); }

double float8_log10(double value) { return std::log10(check_logarithm(value)); }

double float8_trunc(double value) { return std::trunc(value); }

double float8_sin(double value) { return std::sin(check_angle(value)); }
double float8_cos(double value) { return std::cos(check_angle(value)); }
double float8_tan(double value) { return std::tan(check_angle(value)); }
double float8_cot(double value) { return 1.0 / std::tan(check_angle(value)); }
double float8_asin(double value) { return std::asin(check_sine(value)); }
double float8_acos(double value) { return std::acos(check_sine(value)); }
double float8_atan(double value) { return std::atan(value); }
double float8_atan2(double y, double x) { return std::atan2(y, x); }
double float8_degrees(double value) { return float_div(value, radians_per_degree); }
double float8_radians(double value) { return float_mul(value, radians_per_degree); }

}  // namespace pgsilo
