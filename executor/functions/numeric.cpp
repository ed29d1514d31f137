// Arithmetic and mathematics of numeric; the work is sql/types/numeric.
#include "sql/types/numeric.h"

#include "executor/functions/function.h"

namespace pgsilo::functions {
namespace {

template <Datum (*operation)(Datum, Datum, Arena&)>
Datum binary(EvalContext& context, const Datum* a) {
  return operation(a[0], a[1], *context.arena);
}
template <Datum (*operation)(Datum, Arena&)>
Datum unary(EvalContext& context, const Datum* a) {
  return operation(a[0], *context.arena);
}

Datum identity(EvalContext&, const Datum* a) { return a[0]; }
Datum round_to(EvalContext& context, const Datum* a) {
  return numeric_round(a[0], static_cast<int32_t>(a[1].i64), *context.arena);
}
Datum round_to_integer(EvalContext& context, const Datum* a) {
  return numeric_round(a[0], 0, *context.arena);
}
Datum truncate_to(EvalContext& context, const Datum* a) {
  return numeric_trunc(a[0], static_cast<int32_t>(a[1].i64), *context.arena);
}
Datum truncate_to_integer(EvalContext& context, const Datum* a) {
  return numeric_trunc(a[0], 0, *context.arena);
}
Datum log10(EvalContext& context, const Datum* a) {
  return numeric_log(numeric_from_integer(10, *context.arena), a[0], *context.arena);
}
Datum factorial(EvalContext& context, const Datum* a) {
  return numeric_factorial(a[0].i64, *context.arena);
}
Datum scale(EvalContext&, const Datum* a) { return numeric_scale(a[0]); }
Datum min_scale(EvalContext&, const Datum* a) { return numeric_min_scale(a[0]); }
Datum width_bucket(EvalContext& context, const Datum* a) {
  return Datum::of_int(
      numeric_width_bucket(a[0], a[1], a[2], static_cast<int32_t>(a[3].i64), *context.arena));
}

constexpr FunctionEntry entries[] = {
    {1724, binary<numeric_add>},
    {1725, binary<numeric_sub>},
    {1726, binary<numeric_mul>},
    {1727, binary<numeric_div>},
    {1728, binary<numeric_mod>},  // mod()
    {1729, binary<numeric_mod>},
    {1973, binary<numeric_div_trunc>},
    {1771, unary<numeric_negate>},
    {1915, identity},
    {1704, unary<numeric_abs>},
    {1705, unary<numeric_abs>},  // abs()
    {1706, unary<numeric_sign>},
    {1707, round_to},
    {1708, round_to_integer},
    {1709, truncate_to},
    {1710, truncate_to_integer},
    {1711, unary<numeric_ceil>},
    {2167, unary<numeric_ceil>},
    {1712, unary<numeric_floor>},
    {1730, unary<numeric_sqrt>},
    {1732, unary<numeric_exp>},
    {1734, unary<numeric_ln>},
    {1736, binary<numeric_log>},
    {1741, log10},
    {1481, log10},
    {1738, binary<numeric_power>},
    {1739, binary<numeric_power>},
    {2169, binary<numeric_power>},
    {1376, factorial},
    {5048, binary<numeric_gcd>},
    {5049, binary<numeric_lcm>},
    {3281, scale},
    {5042, min_scale},
    {5043, unary<numeric_trim_scale>},
    {2170, width_bucket},
};

}  // namespace

std::span<const FunctionEntry> numeric() { return entries; }

}  // namespace pgsilo::functions
