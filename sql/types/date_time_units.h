// The words for units of time, in extract, date_trunc and interval literals. Internal to sql/types.
#pragma once

#include <cstdint>
#include <string_view>

namespace pgsilo {

enum class TimeUnit : uint8_t {
  none,
  microsecond,
  millisecond,
  second,
  minute,
  hour,
  day,
  week,
  month,
  quarter,
  year,
  decade,
  century,
  millennium,
  // only in extract and date_part
  epoch,
  julian,
  dow,
  isodow,
  doy,
  isoyear,
  timezone,
  timezone_hour,
  timezone_minute,
};

// By any of PostgreSQL's spellings ("mins", "c", "isodow") in any letter case; none for other
// words.
TimeUnit find_time_unit(std::string_view word);

// 22023 `unit "x" not recognized for type date`; 0A000 `unit "x" not supported for type date`.
[[noreturn]] void throw_unit_not_recognized(std::string_view word, std::string_view type);
[[noreturn]] void throw_unit_not_supported(std::string_view word, std::string_view type);

}  // namespace pgsilo
