// Time zones written out, in the way of POSIX's TZ: "EST5EDT,M3.2.0,M11.1.0", "<+03>-3".
// Thread safety: immutable once read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pgsilo {

// A day of each year, and the clock's reading on it in seconds.
struct PosixRule {
  enum class Kind : uint8_t { day_without_leap, day_of_year, weekday_of_month };
  Kind kind = Kind::weekday_of_month;
  int32_t month = 0;  // 1..12
  int32_t week = 0;   // 1..5, the last
  int32_t day = 0;    // 0 is Sunday; else 1..365, 0..365
  int32_t time = 2 * 3600;
};

struct PosixZone {
  struct Clock {
    std::string abbreviation;
    int32_t seconds_east = 0;
  };
  Clock standard;
  std::optional<Clock> daylight;
  PosixRule start;
  PosixRule end;

  // By the rules.
  bool is_daylight(int64_t unix_seconds) const;
};

// Nothing where it is none.
std::optional<PosixZone> read_posix_zone(std::string_view text);

}  // namespace pgsilo
