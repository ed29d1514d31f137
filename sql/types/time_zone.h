// A time zone by PostgreSQL's rules: the names of the IANA database in any letter case, POSIX-style
// fixed offsets
// ("UTC+3", "<-03>+03") and the numeric forms of SET TIME ZONE. The database itself stays behind
// this class. Thread safety: immutable; copies share.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace pgsilo {

class TimeZone {
 public:
  // What clocks show at one moment.
  struct Offset {
    int32_t seconds_east = 0;
    bool is_dst = false;
    char abbreviation[12] = "";  // "CET"; NUL-terminated
  };

  static TimeZone utc();
  // Nothing when there is no such zone. Reads files: done when a zone is set, not per value.
  static std::optional<TimeZone> load(std::string_view name);
  // The same without the numeric forms, of which POSIX reads the sign the other way round: "+5"
  // lies west of Greenwich.
  static std::optional<TimeZone> load_named(std::string_view name);
  // A constant offset; shown as PostgreSQL shows it: "<+05:30>-05:30".
  static TimeZone fixed(int32_t seconds_east);

  // As SHOW timezone prints it.
  const std::string& name() const;
  // At a moment given in seconds since 1970-01-01 00:00 UTC.
  Offset offset_at(int64_t unix_seconds) const;
  // For local clock readings, given in seconds as if the clock showed UTC. A reading that occurs
  // twice means the standard-time one, a skipped one is read with the offset before the gap: as
  // PostgreSQL's DetermineTimeZoneOffset.
  int32_t offset_at_local(int64_t local_seconds) const;
  // What `abbreviation` (any letter case) meant here when it was last used up to that moment, else
  // when it was first used after it; false when this zone never used it.
  bool find_abbreviation(std::string_view abbreviation, int64_t unix_seconds,
                         int32_t* seconds_east) const;
  // Whether the offset never changed.
  bool has_one_offset() const;

 private:
  struct Impl;
  explicit TimeZone(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

}  // namespace pgsilo
