// What is known about each setting (PostgreSQL's "configuration parameters"), as data: name, kind,
// who may change it and when, its default and its bounds. Adding a setting is adding a row to the
// table. Thread safety: constant.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace pgsilo {

enum class SettingKind : uint8_t { boolean, integer, real, text, enumeration };

enum class SettingContext : uint8_t {
  internal,    // never
  server,      // on the command line only
  connection,  // when a session starts, too
  user,        // always
};

enum class SettingUnit : uint8_t {
  none,
  bytes,
  kilobytes,
  blocks,
  megabytes,
  milliseconds,
  seconds,
  minutes
};

struct SettingDefinition {
  std::string_view name;
  SettingKind kind = SettingKind::text;
  SettingContext context = SettingContext::user;
  SettingUnit unit = SettingUnit::none;
  std::string_view initial;
  double minimum = 0;  // 0 is admitted besides if it means something of its own
  double maximum = 0;
  std::span<const std::string_view> choices = {};
  // Brings a text into its canonical form; throws SqlError when it is not acceptable.
  void (*canonicalize)(std::string& value) = nullptr;
  bool reported = false;            // clients are told by ParameterStatus
  bool keeps_in_reset_all = false;  // RESET ALL leaves it as it is
  bool zero_is_special = false;
  std::string_view description;
};

// Sorted by name, letter case ignored.
std::span<const SettingDefinition> setting_definitions();
// Index into the table, or -1. Letter case is ignored.
int find_setting(std::string_view name);

// A value in its canonical form.
struct SettingValue {
  std::string text;     // as SHOW prints it; a text setting's value itself
  int64_t integer = 0;  // integer in its unit; boolean 0/1; enumeration: index of the choice
  double real = 0;
};

// Throws 22023 as PostgreSQL does when the value is not acceptable.
SettingValue parse_setting(const SettingDefinition& definition, std::string_view value);
// PostgreSQL's parse_bool: prefixes of true/false/yes/no, on, off, 1, 0. False when it is none of
// them.
bool parse_setting_boolean(std::string_view text, bool* value);

}  // namespace pgsilo
