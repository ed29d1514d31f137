#include "server/settings/setting_definition.h"

#include <charconv>
#include <cmath>
#include <cstdlib>

#include "sql/limits.h"
#include "sql/sql_error.h"

namespace pgsilo {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

int compare_names(std::string_view left, std::string_view right) {
  for (size_t i = 0; i < left.size() && i < right.size(); ++i) {
    char l = lower(left[i]), r = lower(right[i]);
    if (l != r) return l < r ? -1 : 1;
  }
  return left.size() == right.size() ? 0 : left.size() < right.size() ? -1 : 1;
}

bool equal_names(std::string_view left, std::string_view right) {
  return compare_names(left, right) == 0;
}

struct UnitName {
  std::string_view name;
  double factor;  // in the base of its family: bytes, milliseconds
};
constexpr UnitName memory_units[] = {
    {"TB", 1099511627776.0}, {"GB", 1073741824.0}, {"MB", 1048576.0}, {"kB", 1024.0}, {"B", 1.0}};
constexpr UnitName time_units[] = {{"d", 86400000.0}, {"h", 3600000.0}, {"min", 60000.0},
                                   {"s", 1000.0},     {"ms", 1.0},      {"us", 0.001}};

bool is_memory(SettingUnit unit) {
  return unit >= SettingUnit::bytes && unit <= SettingUnit::megabytes;
}

double base_factor(SettingUnit unit) {
  switch (unit) {
    case SettingUnit::kilobytes:
      return 1024;
    case SettingUnit::blocks:
      return limits::page_bytes;
    case SettingUnit::megabytes:
      return 1048576;
    case SettingUnit::seconds:
      return 1000;
    case SettingUnit::minutes:
      return 60000;
    default:
      return 1;
  }
}

std::string_view unit_suffix(SettingUnit unit) {
  switch (unit) {
    case SettingUnit::none:
      return "";
    case SettingUnit::bytes:
      return "B";
    case SettingUnit::kilobytes:
      return "kB";
    case SettingUnit::blocks:
      return "8kB";
    case SettingUnit::megabytes:
      return "MB";
    case SettingUnit::milliseconds:
      return "ms";
    case SettingUnit::seconds:
      return "s";
    case SettingUnit::minutes:
      return "min";
  }
  return "";
}

std::span<const UnitName> units_of(SettingUnit unit) {
  if (is_memory(unit)) return memory_units;
  return time_units;
}

SqlError invalid_value(const SettingDefinition& definition, std::string_view value) {
  return SqlError(sqlstate::invalid_parameter_value,
                  concat("invalid value for parameter \"", definition.name, "\": \"", value, "\""));
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || (text.front() >= '\t' && text.front() <= '\r'))) {
    text.remove_prefix(1);
  }
  while (!text.empty() && (text.back() == ' ' || (text.back() >= '\t' && text.back() <= '\r'))) {
    text.remove_suffix(1);
  }
  return text;
}

// A number (decimal, hexadecimal, octal or with a fraction) and the unit behind it, in the
// setting's own unit.
double parse_number(const SettingDefinition& definition, std::string_view value) {
  std::string text(trim(value));
  char* end = nullptr;
  double number = 0;
  size_t digits = text.find_first_not_of("+-");
  bool octal = digits != std::string::npos && text[digits] == '0' &&
               text.find_first_of(".eEx") == std::string::npos;
  if (octal) {
    number = static_cast<double>(std::strtoll(text.c_str(), &end, 0));
  } else {
    number = std::strtod(text.c_str(), &end);
  }
  if (text.empty() || end == text.c_str() || std::isnan(number))
    throw invalid_value(definition, value);
  std::string_view unit = trim(end);
  if (unit.empty()) return number;
  if (definition.unit == SettingUnit::none) throw invalid_value(definition, value);
  for (const UnitName& known : units_of(definition.unit)) {
    if (known.name == unit) return number * known.factor / base_factor(definition.unit);
  }
  throw invalid_value(definition, value)
      .hint(is_memory(definition.unit)
                ? "Valid units for this parameter are \"B\", \"kB\", \"MB\", \"GB\", and \"TB\"."
                : "Valid units for this parameter are \"us\", \"ms\", \"s\", \"min\", \"h\", and "
                  "\"d\".");
}

std::string print_real(double value) {
  char buffer[32];
  auto result = std::to_chars(buffer, buffer + sizeof buffer, value);
  return std::string(buffer, result.ptr);
}

// In the largest unit that needs no fraction, as SHOW prints it.
std::string print_integer(const SettingDefinition& definition, int64_t value) {
  if (value <= 0 || definition.unit == SettingUnit::none) return std::to_string(value);
  double in_base = static_cast<double>(value) * base_factor(definition.unit);
  for (const UnitName& unit : units_of(definition.unit)) {
    double count = in_base / unit.factor;
    if (count >= 1 && count == std::floor(count)) {
      return std::to_string(static_cast<int64_t>(count)) + std::string(unit.name);
    }
  }
  return std::to_string(value) + std::string(unit_suffix(definition.unit));
}

