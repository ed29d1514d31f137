// count, sum, avg, min, max, the boolean and bit aggregates and string_agg. States are plain
// structs in the group's memory; what they point at lives in the arena of the context.
#include <algorithm>
#include <cstring>

#include "base/long_work.h"
#include "executor/functions/function.h"
#include "sql/types/float.h"
#include "sql/types/integer.h"
#include "sql/types/interval.h"
#include "sql/types/numeric.h"
#include "sql/types/text.h"
#include "sql/types/type.h"

namespace pgsilo::functions {
namespace {

template <typename State>
State& state_of(void* state) {
  return *static_cast<State*>(state);
}
template <typename State>
const State& state_of(const void* state) {
  return *static_cast<const State*>(state);
}

// ---- count

void count_row(EvalContext&, void* state, const Datum*) { ++state_of<int64_t>(state); }
Datum counted(EvalContext&, const void* state) { return Datum::of_int(state_of<int64_t>(state)); }

// ---- sums of small integers: exact in 128 bits

struct IntegerSum {
  __int128 total;
  int64_t count;
};
void add_integer(EvalContext&, void* state, const Datum* a) {
  auto& sum = state_of<IntegerSum>(state);
  sum.total += a[0].i64;
  ++sum.count;
}
// sum(int2) and sum(int4) are bigint.
Datum bigint_sum(EvalContext&, const void* state) {
  const auto& sum = state_of<IntegerSum>(state);
  if (sum.count == 0) return Datum();
  if (sum.total > INT64_MAX || sum.total < INT64_MIN) throw_integer_out_of_range(8);
  return Datum::of_int(static_cast<int64_t>(sum.total));
}
Datum numeric_total(const IntegerSum& sum, Arena& arena) {
  constexpr int64_t half = int64_t{1} << 62;
  auto low = static_cast<int64_t>(sum.total % half);
  auto high = static_cast<int64_t>(sum.total / half);
  Datum small = numeric_from_integer(low, arena);
  if (high == 0) return small;
  Datum large =
      numeric_mul(numeric_from_integer(high, arena), numeric_from_integer(half, arena), arena);
  return numeric_add(large, small, arena);
}
Datum numeric_sum_of_integers(EvalContext& context, const void* state) {
  const auto& sum = state_of<IntegerSum>(state);
  return sum.count == 0 ? Datum() : numeric_total(sum, *context.arena);
}
Datum average_of_integers(EvalContext& context, const void* state) {
  const auto& sum = state_of<IntegerSum>(state);
  if (sum.count == 0) return Datum();
  return numeric_div(numeric_total(sum, *context.arena),
                     numeric_from_integer(sum.count, *context.arena), *context.arena);
}

// ---- numeric

void add_numeric(EvalContext& context, void* state, const Datum* a) {
  auto& sum = state_of<NumericAccumulator>(state);
  if (sum.count() == 0) sum = NumericAccumulator();  // zeroed memory is not one yet
  sum.add(a[0], *context.arena);
}
Datum numeric_sum(EvalContext& context, const void* state) {
  const auto& sum = state_of<NumericAccumulator>(state);
  return sum.count() == 0 ? Datum() : sum.sum(*context.arena);
}
Datum numeric_average(EvalContext& context, const void* state) {
  const auto& sum = state_of<NumericAccumulator>(state);
  return sum.count() == 0 ? Datum() : sum.average(*context.arena);
}

// ---- floats; sum(real) adds in real

struct FloatSum {
  double total;
  int64_t count;
};
template <typename Float>
void add_float(EvalContext&, void* state, const Datum* a) {
  auto& sum = state_of<FloatSum>(state);
  sum.total = sum.count == 0
                  ? a[0].f64
                  : float_add(static_cast<Float>(sum.total), static_cast<Float>(a[0].f64));
  ++sum.count;
}
Datum float_sum(EvalContext&, const void* state) {
  const auto& sum = state_of<FloatSum>(state);
  return sum.count == 0 ? Datum() : Datum::of_float(sum.total);
}
Datum float_average(EvalContext&, const void* state) {
  const auto& sum = state_of<FloatSum>(state);
  return sum.count == 0 ? Datum() : Datum::of_float(sum.total / static_cast<double>(sum.count));
}

// ---- interval

struct IntervalSum {
  Interval total;
  int64_t count;
};
void add_interval(EvalContext&, void* state, const Datum* a) {
  auto& sum = state_of<IntervalSum>(state);
  sum.total = interval_add(sum.total, interval_of(a[0]));
  ++sum.count;
}
Datum interval_sum(EvalContext& context, const void* state) {
  const auto& sum = state_of<IntervalSum>(state);
  return sum.count == 0 ? Datum() : interval_datum(sum.total, *context.arena);
}
Datum interval_average(EvalContext& context, const void* state) {
  const auto& sum = state_of<IntervalSum>(state);
  if (sum.count == 0) return Datum();
  return interval_datum(interval_div(sum.total, static_cast<double>(sum.count)), *context.arena);
}

// ---- min and max

struct Extreme {
  Datum value;
  bool any;
};
void keep(EvalContext& context, Extreme& extreme, const Datum& value, bool by_reference) {
  extreme.value = by_reference ? Datum::of_bytes(context.arena->copy_string(value.bytes())) : value;
  extreme.any = true;
}
template <Oid type, bool max>
void take_extreme(EvalContext& context, void* state, const Datum* a) {
  static const TypeInfo& info = type_info(type);
  auto& extreme = state_of<Extreme>(state);
  if (extreme.any) {
    int order = info.compare(a[0], extreme.value);
    if (max ? order <= 0 : order >= 0) return;
  }
  keep(context, extreme, a[0], info.by_reference);
}
Datum extreme_value(EvalContext&, const void* state) {
  const auto& extreme = state_of<Extreme>(state);
  return extreme.any ? extreme.value : Datum();
}

// ---- booleans and bits

struct Folded {
  int64_t value;
  bool any;
};
enum class Fold { all, any, exclusive };
template <Fold fold>
void fold_in(EvalContext&, void* state, const Datum* a) {
  auto& folded = state_of<Folded>(state);
  if (!folded.any) {
    folded = {a[0].i64, true};
  } else if constexpr (fold == Fold::all) {
    folded.value &= a[0].i64;
  } else if constexpr (fold == Fold::any) {
    folded.value |= a[0].i64;
  } else {
    folded.value ^= a[0].i64;
  }
}
Datum folded_value(EvalContext&, const void* state) {
  const auto& folded = state_of<Folded>(state);
  return folded.any ? Datum::of_int(folded.value) : Datum();
}

// ---- string_agg: a buffer in the arena that doubles

struct Joined {
  char* bytes;
  size_t size;
  size_t capacity;
  bool any;
};
void append(EvalContext& context, Joined& joined, std::string_view text) {
  if (joined.capacity - joined.size < text.size()) {
    size_t capacity = std::max<size_t>(64, 2 * (joined.size + text.size()));
    char* bytes = static_cast<char*>(context.arena->allocate(capacity, 1));
    copy_value(bytes, {joined.bytes, joined.size});
    joined.bytes = bytes;
    joined.capacity = capacity;
  }
  copy_value(joined.bytes + joined.size, text);
  joined.size += text.size();
}
void join(EvalContext& context, void* state, const Datum* a) {
  auto& joined = state_of<Joined>(state);
  if (a[0].null) return;
  if (joined.any && !a[1].null) append(context, joined, a[1].bytes());
  append(context, joined, a[0].bytes());
  joined.any = true;
}
Datum joined_text(EvalContext&, const void* state) {
  const auto& joined = state_of<Joined>(state);
  return joined.any ? Datum::of_bytes({joined.bytes, joined.size}) : Datum();
}

#define MIN_MAX(type, min_oid, max_oid)                                         \
  {min_oid, sizeof(Extreme), take_extreme<type, false>, extreme_value, true}, { \
    max_oid, sizeof(Extreme), take_extreme<type, true>, extreme_value, true     \
  }

constexpr AggregateFunction entries[] = {
    MIN_MAX(type_oid::int4, 3527, 3526),  // enums: by their positions
    {2803, sizeof(int64_t), count_row, counted, false},
    {2147, sizeof(int64_t), count_row, counted, true},
    {2109, sizeof(IntegerSum), add_integer, bigint_sum, true},  // int2
    {2108, sizeof(IntegerSum), add_integer, bigint_sum, true},  // int4
    {2107, sizeof(IntegerSum), add_integer, numeric_sum_of_integers, true},
    {2102, sizeof(IntegerSum), add_integer, average_of_integers, true},
    {2101, sizeof(IntegerSum), add_integer, average_of_integers, true},
    {2100, sizeof(IntegerSum), add_integer, average_of_integers, true},
    {2114, sizeof(NumericAccumulator), add_numeric, numeric_sum, true},
    {2103, sizeof(NumericAccumulator), add_numeric, numeric_average, true},
    {2110, sizeof(FloatSum), add_float<float>, float_sum, true},
    {2111, sizeof(FloatSum), add_float<double>, float_sum, true},
    {2104, sizeof(FloatSum), add_float<double>, float_average, true},
    {2105, sizeof(FloatSum), add_float<double>, float_average, true},
    {2113, sizeof(IntervalSum), add_interval, interval_sum, true},
    {2106, sizeof(IntervalSum), add_interval, interval_average, true},
    MIN_MAX(type_oid::int8, 2131, 2115),
    MIN_MAX(type_oid::int4, 2132, 2116),
    MIN_MAX(type_oid::int2, 2133, 2117),
    MIN_MAX(type_oid::float4, 2135, 2119),
    MIN_MAX(type_oid::float8, 2136, 2120),
    MIN_MAX(type_oid::date, 2138, 2122),
    MIN_MAX(type_oid::time, 2139, 2123),
    MIN_MAX(type_oid::timestamp, 2142, 2126),
    MIN_MAX(type_oid::timestamptz, 2143, 2127),
    MIN_MAX(type_oid::timetz, 2140, 2124),
    MIN_MAX(type_oid::oid, 2134, 2118),
    MIN_MAX(type_oid::tid, 2798, 2797),
    MIN_MAX(type_oid::interval, 2144, 2128),
    MIN_MAX(type_oid::text, 2145, 2129),
    MIN_MAX(type_oid::numeric, 2146, 2130),
    MIN_MAX(type_oid::bpchar, 2245, 2244),
    MIN_MAX(type_oid::pg_lsn, 4190, 4189),
    {2517, sizeof(Folded), fold_in<Fold::all>, folded_value, true},  // bool_and
    {2519, sizeof(Folded), fold_in<Fold::all>, folded_value, true},  // every
    {2518, sizeof(Folded), fold_in<Fold::any>, folded_value, true},  // bool_or
    {2236, sizeof(Folded), fold_in<Fold::all>, folded_value, true},
    {2238, sizeof(Folded), fold_in<Fold::all>, folded_value, true},
    {2240, sizeof(Folded), fold_in<Fold::all>, folded_value, true},
    {2237, sizeof(Folded), fold_in<Fold::any>, folded_value, true},
    {2239, sizeof(Folded), fold_in<Fold::any>, folded_value, true},
    {2241, sizeof(Folded), fold_in<Fold::any>, folded_value, true},
    {6164, sizeof(Folded), fold_in<Fold::exclusive>, folded_value, true},
    {6165, sizeof(Folded), fold_in<Fold::exclusive>, folded_value, true},
    {6166, sizeof(Folded), fold_in<Fold::exclusive>, folded_value, true},
    {3538, sizeof(Joined), join, joined_text, false},
};

#undef MIN_MAX

}  // namespace

std::span<const AggregateFunction> aggregates() { return entries; }

}  // namespace pgsilo::functions
