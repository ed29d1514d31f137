// =, <>, <, <=, >, >= over every type, and the few functions that are comparisons by another name.
#include "executor/functions/function.h"
#include "sql/types/date_time.h"
#include "sql/types/float.h"
#include "sql/types/interval.h"
#include "sql/types/numeric.h"
#include "sql/types/text.h"
#include "sql/types/time_with_zone.h"
#include "sql/types/type.h"
#include "sql/types/type_context.h"

namespace pgsilo::functions {
namespace {

// How two arguments of a comparison are ordered: <0, 0, >0.
int by_integer(EvalContext&, const Datum* a) {
  return a[0].i64 < a[1].i64 ? -1 : a[0].i64 > a[1].i64;
}
int by_xid_integer(EvalContext&, const Datum* a) {
  return a[0].i64 == static_cast<uint32_t>(a[1].i64) ? 0 : 1;
}
int by_oids(EvalContext&, const Datum* a) {
  return type_info(type_oid::oidvector).compare(a[0], a[1]);
}
int by_float(EvalContext&, const Datum* a) { return float_compare(a[0].f64, a[1].f64); }
int by_bytes(EvalContext&, const Datum* a) { return a[0].bytes().compare(a[1].bytes()); }
int by_blank_padded(EvalContext&, const Datum* a) {
  return bpchar_trim(a[0].bytes()).compare(bpchar_trim(a[1].bytes()));
}
int by_numeric(EvalContext&, const Datum* a) { return numeric_compare(a[0], a[1]); }
int by_interval(EvalContext&, const Datum* a) {
  return interval_compare(interval_of(a[0]), interval_of(a[1]));
}
int by_time_with_zone(EvalContext&, const Datum* a) {
  return time_with_zone_compare(time_with_zone_of(a[0]), time_with_zone_of(a[1]));
}
int date_timestamp(EvalContext&, const Datum* a) {
  return date_compare_timestamp(a[0].i64, a[1].i64);
}
int timestamp_date(EvalContext&, const Datum* a) {
  return -date_compare_timestamp(a[1].i64, a[0].i64);
}
int date_timestamptz(EvalContext& context, const Datum* a) {
  return date_compare_timestamptz(a[0].i64, a[1].i64, context.types->time_zone);
}
int timestamptz_date(EvalContext& context, const Datum* a) {
  return -date_compare_timestamptz(a[1].i64, a[0].i64, context.types->time_zone);
}
int timestamp_timestamptz(EvalContext& context, const Datum* a) {
  return timestamp_compare_timestamptz(a[0].i64, a[1].i64, context.types->time_zone);
}
int timestamptz_timestamp(EvalContext& context, const Datum* a) {
  return -timestamp_compare_timestamptz(a[1].i64, a[0].i64, context.types->time_zone);
}

using Order = int (*)(EvalContext&, const Datum*);

template <Order order>
Datum equal(EvalContext& context, const Datum* a) {
  return Datum::of_bool(order(context, a) == 0);
}
template <Order order>
Datum not_equal(EvalContext& context, const Datum* a) {
  return Datum::of_bool(order(context, a) != 0);
}
template <Order order>
Datum less(EvalContext& context, const Datum* a) {
  return Datum::of_bool(order(context, a) < 0);
}
template <Order order>
Datum less_or_equal(EvalContext& context, const Datum* a) {
  return Datum::of_bool(order(context, a) <= 0);
}
template <Order order>
Datum greater(EvalContext& context, const Datum* a) {
  return Datum::of_bool(order(context, a) > 0);
}
template <Order order>
Datum greater_or_equal(EvalContext& context, const Datum* a) {
  return Datum::of_bool(order(context, a) >= 0);
}

// Equality of strings needs no order: lengths decide first.
Datum bytes_equal(EvalContext&, const Datum* a) {
  return Datum::of_bool(a[0].bytes() == a[1].bytes());
}
Datum bytes_not_equal(EvalContext&, const Datum* a) {
  return Datum::of_bool(a[0].bytes() != a[1].bytes());
}

Datum larger_integer(EvalContext&, const Datum* a) { return a[0].i64 > a[1].i64 ? a[0] : a[1]; }
Datum smaller_integer(EvalContext&, const Datum* a) { return a[0].i64 < a[1].i64 ? a[0] : a[1]; }

// OIDs in the order = <> < <= > >=.
#define COMPARISONS(order, eq, ne, lt, le, gt, ge)                                           \
  {eq, equal<order>}, {ne, not_equal<order>}, {lt, less<order>}, {le, less_or_equal<order>}, \
      {gt, greater<order>}, {                                                                \
    ge, greater_or_equal<order>                                                              \
  }
#define STRING_COMPARISONS(order, eq, ne, lt, le, gt, ge)                                  \
  {eq, bytes_equal}, {ne, bytes_not_equal}, {lt, less<order>}, {le, less_or_equal<order>}, \
      {gt, greater<order>}, {                                                              \
    ge, greater_or_equal<order>                                                            \
  }

constexpr FunctionEntry entries[] = {
    COMPARISONS(by_integer, 60, 84, 56, 1691, 57, 1692),               // boolean
    COMPARISONS(by_integer, 61, 70, 1246, 72, 73, 74),                 // "char"
    COMPARISONS(by_integer, 63, 145, 64, 148, 146, 151),               // int2
    COMPARISONS(by_integer, 65, 144, 66, 149, 147, 150),               // int4
    COMPARISONS(by_integer, 467, 468, 469, 471, 470, 472),             // int8
    COMPARISONS(by_integer, 158, 164, 160, 166, 162, 168),             // int2, int4
    COMPARISONS(by_integer, 159, 165, 161, 167, 163, 169),             // int4, int2
    COMPARISONS(by_integer, 1850, 1851, 1852, 1854, 1853, 1855),       // int2, int8
    COMPARISONS(by_integer, 1856, 1857, 1858, 1860, 1859, 1861),       // int8, int2
    COMPARISONS(by_integer, 852, 853, 854, 856, 855, 857),             // int4, int8
    COMPARISONS(by_integer, 474, 475, 476, 478, 477, 479),             // int8, int4
    COMPARISONS(by_integer, 184, 185, 716, 717, 1638, 1639),           // oid
    COMPARISONS(by_float, 287, 288, 289, 290, 291, 292),               // float4
    COMPARISONS(by_float, 293, 294, 295, 296, 297, 298),               // float8
    COMPARISONS(by_float, 299, 300, 301, 302, 303, 304),               // float4, float8
    COMPARISONS(by_float, 305, 306, 307, 308, 309, 310),               // float8, float4
    COMPARISONS(by_numeric, 1718, 1719, 1722, 1723, 1720, 1721),       // numeric
    STRING_COMPARISONS(by_bytes, 67, 157, 740, 741, 742, 743),         // text
    STRING_COMPARISONS(by_bytes, 62, 659, 655, 656, 657, 658),         // name
    STRING_COMPARISONS(by_bytes, 240, 245, 241, 242, 244, 243),        // name, text
    STRING_COMPARISONS(by_bytes, 247, 252, 248, 249, 251, 250),        // text, name
    STRING_COMPARISONS(by_bytes, 1948, 1953, 1949, 1950, 1951, 1952),  // bytea
    COMPARISONS(by_blank_padded, 1048, 1053, 1049, 1050, 1051, 1052),  // bpchar
    COMPARISONS(by_integer, 1086, 1091, 1087, 1088, 1089, 1090),       // date
    COMPARISONS(by_integer, 1145, 1106, 1102, 1103, 1104, 1105),       // time
    COMPARISONS(by_integer, 2052, 2053, 2054, 2055, 2057, 2056),       // timestamp
    COMPARISONS(by_integer, 1152, 1153, 1154, 1155, 1157, 1156),       // timestamptz
    COMPARISONS(by_interval, 1162, 1163, 1164, 1165, 1167, 1166),      // interval
    COMPARISONS(by_time_with_zone, 1352, 1353, 1354, 1355, 1357, 1356),
    COMPARISONS(date_timestamp, 2340, 2343, 2338, 2339, 2341, 2342),
    COMPARISONS(timestamp_date, 2366, 2369, 2364, 2365, 2367, 2368),
    COMPARISONS(date_timestamptz, 2353, 2356, 2351, 2352, 2354, 2355),
    COMPARISONS(timestamptz_date, 2379, 2382, 2377, 2378, 2380, 2381),
    COMPARISONS(timestamp_timestamptz, 2522, 2525, 2520, 2521, 2523, 2524),
    COMPARISONS(timestamptz_timestamp, 2529, 2532, 2527, 2528, 2530, 2531),
    COMPARISONS(by_integer, 1292, 1265, 2791, 2793, 2790, 2792),  // tid
    {1319, equal<by_xid_integer>},                                // xideqint4
    {3309, not_equal<by_xid_integer>},                            // xidneqint4
    {69, equal<by_integer>},                                      // cideq
    {68, equal<by_integer>},                                      // xideq
    {3308, not_equal<by_integer>},                                // xidneq
    {677, less<by_oids>},                                         // oidvector
    {678, less_or_equal<by_oids>},
    {680, greater_or_equal<by_oids>},
    {681, greater<by_oids>},
    {679, bytes_equal},                                           // oidvectoreq
    {619, bytes_not_equal},                                       // oidvectorne
    COMPARISONS(by_integer, 3233, 3236, 3231, 3232, 3235, 3234),  // pg_lsn
    {768, larger_integer},
    {769, smaller_integer},
    {2795, larger_integer},  // tid
    {2796, smaller_integer},
    {4187, larger_integer},
    {4188, smaller_integer},
};

#undef COMPARISONS
#undef STRING_COMPARISONS

}  // namespace

std::span<const FunctionEntry> comparison() { return entries; }

}  // namespace pgsilo::functions
