// Arithmetic and mathematics of float4 and float8.
#include <cmath>

#include "executor/execution_context.h"
#include "executor/functions/function.h"
#include "sql/sql_error.h"
#include "sql/sqlstate.h"
#include "sql/types/float.h"

namespace pgsilo::functions {
namespace {

template <typename Float, Float (*operation)(Float, Float)>
Datum binary(EvalContext&, const Datum* a) {
  return Datum::of_float(operation(static_cast<Float>(a[0].f64), static_cast<Float>(a[1].f64)));
}
template <double (*operation)(double)>
Datum unary(EvalContext&, const Datum* a) {
  return Datum::of_float(operation(a[0].f64));
}
template <double (*operation)(double, double)>
Datum binary8(EvalContext&, const Datum* a) {
  return Datum::of_float(operation(a[0].f64, a[1].f64));
}

double absolute(double value) { return std::fabs(value); }
double negated(double value) { return -value; }
double plus(double value) { return value; }
double round_half_even(double value) { return std::nearbyint(value); }
double ceiling(double value) { return std::ceil(value); }
double floored(double value) { return std::floor(value); }
double sign(double value) { return value > 0 ? 1 : value < 0 ? -1 : 0; }
double hyperbolic_sine(double value) { return std::sinh(value); }
double hyperbolic_cosine(double value) { return std::cosh(value); }
double hyperbolic_tangent(double value) { return std::tanh(value); }
double inverse_hyperbolic_sine(double value) { return std::asinh(value); }

[[noreturn]] void throw_input_out_of_range() {
  throw SqlError(sqlstate::numeric_value_out_of_range, "input is out of range");
}
double inverse_hyperbolic_cosine(double value) {
  if (value < 1) throw_input_out_of_range();
  return std::acosh(value);
}
double inverse_hyperbolic_tangent(double value) {
  if (value < -1 || value > 1) throw_input_out_of_range();
  return std::atanh(value);
}

Datum pi(EvalContext&, const Datum*) { return Datum::of_float(3.14159265358979323846); }

// xoroshiro128+; the upper 52 bits make a number in [0, 1).
Datum random(EvalContext& context, const Datum*) {
  uint64_t* words = context.execution->random.words;
  uint64_t first = words[0];
  uint64_t second = words[1];
  uint64_t sum = first + second;
  auto rotate = [](uint64_t value, int count) {
    return (value << count) | (value >> (64 - count));
  };
  second ^= first;
  words[0] = rotate(first, 24) ^ second ^ (second << 16);
  words[1] = rotate(second, 37);
  return Datum::of_float(static_cast<double>(sum >> 12) * 0x1.0p-52);
}

Datum set_seed(EvalContext& context, const Datum* a) {
  double seed = a[0].f64;
  if (!(seed >= -1 && seed <= 1)) {
    throw SqlError(sqlstate::invalid_parameter_value,
                   "setseed parameter " + std::to_string(seed) + " is out of allowed range [-1,1]");
  }
  uint64_t state =
      static_cast<uint64_t>(static_cast<int64_t>(seed * static_cast<double>(INT64_MAX >> 11)));
  for (uint64_t& word : context.execution->random.words) {  // splitmix64
    uint64_t mixed = state += 0x9e3779b97f4a7c15u;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
    word = mixed ^ (mixed >> 31);
  }
  return Datum::of_int(0);
}

Datum width_bucket(EvalContext&, const Datum* a) {
  double operand = a[0].f64;
  double low = a[1].f64;
  double high = a[2].f64;
  int64_t count = a[3].i64;
  auto fail = [](const char* message) {
    throw SqlError(sqlstate::invalid_argument_for_width_bucket_function, message);
  };
  if (count <= 0) fail("count must be greater than zero");
  if (std::isnan(operand) || std::isnan(low) || std::isnan(high)) {
    fail("operand, lower bound, and upper bound cannot be NaN");
  }
  if (std::isinf(low) || std::isinf(high)) fail("lower and upper bounds must be finite");
  if (low == high) fail("lower bound cannot equal upper bound");
  bool rising = low < high;
  if (rising ? operand < low : operand > low) return Datum::of_int(0);
  if (rising ? operand >= high : operand <= high) {
    if (count == INT32_MAX)
      throw SqlError(sqlstate::numeric_value_out_of_range, "integer out of range");
    return Datum::of_int(count + 1);
  }
  // In the order in which PostgreSQL computes it: what is just below the end may round to it.
  double buckets = static_cast<double>(count);
  double bucket =
      rising ? buckets * (operand - low) / (high - low) : buckets * (low - operand) / (low - high);
  return Datum::of_int(static_cast<int64_t>(bucket + 1));
}

#define ARITHMETIC(Float, add, sub, mul, div)                                     \
  {add, binary<Float, float_add<Float>>}, {sub, binary<Float, float_sub<Float>>}, \
      {mul, binary<Float, float_mul<Float>>}, {                                   \
    div, binary<Float, float_div<Float>>                                          \
  }

constexpr FunctionEntry entries[] = {
    ARITHMETIC(float, 204, 205, 202, 203),
    ARITHMETIC(double, 218, 219, 216, 217),
    ARITHMETIC(double, 281, 282, 279, 280),  // float4, float8
    ARITHMETIC(double, 285, 286, 283, 284),  // float8, float4
    {207, unary<absolute>},
    {221, unary<absolute>},
    {1394, unary<absolute>},
    {1395, unary<absolute>},
    {206, unary<negated>},
    {220, unary<negated>},
    {1913, unary<plus>},
    {1914, unary<plus>},
    {1342, unary<round_half_even>},
    {1343, unary<float8_trunc>},
    {2308, unary<ceiling>},
    {2320, unary<ceiling>},
    {2309, unary<floored>},
    {2310, unary<sign>},
    {230, unary<float8_sqrt>},
    {1344, unary<float8_sqrt>},
    {231, unary<float8_cbrt>},
    {1345, unary<float8_cbrt>},
    {232, binary8<float8_power>},
    {1346, binary8<float8_power>},
    {1368, binary8<float8_power>},
    {1347, unary<float8_exp>},
    {1341, unary<float8_ln>},
    {1340, unary<float8_log10>},
    {1194, unary<float8_log10>},
    {1600, unary<float8_asin>},
    {1601, unary<float8_acos>},
    {1602, unary<float8_atan>},
    {1603, binary8<float8_atan2>},
    {1604, unary<float8_sin>},
    {1605, unary<float8_cos>},
    {1606, unary<float8_tan>},
    {1607, unary<float8_cot>},
    {1608, unary<float8_degrees>},
    {1609, unary<float8_radians>},
    {2462, unary<hyperbolic_sine>},
    {2463, unary<hyperbolic_cosine>},
    {2464, unary<hyperbolic_tangent>},
    {2465, unary<inverse_hyperbolic_sine>},
    {2466, unary<inverse_hyperbolic_cosine>},
    {2467, unary<inverse_hyperbolic_tangent>},
    {1610, pi},
    {1598, random},
    {1599, set_seed},
    {320, width_bucket},
};

#undef ARITHMETIC

}  // namespace

std::span<const FunctionEntry> floating_point() { return entries; }

}  // namespace pgsilo::functions
