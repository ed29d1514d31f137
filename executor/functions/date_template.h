// The template patterns of to_char, to_date and to_timestamp for moments and intervals, cut into
// nodes once per call. Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/asking_allocator.h"

namespace pgsilo {

enum class DatePattern : uint8_t {
  literal,
  meridiem,  // AM, PM
  meridiem_dotted,
  era,  // AD, BC
  era_dotted,
  exact,  // FX: texts that are read hold one character for each of the template's
  century,
  day_name,
  day_name_short,
  day_of_year,
  day_of_month,
  day_of_week,
  iso_day_of_week,
  iso_day_of_year,
  fraction,  // FF1..FF6, MS, US: `digits` says how many
  hour12,
  hour24,
  iso_week,
  iso_year,  // `digits` of it
  julian,
  minute,
  month_name,
  month_name_short,
  month,
  month_roman,
  quarter,
  second,
  seconds_of_day,
  zone_name,
  zone_hours,
  zone_minutes,
  zone_offset,
  week_of_year,
  week_of_month,
  year,  // `digits` of it
  year_with_comma,
};

enum class LetterCase : uint8_t { upper, capital, lower };

struct DateTemplateNode {
  DatePattern pattern = DatePattern::literal;
  LetterCase letters = LetterCase::upper;
  uint8_t digits = 0;
  bool fill_mode = false;  // FM, and TM of names: no padding
  bool ordinal = false;    // TH or th
  bool ordinal_lower = false;
  bool quoted = false;    // a literal from "..."
  std::string_view text;  // the pattern as it is written, or the literal's character
};

inline constexpr const char* month_names[] = {"January",   "February", "March",    "April",
                                              "May",       "June",     "July",     "August",
                                              "September", "October",  "November", "December"};
inline constexpr const char* day_names[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                            "Thursday", "Friday", "Saturday"};

AskingVector<DateTemplateNode> parse_date_template(std::string_view text);

}  // namespace pgsilo
