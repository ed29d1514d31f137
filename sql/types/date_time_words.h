// The words of date, time and interval input, and the units of extract() and date_trunc(). Internal
// to sql/types. Thread safety: constant data.
#pragma once

#include <cstdint>
#include <string_view>

namespace pgsilo {

// What a word in a date or time says.
enum class WordKind : uint8_t {
  unknown,
  ignored,       // at, on
  month,         // value 1..12
  weekday,       // value 0..6
  meridian,      // am 0, pm 1
  era,           // ad 0, bc 1
  dst_modifier,  // dst: one hour on top of the zone before it
  now,           // reserved words
  today,
  tomorrow,
  yesterday,
  allballs,  // 00:00:00 UTC
  epoch,
  infinity,
  minus_infinity,
  julian_label,  // j, jd, julian: a day number follows
  iso_time,      // t: a time follows
  unit,          // y, m, d, h, mm, s: that number follows, value a LabelledPart
  other_unit,    // dow and its kin: not accepted
};
enum class LabelledPart : uint8_t { year, month, day, hour, minute, second };
struct Word {
  WordKind kind = WordKind::unknown;
  int value = 0;
};

// The longest words that count; longer input is compared by its first letters only.
inline constexpr size_t max_word_letters = 10;

// `text` in lower case.
Word find_word(std::string_view text);

// Units of intervals and of extract().
enum class TimeUnit : uint8_t {
  unknown,
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
  // extract() only
  day_of_week,
  day_of_year,
  iso_day_of_week,
  iso_year,
  julian,
  epoch,
  timezone,
  timezone_hour,
  timezone_minute,
  ago,  // interval input only: turns the sign
};

// Names and abbreviations; `text` in lower case. For interval input.
TimeUnit find_interval_unit(std::string_view text);
// The same in any letter case: units of date_trunc().
TimeUnit find_trunc_unit(std::string_view text);
// And those that only extract() has.
TimeUnit find_extract_unit(std::string_view text);

// 22023 `unit "x" not recognized for type date` and 0A000 `unit "x" not supported for type date`.
[[noreturn]] void throw_unit_not_recognized(std::string_view word, std::string_view type_name);
[[noreturn]] void throw_unit_not_supported(std::string_view word, std::string_view type_name);

}  // namespace pgsilo
