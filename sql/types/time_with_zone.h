// time with time zone: a time of day and the offset it was said in.
// As a Datum: 12 bytes, the struct's fields in the machine's order, unaligned.
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "sql/types/datum.h"
#include "sql/types/type_context.h"

namespace pgsilo {

class Arena;
class ByteBuffer;

struct TimeWithZone {
  int64_t time = 0;          // microseconds since midnight, 24:00 included
  int32_t seconds_west = 0;  // of Greenwich, as PostgreSQL keeps it
};

TimeWithZone time_with_zone_of(Datum value);
Datum time_with_zone_datum(const TimeWithZone& value, Arena& arena);

// By the moment it means on any one day; of equal ones the more eastern first.
int time_with_zone_compare(const TimeWithZone& left, const TimeWithZone& right);

// What the clocks of `zone` show at a moment: current_time and the cast from timestamptz, which is
// finite.
TimeWithZone timestamptz_to_time_with_zone(int64_t timestamptz, const TimeZone& zone);
// With the offset that the session's zone has now.
TimeWithZone time_to_time_with_zone(int64_t time, const TypeContext& ctx);
// The same moment of a day by the clocks of `zone`, with the offset that it has at `now`.
TimeWithZone time_in_zone(const TimeWithZone& value, const TimeZone& zone, int64_t now);
// 22008 where the sum is no timestamp.
int64_t date_time_to_timestamptz(int64_t date, const TimeWithZone& time);

// As extract_time() and date_part_time() of date_time.h.
Datum extract_time_with_zone(std::string_view field, const TimeWithZone& value, Arena& arena);
Datum date_part_time_with_zone(std::string_view field, const TimeWithZone& value);

TimeWithZone parse_time_with_zone(std::string_view text, int32_t typmod, const TypeContext& ctx);
void print_time_with_zone(const TimeWithZone& value, ByteBuffer& out);

}  // namespace pgsilo
