// Operators and functions of dates, times, timestamps and intervals; the work is sql/types.
#include "sql/types/date_time.h"

#include <utility>

#include "base/clock.h"
#include "executor/execution_context.h"
#include "executor/functions/function.h"
#include "sql/types/type_context.h"

namespace pgsilo::functions {
namespace {

const TimeZone& zone(const EvalContext& context) { return context.types->time_zone; }
Datum of_interval(EvalContext& context, const Interval& value) {
  return interval_datum(value, *context.arena);
}
Interval interval(const Datum& value) { return interval_of(value); }

Datum date_minus_date(EvalContext&, const Datum* a) {
  return Datum::of_int(date_sub_dates(a[0].i64, a[1].i64));
}
Datum date_plus_days(EvalContext&, const Datum* a) {
  return Datum::of_int(date_add_days(a[0].i64, a[1].i64));
}
Datum days_plus_date(EvalContext&, const Datum* a) {
  return Datum::of_int(date_add_days(a[1].i64, a[0].i64));
}
Datum date_minus_days(EvalContext&, const Datum* a) {
  return Datum::of_int(date_add_days(a[0].i64, -a[1].i64));
}
Datum date_plus_interval(EvalContext&, const Datum* a) {
  return Datum::of_int(timestamp_add_interval(date_to_timestamp(a[0].i64), interval(a[1])));
}
Datum interval_plus_date(EvalContext&, const Datum* a) {
  return Datum::of_int(timestamp_add_interval(date_to_timestamp(a[1].i64), interval(a[0])));
}
Datum date_minus_interval(EvalContext&, const Datum* a) {
  return Datum::of_int(timestamp_sub_interval(date_to_timestamp(a[0].i64), interval(a[1])));
}
Datum date_plus_time(EvalContext&, const Datum* a) {
  return Datum::of_int(date_time_to_timestamp(a[0].i64, a[1].i64));
}
Datum time_plus_date(EvalContext&, const Datum* a) {
  return Datum::of_int(date_time_to_timestamp(a[1].i64, a[0].i64));
}

Datum timestamp_plus(EvalContext&, const Datum* a) {
  return Datum::of_int(timestamp_add_interval(a[0].i64, interval(a[1])));
}
Datum plus_timestamp(EvalContext&, const Datum* a) {
  return Datum::of_int(timestamp_add_interval(a[1].i64, interval(a[0])));
}
Datum timestamp_minus(EvalContext&, const Datum* a) {
  return Datum::of_int(timestamp_sub_interval(a[0].i64, interval(a[1])));
}
Datum timestamptz_plus(EvalContext& context, const Datum* a) {
  return Datum::of_int(timestamptz_add_interval(a[0].i64, interval(a[1]), zone(context)));
}
Datum plus_timestamptz(EvalContext& context, const Datum* a) {
  return Datum::of_int(timestamptz_add_interval(a[1].i64, interval(a[0]), zone(context)));
}
Datum timestamptz_minus(EvalContext& context, const Datum* a) {
  return Datum::of_int(timestamptz_sub_interval(a[0].i64, interval(a[1]), zone(context)));
}
Datum timestamp_difference(EvalContext& context, const Datum* a) {
  return of_interval(context, timestamp_sub_timestamps(a[0].i64, a[1].i64));
}
Datum time_plus(EvalContext&, const Datum* a) {
  return Datum::of_int(time_add_interval(a[0].i64, interval(a[1])));
}
Datum plus_time(EvalContext&, const Datum* a) {
  return Datum::of_int(time_add_interval(a[1].i64, interval(a[0])));
}
Datum time_minus(EvalContext&, const Datum* a) {
  return Datum::of_int(time_sub_interval(a[0].i64, interval(a[1])));
}
Datum time_difference(EvalContext& context, const Datum* a) {
  return of_interval(context, time_sub_times(a[0].i64, a[1].i64));
}

Datum plus_interval(EvalContext& context, const Datum* a) {
  return of_interval(context, interval_add(interval(a[0]), interval(a[1])));
}
Datum minus_interval(EvalContext& context, const Datum* a) {
  return of_interval(context, interval_sub(interval(a[0]), interval(a[1])));
}
Datum negate_interval(EvalContext& context, const Datum* a) {
  return of_interval(context, interval_negate(interval(a[0])));
}
Datum interval_times(EvalContext& context, const Datum* a) {
  return of_interval(context, interval_mul(interval(a[0]), a[1].f64));
}
Datum times_interval(EvalContext& context, const Datum* a) {
  return of_interval(context, interval_mul(interval(a[1]), a[0].f64));
}
Datum interval_divided(EvalContext& context, const Datum* a) {
  return of_interval(context, interval_div(interval(a[0]), a[1].f64));
}
template <Interval (*operation)(const Interval&)>
Datum justify(EvalContext& context, const Datum* a) {
  return of_interval(context, operation(interval(a[0])));
}
Datum make_interval(EvalContext& context, const Datum* a) {
  auto field = [&](int i) { return static_cast<int32_t>(a[i].i64); };
  return of_interval(context, pgsilo::make_interval(field(0), field(1), field(2), field(3),
                                                    field(4), field(5), a[6].f64));
}

Datum date_is_finite(EvalContext&, const Datum* a) {
  return Datum::of_bool(pgsilo::date_is_finite(a[0].i64));
}
Datum timestamp_is_finite(EvalContext&, const Datum* a) {
  return Datum::of_bool(pgsilo::timestamp_is_finite(a[0].i64));
}
Datum interval_is_finite(EvalContext&, const Datum*) { return Datum::of_bool(true); }

Datum now(EvalContext& context, const Datum*) {
  return Datum::of_int(context.execution->transaction_timestamp_us);
}
Datum statement_timestamp(EvalContext& context, const Datum*) {
  return Datum::of_int(context.execution->statement_timestamp_us);
}
Datum clock_timestamp(EvalContext&, const Datum*) {
  return Datum::of_int(unix_time_us() - postgres_epoch_unix_seconds * usecs_per_second);
}

Datum age(EvalContext& context, const Datum* a) {
  return of_interval(context, timestamp_age(a[0].i64, a[1].i64));
}
Datum age_with_zone(EvalContext& context, const Datum* a) {
  return of_interval(context, timestamptz_age(a[0].i64, a[1].i64, zone(context)));
}
// From midnight of today.
Datum age_of_timestamp(EvalContext& context, const Datum* a) {
  int64_t today = timestamptz_to_date(context.execution->transaction_timestamp_us, zone(context));
  return of_interval(context, timestamp_age(date_to_timestamp(today), a[0].i64));
}
Datum age_of_timestamptz(EvalContext& context, const Datum* a) {
  int64_t today = timestamptz_to_date(context.execution->transaction_timestamp_us, zone(context));
  return of_interval(
      context, timestamptz_age(date_to_timestamptz(today, zone(context)), a[0].i64, zone(context)));
}

Datum extract_from_date(EvalContext& context, const Datum* a) {
  return extract_date(a[0].bytes(), a[1].i64, *context.arena);
}
Datum extract_from_time(EvalContext& context, const Datum* a) {
  return extract_time(a[0].bytes(), a[1].i64, *context.arena);
}
Datum extract_from_timestamp(EvalContext& context, const Datum* a) {
  return extract_timestamp(a[0].bytes(), a[1].i64, *context.arena);
}
Datum extract_from_timestamptz(EvalContext& context, const Datum* a) {
  return extract_timestamptz(a[0].bytes(), a[1].i64, zone(context), *context.arena);
}
Datum extract_from_interval(EvalContext& context, const Datum* a) {
  return extract_interval(a[0].bytes(), interval(a[1]), *context.arena);
}
Datum part_of_date(EvalContext&, const Datum* a) {
  return date_part_timestamp(a[0].bytes(), date_to_timestamp(a[1].i64));
}
Datum part_of_time(EvalContext&, const Datum* a) { return date_part_time(a[0].bytes(), a[1].i64); }
Datum part_of_timestamp(EvalContext&, const Datum* a) {
  return date_part_timestamp(a[0].bytes(), a[1].i64);
}
Datum part_of_timestamptz(EvalContext& context, const Datum* a) {
  return date_part_timestamptz(a[0].bytes(), a[1].i64, zone(context));
}
Datum part_of_interval(EvalContext&, const Datum* a) {
  return date_part_interval(a[0].bytes(), interval(a[1]));
}

Datum trunc_timestamp(EvalContext&, const Datum* a) {
  return Datum::of_int(timestamp_trunc(a[0].bytes(), a[1].i64));
}
Datum trunc_timestamptz(EvalContext& context, const Datum* a) {
  return Datum::of_int(timestamptz_trunc(a[0].bytes(), a[1].i64, zone(context)));
}
Datum trunc_interval(EvalContext& context, const Datum* a) {
  return of_interval(context, interval_trunc(a[0].bytes(), interval(a[1])));
}
Datum bin(EvalContext&, const Datum* a) {
  return Datum::of_int(timestamp_bin(interval(a[0]), a[1].i64, a[2].i64));
}

Datum make_date(EvalContext&, const Datum* a) {
  auto field = [&](int i) { return static_cast<int32_t>(a[i].i64); };
  return Datum::of_int(pgsilo::make_date(field(0), field(1), field(2)));
}
Datum make_time(EvalContext&, const Datum* a) {
  return Datum::of_int(
      pgsilo::make_time(static_cast<int32_t>(a[0].i64), static_cast<int32_t>(a[1].i64), a[2].f64));
}
Datum make_timestamp(EvalContext&, const Datum* a) {
  auto field = [&](int i) { return static_cast<int32_t>(a[i].i64); };
  return Datum::of_int(
      pgsilo::make_timestamp(field(0), field(1), field(2), field(3), field(4), a[5].f64));
}
Datum to_timestamp(EvalContext&, const Datum* a) {
  return Datum::of_int(timestamptz_of_unix_seconds(a[0].f64));
}

// OVERLAPS: each period is two moments in any order; a null end makes a period of what is known of
// it. The second argument of a period may be its length.
using AddInterval = int64_t (*)(const EvalContext&, int64_t, const Interval&);
int64_t add_plain(const EvalContext&, int64_t moment, const Interval& length) {
  return timestamp_add_interval(moment, length);
}
int64_t add_zoned(const EvalContext& context, int64_t moment, const Interval& length) {
  return timestamptz_add_interval(moment, length, zone(context));
}

int64_t add_to_time(const EvalContext&, int64_t time, const Interval& length) {
  return time_add_interval(time, length);
}

struct Period {
  Datum start;
  Datum end;
};

template <AddInterval add>
Period period(const EvalContext& context, Datum start, Datum end, bool end_is_length) {
  if (end_is_length) {
    end = start.null || end.null ? Datum() : Datum::of_int(add(context, start.i64, interval(end)));
  }
  // A null start takes the end's place; then the later one goes last.
  if (start.null || (!end.null && start.i64 > end.i64)) std::swap(start, end);
  return {start, end};
}

template <AddInterval add, bool first_length, bool second_length>
Datum overlaps(EvalContext& context, const Datum* a) {
  Period first = period<add>(context, a[0], a[1], first_length);
  Period second = period<add>(context, a[2], a[3], second_length);
  if (first.start.null || second.start.null) return Datum();
  if (first.start.i64 == second.start.i64) {
    return first.end.null || second.end.null ? Datum() : Datum::of_bool(true);
  }
  if (first.start.i64 > second.start.i64) std::swap(first, second);
  if (first.end.null) return Datum();
  if (second.start.i64 < first.end.i64) return Datum::of_bool(true);
  return second.end.null ? Datum() : Datum::of_bool(false);
}

constexpr FunctionEntry entries[] = {
    {1140, date_minus_date},
    {1141, date_plus_days},
    {2550, days_plus_date},
    {1142, date_minus_days},
    {2071, date_plus_interval},
    {2546, interval_plus_date},
    {2072, date_minus_interval},
    {1272, date_plus_time},
    {1296, time_plus_date},
    {2032, timestamp_plus},
    {2548, plus_timestamp},
    {2033, timestamp_minus},
    {1189, timestamptz_plus},
    {2549, plus_timestamptz},
    {1190, timestamptz_minus},
    {2031, timestamp_difference},
    {1188, timestamp_difference},
    {1747, time_plus},
    {1848, plus_time},
    {1748, time_minus},
    {1690, time_difference},
    {1169, plus_interval},
    {1170, minus_interval},
    {1168, negate_interval},
    {1618, interval_times},
    {1624, times_interval},
    {1326, interval_divided},
    {1175, justify<justify_hours>},
    {1295, justify<justify_days>},
    {2711, justify<justify_interval>},
    {3464, make_interval},
    {1373, date_is_finite},
    {1389, timestamp_is_finite},
    {2048, timestamp_is_finite},
    {1390, interval_is_finite},
    {1299, now},
    {2647, now},  // transaction_timestamp
    {2648, statement_timestamp},
    {2649, clock_timestamp},
    {2058, age},
    {1199, age_with_zone},
    {2059, age_of_timestamp},
    {1386, age_of_timestamptz},
    {6199, extract_from_date},
    {6200, extract_from_time},
    {6202, extract_from_timestamp},
    {6203, extract_from_timestamptz},
    {6204, extract_from_interval},
    {1384, part_of_date},
    {1385, part_of_time},
    {2021, part_of_timestamp},
    {1171, part_of_timestamptz},
    {1172, part_of_interval},
    {2020, trunc_timestamp},
    {1217, trunc_timestamptz},
    {1218, trunc_interval},
    {6177, bin},
    {6178, bin},
    {3846, make_date},
    {3847, make_time},
    {3461, make_timestamp},
    {1158, to_timestamp},
    {1304, overlaps<add_zoned, false, false>},
    {1305, overlaps<add_zoned, true, true>},
    {1306, overlaps<add_zoned, false, true>},
    {1307, overlaps<add_zoned, true, false>},
    {1308, overlaps<add_to_time, false, false>},
    {1309, overlaps<add_to_time, true, true>},
    {1310, overlaps<add_to_time, false, true>},
    {1311, overlaps<add_to_time, true, false>},
    {2041, overlaps<add_plain, false, false>},
    {2042, overlaps<add_plain, true, true>},
    {2043, overlaps<add_plain, false, true>},
    {2044, overlaps<add_plain, true, false>},
};

}  // namespace

std::span<const FunctionEntry> date_time() { return entries; }

}  // namespace pgsilo::functions
