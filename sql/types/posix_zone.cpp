#include "sql/types/posix_zone.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <system_error>

#include <absl/time/civil_time.h>

#include "sql/limits.h"

namespace pgsilo {
namespace {

constexpr int32_t hour_seconds = 3600;
constexpr int64_t day_seconds = 24 * 3600;
// Of zones that name none: those of the United States since 2007, in every year.
constexpr std::string_view default_rules = ",M3.2.0,M11.1.0";

class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  std::optional<PosixZone> read() {
    PosixZone zone;
    int32_t west = 0;
    if (!read_name(&zone.standard.abbreviation) || !read_offset(&west)) return std::nullopt;
    zone.standard.seconds_east = -west;
    if (rest_.empty()) return zone;
    PosixZone::Clock daylight{{}, hour_seconds - west};
    if (!read_name(&daylight.abbreviation) || daylight.abbreviation.empty()) return std::nullopt;
    if (!rest_.empty() && rest_.front() != ',') {
      if (!read_offset(&west)) return std::nullopt;
      daylight.seconds_east = -west;
    }
    zone.daylight = std::move(daylight);
    if (rest_.empty()) rest_ = default_rules;
    bool has_rules = take(',') && read_rule(&zone.start) && take(',') && read_rule(&zone.end);
    if (!has_rules || !rest_.empty()) return std::nullopt;
    return zone;
  }

 private:
  bool take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  // What stands up to a digit or sign, or in angle brackets; it may be nothing.
  bool read_name(std::string* name) {
    bool is_quoted = take('<');
    size_t end = is_quoted ? rest_.find('>') : rest_.find_first_of("0123456789,-+");
    if (is_quoted && end == std::string_view::npos) return false;
    *name = rest_.substr(0, end);
    rest_.remove_prefix(name->size() + (is_quoted ? 1 : 0));
    return true;
  }

  bool read_number(int32_t least, int32_t most, int32_t* number) {
    auto [stop, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), *number);
    if (error != std::errc() || rest_.front() == '-' || *number < least || *number > most)
      return false;
    rest_.remove_prefix(static_cast<size_t>(stop - rest_.data()));
    return true;
  }

  // "5", "+5:30", "-5:30:15"
  bool read_offset(int32_t* seconds) {
    bool is_negative = rest_.starts_with('-');
    if (is_negative || rest_.starts_with('+')) rest_.remove_prefix(1);
    int32_t total = 0;
    for (int32_t unit : {3600, 60, 1}) {
      int32_t value = 0;
      if (!read_number(0,
                       unit == 3600 ? limits::time_zone_hours - 1
                       : unit == 60 ? 59
                                    : 60,
                       &value))
        return false;
      total += value * unit;
      if (!rest_.starts_with(':')) break;
      rest_.remove_prefix(1);
    }
    *seconds = is_negative ? -total : total;
    return true;
  }

  bool read_rule(PosixRule* rule) {
    using Kind = PosixRule::Kind;
    bool known;
    if (take('J')) {
      rule->kind = Kind::day_without_leap;
      known = read_number(1, 365, &rule->day);
    } else if (take('M')) {
      known = read_number(1, 12, &rule->month) && take('.') && read_number(1, 5, &rule->week) &&
              take('.') && read_number(0, 6, &rule->day);
    } else {
      rule->kind = Kind::day_of_year;
      known = read_number(0, 365, &rule->day);
    }
    return known && (!take('/') || read_offset(&rule->time));
  }

  std::string_view rest_;
};

bool is_leap(int64_t year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

absl::CivilDay day_of(const PosixRule& rule, int64_t year) {
  absl::CivilDay first(year);
  if (rule.kind == PosixRule::Kind::day_of_year) return first + rule.day;
  if (rule.kind == PosixRule::Kind::day_without_leap)
    return first + rule.day - 1 + (is_leap(year) && rule.day >= 60 ? 1 : 0);
  absl::CivilDay day(year, rule.month);
  // absl counts from Monday, 0.
  int32_t weekday = (static_cast<int32_t>(absl::GetWeekday(day)) + 1) % 7;
  day += (rule.day - weekday + 7) % 7 + (rule.week - 1) * 7;
  return absl::CivilMonth(day) == absl::CivilMonth(year, rule.month) ? day : day - 7;
}

}  // namespace

bool PosixZone::is_daylight(int64_t unix_seconds) const {
  absl::CivilDay epoch(1970);
  int64_t days = unix_seconds / day_seconds;
  int64_t year = (epoch + days).year();
  bool found = true;  // daylight saving time that takes the whole year never ends
  int64_t last = std::numeric_limits<int64_t>::min();
  // The last change up to then.
  for (int64_t of = year - 1; of <= year + 1; ++of) {
    int64_t starts = (day_of(start, of) - epoch) * day_seconds + start.time - standard.seconds_east;
    int64_t ends = (day_of(end, of) - epoch) * day_seconds + end.time - daylight->seconds_east;
    bool end_first = ends < starts;
    int64_t year_seconds = (is_leap(of) ? 366 : 365) * day_seconds;
    int64_t gained = daylight->seconds_east - standard.seconds_east;
    if (!end_first && (starts == ends || ends - starts >= year_seconds + gained)) continue;
    for (bool to_daylight : {!end_first, end_first}) {
      int64_t moment = to_daylight ? starts : ends;
      if (moment > unix_seconds || moment < last) continue;
      last = moment;
      found = to_daylight;
    }
  }
  return found;
}

std::optional<PosixZone> read_posix_zone(std::string_view text) { return Reader(text).read(); }

}  // namespace pgsilo