void check_bounds(const SettingDefinition& definition, double value, std::string_view printed) {
  if (value >= definition.minimum && value <= definition.maximum) return;
  if (value == 0 && definition.zero_is_special) return;
  std::string_view unit = unit_suffix(definition.unit);
  bool integer = definition.kind == SettingKind::integer;
  auto bound = [&](double number) {
    return integer ? std::to_string(static_cast<int64_t>(number)) : print_real(number);
  };
  throw SqlError(sqlstate::invalid_parameter_value,
                 concat(printed, unit.empty() ? "" : " ", unit,
                        " is outside the valid range for parameter \"", definition.name, "\" (",
                        bound(definition.minimum), " .. ", bound(definition.maximum), ")"));
}

SettingValue parse_integer(const SettingDefinition& definition, std::string_view value) {
  double number = std::nearbyint(parse_number(definition, value));
  if (number > INT32_MAX || number < INT32_MIN) {
    throw invalid_value(definition, value).hint("Value exceeds integer range.");
  }
  SettingValue parsed;
  parsed.integer = static_cast<int64_t>(number);
  check_bounds(definition, number, std::to_string(parsed.integer));
  parsed.text = print_integer(definition, parsed.integer);
  return parsed;
}

SettingValue parse_choice(const SettingDefinition& definition, std::string_view value) {
  SettingValue parsed;
  std::string spelled(value);
  bool boolean;
  std::string hint = "Available values: ";
  for (int pass = 0; pass < 2; ++pass) {
    for (size_t i = 0; i < definition.choices.size(); ++i) {
      if (pass == 0) {
        hint += definition.choices[i];
        hint += i + 1 == definition.choices.size() ? "." : ", ";
      }
      if (!equal_names(definition.choices[i], spelled)) continue;
      parsed.text = definition.choices[i];
      parsed.integer = static_cast<int64_t>(i);
      return parsed;
    }
    // Enumerations with an "on" take every spelling of a Boolean.
    if (!parse_setting_boolean(value, &boolean)) break;
    spelled = boolean ? "on" : "off";
  }
  throw invalid_value(definition, value).hint(std::move(hint));
}

bool is_prefix(std::string_view text, std::string_view word, size_t at_least = 1) {
  return text.size() >= at_least && text.size() <= word.size() &&
         equal_names(text, word.substr(0, text.size()));
}

SettingValue parse_boolean(const SettingDefinition& definition, std::string_view value) {
  SettingValue parsed;
  bool boolean = false;
  if (!parse_setting_boolean(value, &boolean)) {
    throw SqlError(sqlstate::invalid_parameter_value,
                   concat("parameter \"", definition.name, "\" requires a Boolean value"));
  }
  parsed.integer = boolean;
  parsed.text = boolean ? "on" : "off";
  return parsed;
}

SettingValue parse_real(const SettingDefinition& definition, std::string_view value) {
  SettingValue parsed;
  parsed.real = parse_number(definition, value);
  parsed.text = print_real(parsed.real);
  check_bounds(definition, parsed.real, parsed.text);
  return parsed;
}

SettingValue parse_by_kind(const SettingDefinition& definition, std::string_view value) {
  switch (definition.kind) {
    case SettingKind::boolean:
      return parse_boolean(definition, value);
    case SettingKind::integer:
      return parse_integer(definition, value);
    case SettingKind::real:
      return parse_real(definition, value);
    case SettingKind::enumeration:
      return parse_choice(definition, value);
    case SettingKind::text:
      break;
  }
  SettingValue parsed;
  parsed.text = value;
  return parsed;
}

}  // namespace

bool parse_setting_boolean(std::string_view text, bool* value) {
  if (is_prefix(text, "true") || is_prefix(text, "yes") || is_prefix(text, "on", 2) ||
      text == "1") {
    *value = true;
    return true;
  }
  if (is_prefix(text, "false") || is_prefix(text, "no") || is_prefix(text, "off", 2) ||
      text == "0") {
    *value = false;
    return true;
  }
  return false;
}

SettingValue parse_setting(const SettingDefinition& definition, std::string_view value) {
  SettingValue parsed = parse_by_kind(definition, value);
  if (definition.canonicalize != nullptr) definition.canonicalize(parsed.text);
  return parsed;
}

int find_setting(std::string_view name) {
  auto definitions = setting_definitions();
  size_t low = 0, high = definitions.size();
  while (low < high) {
    size_t middle = (low + high) / 2;
    int order = compare_names(definitions[middle].name, name);
    if (order == 0) return static_cast<int>(middle);
    if (order < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return -1;
}

}  // namespace pgsilo
