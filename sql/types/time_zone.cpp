#include "sql/types/time_zone.h"

#include <absl/time/time.h>

#include <cstdio>
#include <cstring>
#include <filesystem>

#include "sql/types/scan.h"

namespace pgsilo {

struct TimeZone::Impl {
  std::string name;
  absl::TimeZone zone;
  bool fixed = false;
  int32_t seconds_east = 0;
  std::string abbreviation;  // of a fixed zone
};

namespace {

constexpr const char* database = "/usr/share/zoneinfo";
constexpr int64_t seconds_per_day = 86400;

// [+-]hh[:mm[:ss]], east positive, without the sign's meaning turned.
std::string clock_offset(int32_t seconds) {
  char text[16];
  int32_t rest = seconds < 0 ? -seconds : seconds;
  int length = std::snprintf(text, sizeof text, "%c%02d", seconds < 0 ? '-' : '+', rest / 3600);
  if (rest % 3600 != 0) {
    length += std::snprintf(text + length, sizeof text - static_cast<size_t>(length), ":%02d",
                            rest / 60 % 60);
  }
  if (rest % 60 != 0) {
    std::snprintf(text + length, sizeof text - static_cast<size_t>(length), ":%02d", rest % 60);
  }
  return text;
}

// The database's own spelling of `name`, one path component at a time; empty when there is none.
std::string database_spelling(std::string_view name) {
  std::string found;
  std::string directory = database;
  while (!name.empty()) {
    std::string_view part = name.substr(0, name.find('/'));
    if (part.empty() || part.front() == '.') return {};
    std::error_code error;
    std::string spelled;
    for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
      std::string candidate = entry.path().filename().string();
      if (!equal_ignoring_case(candidate, part)) continue;
      spelled = candidate;
      if (candidate == part) break;
    }
    if (spelled.empty()) return {};
    directory += '/' + spelled;
    found += (found.empty() ? "" : "/") + spelled;
    name.remove_prefix(std::min(name.size(), part.size() + 1));
  }
  std::error_code error;
  return std::filesystem::is_regular_file(directory, error) ? found : std::string();
}

// h[h][:mm[:ss]] at the front of `text`; false when there is none.
bool take_clock(std::string_view& text, int32_t* seconds) {
  int32_t parts[3] = {0, 0, 0};
  for (int i = 0; i < 3; ++i) {
    if (i > 0) {
      if (text.empty() || text.front() != ':') break;
      text.remove_prefix(1);
    }
    size_t digits = 0;
    while (digits < text.size() && is_digit(text[digits]) && digits < 3) {
      parts[i] = parts[i] * 10 + (text[digits++] - '0');
    }
    if (digits == 0) return false;
    text.remove_prefix(digits);
  }
  *seconds = parts[0] * 3600 + parts[1] * 60 + parts[2];
  return parts[0] <= 167 && parts[1] < 60 && parts[2] < 60;
}

// POSIX: an abbreviation of letters or <...>, then an offset that counts westward. Without a
// daylight part.
bool parse_posix(std::string_view text, std::string* abbreviation, int32_t* seconds_east) {
  if (text.empty()) return false;
  if (text.front() == '<') {
    size_t close = text.find('>');
    if (close == std::string_view::npos) return false;
    *abbreviation = text.substr(1, close - 1);
    text.remove_prefix(close + 1);
  } else {
    size_t letters = 0;
    while (letters < text.size() && is_letter(text[letters])) ++letters;
    *abbreviation = text.substr(0, letters);
    text.remove_prefix(letters);
  }
  if (abbreviation->empty() || text.empty()) return false;
  bool negative = text.front() == '-';
  if (text.front() == '-' || text.front() == '+') text.remove_prefix(1);
  int32_t west = 0;
  if (!take_clock(text, &west) || !text.empty()) return false;
  *seconds_east = negative ? west : -west;
  return true;
}

}  // namespace

TimeZone TimeZone::utc() {
  static const auto shared =
      std::make_shared<const Impl>(Impl{"UTC", absl::UTCTimeZone(), true, 0, "UTC"});
  return TimeZone(shared);
}

TimeZone TimeZone::fixed(int32_t seconds_east) {
  std::string shown = clock_offset(seconds_east);
  std::string name = "<" + shown + ">" + clock_offset(-seconds_east);
  return TimeZone(std::make_shared<const Impl>(
      Impl{name, absl::FixedTimeZone(seconds_east), true, seconds_east, shown}));
}

std::optional<TimeZone> TimeZone::load(std::string_view name) {
  if (equal_ignoring_case(name, "UTC") || equal_ignoring_case(name, "GMT")) {
    std::string spelled = equal_ignoring_case(name, "UTC") ? "UTC" : "GMT";
    return TimeZone(
        std::make_shared<const Impl>(Impl{spelled, absl::UTCTimeZone(), true, 0, spelled}));
  }
  std::string spelled = database_spelling(name);
  absl::TimeZone zone;
  if (!spelled.empty() && absl::LoadTimeZone(spelled, &zone)) {
    return TimeZone(std::make_shared<const Impl>(Impl{spelled, zone, false, 0, {}}));
  }
  std::string abbreviation;
  int32_t seconds_east = 0;
  if (parse_posix(name, &abbreviation, &seconds_east)) {
    return TimeZone(std::make_shared<const Impl>(Impl{
        std::string(name), absl::FixedTimeZone(seconds_east), true, seconds_east, abbreviation}));
  }
  return std::nullopt;
}

const std::string& TimeZone::name() const { return impl_->name; }

TimeZone::Offset TimeZone::offset_at(int64_t unix_seconds) const {
  Offset offset;
  if (impl_->fixed) {
    offset.seconds_east = impl_->seconds_east;
    std::snprintf(offset.abbreviation, sizeof offset.abbreviation, "%s",
                  impl_->abbreviation.c_str());
    return offset;
  }
  absl::TimeZone::CivilInfo info = impl_->zone.At(absl::FromUnixSeconds(unix_seconds));
  offset.seconds_east = info.offset;
  offset.is_dst = info.is_dst;
  std::snprintf(offset.abbreviation, sizeof offset.abbreviation, "%s", info.zone_abbr);
  return offset;
}

int32_t TimeZone::offset_at_local(int64_t local_seconds) const {
  if (impl_->fixed) return impl_->seconds_east;
  // A zone's offset is less than a day: the offsets a day before and a day after enclose every
  // possible reading.
  Offset before = offset_at(local_seconds - seconds_per_day);
  Offset after = offset_at(local_seconds + seconds_per_day);
  if (before.seconds_east == after.seconds_east) {
    return offset_at(local_seconds - before.seconds_east).seconds_east;
  }
  bool fits_before =
      offset_at(local_seconds - before.seconds_east).seconds_east == before.seconds_east;
  bool fits_after =
      offset_at(local_seconds - after.seconds_east).seconds_east == after.seconds_east;
  if (fits_before && fits_after) return before.is_dst ? after.seconds_east : before.seconds_east;
  if (fits_after) return after.seconds_east;
  return before.seconds_east;
}

}  // namespace pgsilo
