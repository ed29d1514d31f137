// The zone abbreviations that timestamps may end in: PostgreSQL's set "Default".
#pragma once

#include <cstdint>
#include <string_view>

namespace pgsilo {

struct TimeZoneAbbreviation {
  std::string_view name;  // lower case
  int32_t seconds_east;
  bool is_dst;
  std::string_view zone;  // not empty: the offset changed over time, this zone tells it
};

// `name` in lower case; null when there is none.
const TimeZoneAbbreviation* find_time_zone_abbreviation(std::string_view name);

}  // namespace pgsilo
