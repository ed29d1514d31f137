#include "tests/unit/sql/types/type_test_support.h"

#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "sql/types/interval_internal.h"
#include "sql/types/text.h"

namespace pgsilo {

namespace {

struct Spelled {
  std::string_view text;
  int fields;
};
constexpr Spelled interval_spellings[] = {
    {"interval year to month", interval_field_year | interval_field_month},
    {"interval year", interval_field_year},
    {"interval month", interval_field_month},
    {"interval day to hour", interval_field_day | interval_field_hour},
    {"interval day to minute", interval_field_day | interval_field_hour | interval_field_minute},
    {"interval day to second",
     interval_field_day | interval_field_hour | interval_field_minute | interval_field_second},
    {"interval day", interval_field_day},
    {"interval hour to minute", interval_field_hour | interval_field_minute},
    {"interval hour to second",
     interval_field_hour | interval_field_minute | interval_field_second},
    {"interval hour", interval_field_hour},
    {"interval minute to second", interval_field_minute | interval_field_second},
    {"interval minute", interval_field_minute},
    {"interval second", interval_field_second},
    {"interval", interval_all_fields},
};

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts(1);
  for (char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

void apply_date_style(std::string_view value, TypeContext* context) {
  for (const std::string& part : split(value, ',')) {
    std::string word(part.substr(part.find_first_not_of(' ')));
    if (word == "ISO") context->date_style = DateStyle::iso;
    if (word == "SQL") context->date_style = DateStyle::sql;
    if (word == "Postgres") context->date_style = DateStyle::postgres;
    if (word == "German") context->date_style = DateStyle::german;
    if (word == "MDY") context->date_order = DateOrder::mdy;
    if (word == "DMY") context->date_order = DateOrder::dmy;
    if (word == "YMD") context->date_order = DateOrder::ymd;
  }
}

IntervalStyle interval_style(std::string_view value) {
  if (value == "sql_standard") return IntervalStyle::sql_standard;
  if (value == "postgres_verbose") return IntervalStyle::postgres_verbose;
  if (value == "iso_8601") return IntervalStyle::iso_8601;
  return IntervalStyle::postgres;
}

const TypeInfo* type_by_display_name(std::string_view name) {
  for (const TypeInfo& type : all_types()) {
    if (type.display_name == name) return &type;
  }
  if (name == "time") return find_type(type_oid::time);
  if (name == "timestamp") return find_type(type_oid::timestamp);
  if (name == "timestamp[]") return find_type(type_oid::timestamp_array);
  throw std::runtime_error("no type " + std::string(name));
}

}  // namespace

void TypeTester::set(std::string_view settings) {
  for (const std::string& setting : split(settings, ';')) {
    if (setting.empty()) continue;
    size_t equals = setting.find('=');
    std::string name = setting.substr(0, equals);
    std::string value = setting.substr(equals + 1);
    if (name == "datestyle") {
      apply_date_style(value, &context);
    } else if (name == "intervalstyle") {
      context.interval_style = interval_style(value);
    } else if (name == "timezone") {
      context.time_zone = TimeZone::load(value).value();
    } else if (name == "extra_float_digits") {
      context.extra_float_digits = static_cast<int8_t>(std::stoi(value));
    } else if (name == "bytea_output") {
      context.bytea_output = value == "hex" ? ByteaOutput::hex : ByteaOutput::escape;
    } else {
      throw std::runtime_error("no setting " + name);
    }
  }
}

TypeAndModifier TypeTester::type(std::string_view name) {
  std::vector<int32_t> modifiers;
  std::string plain(name);
  size_t open = plain.find('(');
  if (open != std::string::npos) {
    size_t close = plain.find(')');
    for (const std::string& item : split(plain.substr(open + 1, close - open - 1), ',')) {
      modifiers.push_back(std::stoi(item));
    }
    plain.erase(open, close - open + 1);
  }
  if (plain.starts_with("interval") && !plain.ends_with("[]")) {
    for (const Spelled& spelled : interval_spellings) {
      if (spelled.text != plain) continue;
      modifiers.insert(modifiers.begin(), spelled.fields);
      const TypeInfo& type = type_info(type_oid::interval);
      return {&type, type.modifiers.make(modifiers)};
    }
  }
  const TypeInfo* type = type_by_display_name(plain);
  return {type, modifiers.empty() ? no_typmod : type->modifiers.make(modifiers)};
}

Datum TypeTester::cast(std::string_view text, const TypeAndModifier& target) {
  std::string_view kept = arena.copy_string(text);
  bool needs_modifier = target.type->oid == type_oid::interval;
  Datum value = target.type->parse(kept, needs_modifier ? target.typmod : no_typmod, context);
  if (target.typmod == no_typmod) return value;
  return target.type->apply_typmod(value, target.typmod, true, context);
}

std::string TypeTester::print(Datum value, const TypeInfo& type) {
  if (value.null) return "NULL";
  ByteBuffer out;
  type.print(value, out, context);
  return std::string(out.view());
}

std::string TypeTester::send(Datum value, const TypeInfo& type) {
  ByteBuffer out;
  type.send(value, out, context);
  return to_hex(out.view());
}

std::string error_text(const SqlError& error) {
  return concat("!", error.state().text(), " ", error.diagnostic().message);
}

std::vector<std::vector<std::string>> recorded_lines(std::string_view name) {
  std::filesystem::path path =
      std::filesystem::path(PGSILO_SOURCE_DIR) / "tests/unit/sql/types/data" / name;
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  std::vector<std::vector<std::string>> lines;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line[0] != '#') lines.push_back(split(line, '\t'));
  }
  return lines;
}

std::string unescape(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    bool escape = text[i] == '\\' && i + 1 < text.size();
    if (escape && text[i + 1] == 't') {
      result += '\t';
      ++i;
    } else if (escape && text[i + 1] == 'n') {
      result += '\n';
      ++i;
    } else {
      result += text[i];
    }
  }
  return result;
}

std::string to_hex(std::string_view bytes) {
  ByteBuffer out;
  print_hex(bytes, out);
  return std::string(out.view());
}

std::string from_hex(std::string_view hex) {
  Arena arena;
  return std::string(decode_hex(hex, arena));
}

}  // namespace pgsilo
