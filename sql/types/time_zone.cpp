#include "sql/types/time_zone.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <absl/time/civil_time.h>
#include <absl/time/time.h>
#include "sql/limits.h"
#include "sql/types/posix_zone.h"
#include "sql/types/scan.h"

namespace pgsilo {

struct TimeZone::Impl {
  std::string name;
  bool is_fixed = false;
  int32_t fixed_east = 0;
  std::string abbreviation;        // of a fixed zone
  absl::TimeZone zone;             // of others
  std::optional<PosixZone> posix;  // that has daylight saving time

  bool is_daylight(int64_t unix_seconds) const;
  Offset posix_offset_at(int64_t unix_seconds) const;
  int32_t posix_offset_at_local(int64_t local_seconds) const;
};

namespace {

constexpr const char* zone_directory = "/usr/share/zoneinfo";

bool is_zone_file(const std::string& name) {
  std::error_code error;
  return std::filesystem::is_regular_file(std::string(zone_directory) + "/" + name, error);
}

// "america/new_york" as "America/New_York": how most names are spelled.
std::string with_capitals(std::string_view name) {
  std::string spelled(name);
  bool start = true;
  for (char& c : spelled) {
    c = start ? upper_letter(c) : lower_letter(c);
    start = !is_letter(c);
  }
  return spelled;
}

// The entry of `directory` that is `part` but for letter case; empty when there is none.
std::string find_entry(const std::string& directory, std::string_view part) {
  std::error_code error;
  for (std::filesystem::directory_iterator at(directory, error), end; !error && at != end;
       at.increment(error)) {
    std::string entry = at->path().filename().string();
    if (equal_ignoring_case(entry, part)) return entry;
  }
  return {};
}

// The name in the database's spelling; empty when there is none. Only names that are files come
// back, so that nothing else is ever looked up, and remembered, by the library.
std::string find_zone_name(std::string_view name) {
  bool plausible = !name.empty() && is_letter(name[0]) && name.find("..") == std::string_view::npos;
  if (!plausible) return {};
  for (std::string& spelled : std::array{std::string(name), with_capitals(name)}) {
    if (is_zone_file(spelled)) return spelled;
  }
  std::string found;
  while (true) {
    size_t slash = name.find('/');
    std::string entry =
        find_entry(std::string(zone_directory) + "/" + found, name.substr(0, slash));
    if (entry.empty()) return {};
    found += entry;
    if (slash == std::string_view::npos) return is_zone_file(found) ? found : std::string();
    found += '/';
    name.remove_prefix(slash + 1);
  }
}

bool scan_hours(std::string_view text, int32_t* seconds_east) {
  double hours = 0;
  if (text.starts_with('+')) text.remove_prefix(1);
  bool is_hex = text.starts_with("0x") || text.starts_with("0X");
  if (is_hex) text.remove_prefix(2);
  auto [stop, error] =
      std::from_chars(text.data(), text.data() + text.size(), hours,
                      is_hex ? std::chars_format::hex : std::chars_format::general);
  if (error != std::errc() || stop != text.data() + text.size()) return false;
  if (!(std::fabs(hours) < limits::time_zone_hours)) return false;
  *seconds_east = static_cast<int32_t>(hours * 3600);
  return true;
}

std::string two_digits(int32_t value) {
  std::string text = std::to_string(value);
  return text.size() < 2 ? "0" + text : text;
}

// "+05:30"
std::string offset_text(int32_t seconds) {
  std::string text(seconds < 0 ? "-" : "+");
  int32_t magnitude = std::abs(seconds);
  text += two_digits(magnitude / 3600);
  if (magnitude % 3600 != 0) text += ":" + two_digits(magnitude / 60 % 60);
  if (magnitude % 60 != 0) text += ":" + two_digits(magnitude % 60);
  return text;
}

void copy_abbreviation(std::string_view text, TimeZone::Offset* offset) {
  size_t length = std::min(text.size(), sizeof offset->abbreviation - 1);
  text.copy(offset->abbreviation, length);
  offset->abbreviation[length] = '\0';
}

}  // namespace

TimeZone TimeZone::utc() {
  static const std::shared_ptr<const Impl> shared =
      std::make_shared<const Impl>(Impl{"UTC", true, 0, "UTC", absl::UTCTimeZone(), {}});
  return TimeZone(shared);
}

TimeZone TimeZone::fixed(int32_t seconds_east) {
  std::string east = offset_text(seconds_east);
  std::string name = "<" + east + ">" + offset_text(-seconds_east);
  return TimeZone(
      std::make_shared<const Impl>(Impl{std::move(name), true, seconds_east, east, {}, {}}));
}

std::optional<TimeZone> TimeZone::load(std::string_view name) {
  int32_t seconds_east = 0;
  return scan_hours(name, &seconds_east) ? fixed(seconds_east) : load_named(name);
}

std::optional<TimeZone> TimeZone::load_named(std::string_view name) {
  if (equal_ignoring_case(name, "UTC")) return utc();
  std::string spelled = find_zone_name(name);
  if (!spelled.empty()) {
    Impl impl;
    impl.name = spelled;
    if (absl::LoadTimeZone(spelled, &impl.zone)) {
      return TimeZone(std::make_shared<const Impl>(std::move(impl)));
    }
  }
  // PostgreSQL knows them by their capitals.
  std::string capitals(name.substr(0, limits::max_time_zone_bytes + 1));
  for (char& c : capitals) c = upper_letter(c);
  std::optional<PosixZone> posix = read_posix_zone(capitals);
  if (!posix || capitals.size() > limits::max_time_zone_bytes) return std::nullopt;
  Impl impl{capitals, true, posix->standard.seconds_east, posix->standard.abbreviation, {}, {}};
  if (posix->daylight) {
    impl.is_fixed = false;
    impl.posix = std::move(posix);
  }
  return TimeZone(std::make_shared<const Impl>(std::move(impl)));
}

bool TimeZone::Impl::is_daylight(int64_t unix_seconds) const {
  return posix->is_daylight(unix_seconds);
}

TimeZone::Offset TimeZone::Impl::posix_offset_at(int64_t unix_seconds) const {
  Offset offset;
  offset.is_dst = is_daylight(unix_seconds);
  const PosixZone::Clock& clock = offset.is_dst ? *posix->daylight : posix->standard;
  offset.seconds_east = clock.seconds_east;
  copy_abbreviation(clock.abbreviation, &offset);
  return offset;
}

int32_t TimeZone::Impl::posix_offset_at_local(int64_t local_seconds) const {
  int32_t standard = posix->standard.seconds_east;
  int32_t daylight = posix->daylight->seconds_east;
  if (!is_daylight(local_seconds - standard)) return standard;
  if (is_daylight(local_seconds - daylight)) return daylight;
  return posix_offset_at(local_seconds - std::max(standard, daylight)).seconds_east;
}

const std::string& TimeZone::name() const { return impl_->name; }

TimeZone::Offset TimeZone::offset_at(int64_t unix_seconds) const {
  Offset offset;
  if (impl_->is_fixed) {
    offset.seconds_east = impl_->fixed_east;
    copy_abbreviation(impl_->abbreviation, &offset);
    return offset;
  }
  if (impl_->posix) return impl_->posix_offset_at(unix_seconds);
  absl::TimeZone::CivilInfo info = impl_->zone.At(absl::FromUnixSeconds(unix_seconds));
  offset.seconds_east = info.offset;
  offset.is_dst = info.is_dst;
  copy_abbreviation(info.zone_abbr, &offset);
  return offset;
}

int32_t TimeZone::offset_at_local(int64_t local_seconds) const {
  if (impl_->is_fixed) return impl_->fixed_east;
  if (impl_->posix) return impl_->posix_offset_at_local(local_seconds);
  absl::CivilSecond civil =
      absl::ToCivilSecond(absl::FromUnixSeconds(local_seconds), absl::UTCTimeZone());
  absl::TimeZone::TimeInfo info = impl_->zone.At(civil);
  auto east_of = [&](absl::Time time) {
    return static_cast<int32_t>(local_seconds - absl::ToUnixSeconds(time));
  };
  if (info.kind != absl::TimeZone::TimeInfo::REPEATED) return east_of(info.pre);
  // Standard time if the two readings differ in that; else the later one, like PostgreSQL.
  bool first_is_dst = impl_->zone.At(info.pre).is_dst;
  bool second_is_dst = impl_->zone.At(info.post).is_dst;
  return east_of(first_is_dst || !second_is_dst ? info.post : info.pre);
}

bool TimeZone::find_abbreviation(std::string_view abbreviation, int64_t unix_seconds,
                                 int32_t* seconds_east) const {
  auto matches = [&](int64_t moment) {
    Offset offset = offset_at(moment);
    *seconds_east = offset.seconds_east;
    return equal_ignoring_case(offset.abbreviation, abbreviation);
  };
  if (matches(unix_seconds)) return true;
  if (impl_->is_fixed) return false;
  if (impl_->posix) {
    // The other one of two.
    bool is_dst = !impl_->is_daylight(unix_seconds);
    const auto& clock = is_dst ? *impl_->posix->daylight : impl_->posix->standard;
    *seconds_east = clock.seconds_east;
    return equal_ignoring_case(clock.abbreviation, abbreviation);
  }
  absl::TimeZone::CivilTransition transition;
  // When the clock was set; the reading it was set to may occur twice.
  auto moment_of = [&] {
    absl::TimeZone::TimeInfo info = impl_->zone.At(transition.to);
    return info.kind == absl::TimeZone::TimeInfo::UNIQUE ? info.pre : info.trans;
  };
  absl::Time moment = absl::FromUnixSeconds(unix_seconds + 1);
  while (impl_->zone.PrevTransition(moment, &transition)) {
    moment = moment_of();
    // The second before the change still has what was used up to it.
    if (matches(absl::ToUnixSeconds(moment) - 1)) return true;
  }
  moment = absl::FromUnixSeconds(unix_seconds);
  while (impl_->zone.NextTransition(moment, &transition)) {
    moment = moment_of();
    if (matches(absl::ToUnixSeconds(moment))) return true;
  }
  return false;
}

bool TimeZone::has_one_offset() const {
  absl::TimeZone::CivilTransition transition;
  if (impl_->posix) return false;
  return impl_->is_fixed || !impl_->zone.NextTransition(absl::InfinitePast(), &transition);
}

}  // namespace pgsilo
