// AT TIME ZONE, and what there is of time with time zone beside comparisons.
#include <optional>
#include <string>

#include "base/byte_buffer.h"
#include "executor/functions/function.h"
#include "sql/sql_error.h"
#include "sql/types/date_time.h"
#include "sql/types/scan.h"
#include "sql/types/time_with_zone.h"
#include "sql/types/time_zone_abbreviation.h"
#include "sql/types/type_context.h"

namespace pgsilo::functions {
namespace {

// Abbreviations come before names of zones.
std::optional<TimeZone> find_zone(std::string_view name) {
  constexpr size_t longest = 10;
  if (name.size() <= longest) {
    std::string lower(name);
    for (char& c : lower) c = lower_letter(c);
    if (const TimeZoneAbbreviation* found = find_time_zone_abbreviation(lower))
      return found->zone.empty() ? TimeZone::fixed(found->seconds_east)
                                 : TimeZone::load(found->zone);
  }
  return TimeZone::load_named(name);
}

TimeZone named_zone(EvalContext&, const Datum& name) {
  std::optional<TimeZone> found = find_zone(name.bytes());
  if (!found) {
    throw SqlError(sqlstate::invalid_parameter_value,
                   concat("time zone \"", name.bytes(), "\" not recognized"));
  }
  return *found;
}
// An interval without days and months.
TimeZone interval_zone(EvalContext& context, const Datum& value) {
  Interval offset = interval_of(value);
  if (offset.month != 0 || offset.day != 0) {
    ByteBuffer shown;
    print_interval(offset, context.types->interval_style, shown);
    throw SqlError(sqlstate::invalid_parameter_value, concat("interval time zone \"", shown.view(),
                                                             "\" must not include months or days"));
  }
  return TimeZone::fixed(static_cast<int32_t>(offset.time / usecs_per_second));
}

using ZoneOf = TimeZone (*)(EvalContext&, const Datum&);

// Of an infinite moment nobody looks at the zone.
template <int64_t (*convert)(int64_t, const TimeZone&), ZoneOf zone_of>
Datum at_zone(EvalContext& context, const Datum* a) {
  if (!timestamp_is_finite(a[1].i64)) return a[1];
  return Datum::of_int(convert(a[1].i64, zone_of(context, a[0])));
}
Datum trunc_in_zone(EvalContext& context, const Datum* a) {
  if (!timestamp_is_finite(a[1].i64)) return a[1];
  return Datum::of_int(timestamptz_trunc(a[0].bytes(), a[1].i64, named_zone(context, a[2])));
}

Datum made(EvalContext& context, const TimeWithZone& value) {
  return time_with_zone_datum(value, *context.arena);
}

Datum time_of(EvalContext&, const Datum* a) { return Datum::of_int(time_with_zone_of(a[0]).time); }
Datum of_time(EvalContext& context, const Datum* a) {
  return made(context, time_to_time_with_zone(a[0].i64, *context.types));
}
Datum of_timestamptz(EvalContext& context, const Datum* a) {
  if (!timestamp_is_finite(a[0].i64)) return Datum();
  return made(context, timestamptz_to_time_with_zone(a[0].i64, context.types->time_zone));
}

template <ZoneOf zone_of>
Datum moved_to_zone(EvalContext& context, const Datum* a) {
  return made(context, time_in_zone(time_with_zone_of(a[1]), zone_of(context, a[0]),
                                    context.types->transaction_timestamp));
}

Datum plus(EvalContext& context, const Datum* a) {
  TimeWithZone time = time_with_zone_of(a[0]);
  return made(context, {time_add_interval(time.time, interval_of(a[1])), time.seconds_west});
}
Datum interval_plus(EvalContext& context, const Datum* a) {
  const Datum turned[] = {a[1], a[0]};
  return plus(context, turned);
}
Datum minus(EvalContext& context, const Datum* a) {
  TimeWithZone time = time_with_zone_of(a[0]);
  return made(context, {time_sub_interval(time.time, interval_of(a[1])), time.seconds_west});
}
Datum date_plus(EvalContext&, const Datum* a) {
  return Datum::of_int(date_time_to_timestamptz(a[0].i64, time_with_zone_of(a[1])));
}
Datum plus_date(EvalContext&, const Datum* a) {
  return Datum::of_int(date_time_to_timestamptz(a[1].i64, time_with_zone_of(a[0])));
}

Datum extract(EvalContext& context, const Datum* a) {
  return extract_time_with_zone(a[0].bytes(), time_with_zone_of(a[1]), *context.arena);
}
Datum part(EvalContext&, const Datum* a) {
  return date_part_time_with_zone(a[0].bytes(), time_with_zone_of(a[1]));
}

constexpr FunctionEntry entries[] = {
    {1159, at_zone<timestamptz_to_timestamp, named_zone>},
    {2069, at_zone<timestamp_to_timestamptz, named_zone>},
    {1026, at_zone<timestamptz_to_timestamp, interval_zone>},
    {2070, at_zone<timestamp_to_timestamptz, interval_zone>},
    {1284, trunc_in_zone},
    {2046, time_of},
    {2047, of_time},
    {1388, of_timestamptz},
    {2037, moved_to_zone<named_zone>},
    {2038, moved_to_zone<interval_zone>},
    {1749, plus},
    {2547, interval_plus},
    {1750, minus},
    {1297, date_plus},
    {1298, plus_date},
    {1359, date_plus},
    {6201, extract},
    {1273, part},
};

}  // namespace

std::span<const FunctionEntry> time_zone() { return entries; }

}  // namespace pgsilo::functions
