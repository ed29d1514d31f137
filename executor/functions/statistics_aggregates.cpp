// variance and standard deviation: over integers and numeric exactly, in numeric; over floats by
// Youngs and Cramer's update, which does not lose the small differences of large values.
#include <cmath>

#include "executor/functions/function.h"
#include "sql/types/float.h"
#include "sql/types/numeric.h"

namespace pgsilo::functions {
namespace {

// N, sum x, sum x^2.
struct ExactMoments {
  NumericAccumulator sum;
  NumericAccumulator squares;
};

void add_numeric(EvalContext& context, void* state, const Datum* a) {
  auto& moments = *static_cast<ExactMoments*>(state);
  if (moments.sum.count() == 0) moments = ExactMoments();  // zeroed memory is not one yet
  moments.sum.add(a[0], *context.arena);
  moments.squares.add(numeric_mul(a[0], a[0], *context.arena), *context.arena);
}
void add_integer(EvalContext& context, void* state, const Datum* a) {
  Datum value = numeric_from_integer(a[0].i64, *context.arena);
  add_numeric(context, state, &value);
}

// (N sum x^2 - (sum x)^2) / (N (N - 1)), or over N^2 for a whole population.
template <bool sample, bool root>
Datum exact_result(EvalContext& context, const void* state) {
  const auto& moments = *static_cast<const ExactMoments*>(state);
  Arena& arena = *context.arena;
  int64_t count = moments.sum.count();
  if (count == 0 || (sample && count == 1)) return Datum();
  Datum n = numeric_from_integer(count, arena);
  Datum sum = moments.sum.sum(arena);
  if (numeric_is_nan(sum) || numeric_is_infinite(sum)) return parse_numeric("NaN", -1, arena);
  Datum spread = numeric_sub(numeric_mul(n, moments.squares.sum(arena), arena),
                             numeric_mul(sum, sum, arena), arena);
  Datum zero = numeric_from_integer(0, arena);
  if (numeric_compare(spread, zero) <= 0) return zero;
  Datum divisor = numeric_mul(n, sample ? numeric_from_integer(count - 1, arena) : n, arena);
  Datum variance = numeric_div(spread, divisor, arena);
  return root ? numeric_sqrt_as_scaled(variance, arena) : variance;
}

struct FloatMoments {
  double count;
  double sum;
  double deviation;  // sum of squared differences from the mean
};

void add_float(EvalContext&, void* state, const Datum* a) {
  auto& moments = *static_cast<FloatMoments*>(state);
  double value = a[0].f64;
  moments.count += 1;
  moments.sum += value;
  if (moments.count > 1) {
    double difference = value * moments.count - moments.sum;
    moments.deviation += difference * difference / (moments.count * (moments.count - 1));
    if (std::isinf(moments.sum) || std::isinf(moments.deviation)) {
      if (!std::isinf(value) && !std::isinf(moments.sum - value)) throw_float_overflow();
      moments.deviation = std::nan("");
    }
  } else if (std::isnan(value) || std::isinf(value)) {
    moments.deviation = std::nan("");
  }
}

template <bool sample, bool root>
Datum float_result(EvalContext&, const void* state) {
  const auto& moments = *static_cast<const FloatMoments*>(state);
  if (moments.count == 0 || (sample && moments.count == 1)) return Datum();
  double variance = moments.deviation / (sample ? moments.count - 1 : moments.count);
  return Datum::of_float(root ? std::sqrt(variance) : variance);
}

// OIDs in the order int8, int4, int2, float4, float8, numeric.
#define STATISTICS(sample, root, int8_oid, int4_oid, int2_oid, float4_oid, float8_oid,   \
                   numeric_oid)                                                          \
  {int8_oid, sizeof(ExactMoments), add_integer, exact_result<sample, root>, true},       \
      {int4_oid, sizeof(ExactMoments), add_integer, exact_result<sample, root>, true},   \
      {int2_oid, sizeof(ExactMoments), add_integer, exact_result<sample, root>, true},   \
      {float4_oid, sizeof(FloatMoments), add_float, float_result<sample, root>, true},   \
      {float8_oid, sizeof(FloatMoments), add_float, float_result<sample, root>, true}, { \
    numeric_oid, sizeof(ExactMoments), add_numeric, exact_result<sample, root>, true     \
  }

constexpr AggregateFunction entries[] = {
    STATISTICS(true, false, 2148, 2149, 2150, 2151, 2152, 2153),   // variance
    STATISTICS(true, false, 2641, 2642, 2643, 2644, 2645, 2646),   // var_samp
    STATISTICS(false, false, 2718, 2719, 2720, 2721, 2722, 2723),  // var_pop
    STATISTICS(true, true, 2154, 2155, 2156, 2157, 2158, 2159),    // stddev
    STATISTICS(true, true, 2712, 2713, 2714, 2715, 2716, 2717),    // stddev_samp
    STATISTICS(false, true, 2724, 2725, 2726, 2727, 2728, 2729),   // stddev_pop
};

#undef STATISTICS

}  // namespace

std::span<const AggregateFunction> statistics_aggregates() { return entries; }

}  // namespace pgsilo::functions
