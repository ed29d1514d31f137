#include "executor/ddl/storage_options.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "sql/types/scan.h"

namespace pgsilo {

std::string option_value(const ast::DefElem& option) {
  if (option.argument == nullptr) return "true";
  const auto* constant = ast::try_as<ast::Constant>(option.argument);
  if (constant == nullptr) throw_unsupported(concat("a value of this kind for ", option.name));
  switch (constant->constant_kind) {
    case ast::ConstantKind::integer:
      return concat(constant->integer);
    case ast::ConstantKind::boolean:
      return constant->boolean ? "true" : "false";
    case ast::ConstantKind::null:
      return "null";
    default:
      return std::string(constant->text);
  }
}

namespace {

enum class ValueKind : uint8_t { boolean, integer, real, switch_or_auto };

// Of what has a parameter.
constexpr uint8_t tables = 1;
constexpr uint8_t toast = 2;
constexpr uint8_t indexes = 4;

struct StorageOption {
  std::string_view name;
  uint8_t owners;
  ValueKind kind = ValueKind::boolean;
  double least = 0;
  double most = 0;
};

constexpr double most_integer = std::numeric_limits<int32_t>::max();
constexpr uint8_t all_tables = tables | toast;

constexpr StorageOption known_options[] = {
    {"autovacuum_analyze_scale_factor", tables, ValueKind::real, 0, 100},
    {"autovacuum_analyze_threshold", tables, ValueKind::integer, 0, most_integer},
    {"autovacuum_enabled", all_tables},
    {"autovacuum_freeze_max_age", all_tables, ValueKind::integer, 100000, 2000000000},
    {"autovacuum_freeze_min_age", all_tables, ValueKind::integer, 0, 1000000000},
    {"autovacuum_freeze_table_age", all_tables, ValueKind::integer, 0, 2000000000},
    {"autovacuum_multixact_freeze_max_age", all_tables, ValueKind::integer, 10000, 2000000000},
    {"autovacuum_multixact_freeze_min_age", all_tables, ValueKind::integer, 0, 1000000000},
    {"autovacuum_multixact_freeze_table_age", all_tables, ValueKind::integer, 0, 2000000000},
    {"autovacuum_vacuum_cost_delay", all_tables, ValueKind::real, 0, 100},
    {"autovacuum_vacuum_cost_limit", all_tables, ValueKind::integer, 1, 10000},
    {"autovacuum_vacuum_insert_scale_factor", all_tables, ValueKind::real, 0, 100},
    {"autovacuum_vacuum_insert_threshold", all_tables, ValueKind::integer, -1, most_integer},
    {"autovacuum_vacuum_scale_factor", all_tables, ValueKind::real, 0, 100},
    {"autovacuum_vacuum_threshold", all_tables, ValueKind::integer, 0, most_integer},
    {"deduplicate_items", indexes},
    {"fillfactor", tables | indexes, ValueKind::integer, 10, 100},
    {"log_autovacuum_min_duration", all_tables, ValueKind::integer, -1, most_integer},
    {"parallel_workers", tables, ValueKind::integer, 0, 1024},
    {"toast_tuple_target", tables, ValueKind::integer, 128, 8160},
    {"user_catalog_table", tables},
    {"vacuum_index_cleanup", all_tables, ValueKind::switch_or_auto},
    {"vacuum_truncate", all_tables},
};

const StorageOption* find_option(std::string_view name, uint8_t owner) {
  auto found = std::ranges::find(known_options, name, &StorageOption::name);
  return found != std::end(known_options) && (found->owners & owner) != 0 ? found : nullptr;
}

[[noreturn]] void throw_invalid(std::string message) {
  throw SqlError(sqlstate::invalid_parameter_value, std::move(message));
}

// The beginning of a word is enough, unless on and off are left open.
bool is_boolean(std::string_view value) {
  if (value == "0" || value == "1") return true;
  if (value.empty() || equal_ignoring_case(value, "o")) return false;
  for (std::string_view word : {"true", "false", "yes", "no", "on", "off"}) {
    if (starts_with_ignoring_case(word, value)) return true;
  }
  return false;
}

bool is_switch_or_auto(std::string_view value) {
  for (std::string_view word : {"auto", "on", "off", "true", "false", "yes", "no", "1", "0"}) {
    if (equal_ignoring_case(value, word)) return true;
  }
  return false;
}

// As C reads it, with blanks around it; an integer also as a fraction, which is rounded, in octal
// and in hexadecimal.
bool read_number(const std::string& value, bool is_integer, double* number) {
  const char* begin = value.c_str();
  char* end = nullptr;
  bool is_whole = is_integer && value.find_first_of(".eE") == std::string::npos;
  errno = 0;
  *number = is_whole ? static_cast<double>(std::strtoll(begin, &end, 0)) : std::strtod(begin, &end);
  if (end == begin || errno == ERANGE || std::isnan(*number)) return false;
  if (is_integer) *number = std::rint(*number);
  while (is_space(*end)) ++end;
  bool fits = !is_integer || (*number >= std::numeric_limits<int32_t>::min() &&
                              *number <= std::numeric_limits<int32_t>::max());
  return end == begin + value.size() && fits;
}

std::string bound_text(ValueKind kind, double bound) {
  char text[400];
  std::snprintf(text, sizeof text, kind == ValueKind::real ? "%f" : "%.0f", bound);
  return text;
}

void check_number(const StorageOption& option, const std::string& value) {
  bool is_integer = option.kind == ValueKind::integer;
  double number = 0;
  if (!read_number(value, is_integer, &number)) {
    throw_invalid(concat("invalid value for ", is_integer ? "integer" : "floating point",
                         " option \"", option.name, "\": ", value));
  }
  if (number >= option.least && number <= option.most) return;
  throw SqlError(sqlstate::invalid_parameter_value,
                 concat("value ", value, " out of bounds for option \"", option.name, "\""))
      .detail(concat("Valid values are between \"", bound_text(option.kind, option.least),
                     "\" and \"", bound_text(option.kind, option.most), "\"."));
}

void check_value(const StorageOption& option, const std::string& value) {
  switch (option.kind) {
    case ValueKind::boolean:
      if (is_boolean(value)) return;
      throw_invalid(concat("invalid value for boolean option \"", option.name, "\": ", value));
    case ValueKind::switch_or_auto:
      if (is_switch_or_auto(value)) return;
      throw SqlError(sqlstate::invalid_parameter_value,
                     concat("invalid value for enum option \"", option.name, "\": ", value))
          .detail("Valid values are \"on\", \"off\", and \"auto\".");
    case ValueKind::integer:
    case ValueKind::real:
      return check_number(option, value);
  }
}

uint8_t owner_of(const ast::DefElem& option, StorageOptionsOf of) {
  if (option.name_space.empty()) return of == StorageOptionsOf::table ? tables : indexes;
  if (option.name_space == "toast" && of == StorageOptionsOf::table) return toast;
  throw_invalid(concat("unrecognized parameter namespace \"", option.name_space, "\""));
}

// "fillfactor" of "fillfactor=90"
std::string_view name_of(std::string_view option) { return option.substr(0, option.find('=')); }

bool is_given_before(ast::List<ast::DefElem> options, const ast::DefElem& option) {
  for (const ast::DefElem& other : options) {
    if (&other == &option) return false;
    if (other.name == option.name && other.name_space == option.name_space) return true;
  }
  return false;
}

void remove_named(std::vector<std::string>& options, ast::List<ast::DefElem> named) {
  for (const ast::DefElem& one : named) {
    if (!one.name_space.empty()) continue;
    std::erase_if(options, [&](const std::string& option) { return name_of(option) == one.name; });
  }
}

}  // namespace

std::vector<std::string> define_options(DdlRun& run, ast::List<ast::DefElem> options,
                                        StorageOptionsOf of) {
  std::vector<std::string> made;
  for (const ast::DefElem& option : options) {
    uint8_t owner = owner_of(option, of);
    const StorageOption* known = find_option(option.name, owner);
    if (known == nullptr) {
      if (option.name == "oids")
        throw_unsupported("WITH OIDS", run.binding().position(option.location));
      throw_invalid(concat("unrecognized parameter \"", option.name, "\""));
    }
    if (is_given_before(options, option))
      throw_invalid(concat("parameter \"", option.name, "\" specified more than once"));
    std::string value = option_value(option);
    check_value(*known, value);
    // What is of the table's large values is not shown with it.
    if (owner != toast) made.push_back(concat(option.name, "=", value));
  }
  return made;
}

std::vector<std::string> set_options(DdlRun& run, std::vector<std::string> before,
                                     ast::List<ast::DefElem> options, StorageOptionsOf of) {
  std::vector<std::string> added = define_options(run, options, of);
  remove_named(before, options);
  before.insert(before.end(), added.begin(), added.end());
  return before;
}

std::vector<std::string> reset_options(std::vector<std::string> before,
                                       ast::List<ast::DefElem> options) {
  for (const ast::DefElem& option : options) {
    if (option.argument != nullptr || !option.words.empty())
      throw SqlError(sqlstate::syntax_error, "RESET must not include values for parameters");
  }
  remove_named(before, options);
  return before;
}

}  // namespace pgsilo
