#include "server/settings/canonical.h"

#include "catalog/builtin_rows.h"
#include "sql/limits.h"
#include "sql/sql_error.h"
#include "sql/types/text.h"

namespace pgsilo {
namespace {

std::string lowered(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

SqlError invalid(std::string_view name, std::string_view value) {
  return SqlError(sqlstate::invalid_parameter_value,
                  concat("invalid value for parameter \"", name, "\": \"", value, "\""));
}

constexpr std::string_view style_names[] = {"ISO", "Postgres", "SQL", "German"};
constexpr std::string_view order_names[] = {"MDY", "DMY", "YMD"};

}  // namespace

bool split_name_list(std::string_view text, std::vector<std::string>* names) {
  names->clear();
  size_t at = 0;
  auto skip_blanks = [&] {
    while (at < text.size() && is_blank(text[at])) ++at;
  };
  skip_blanks();
  if (at == text.size()) return true;
  for (;;) {
    std::string name;
    if (text[at] == '"') {
      for (++at;; ++at) {
        if (at == text.size()) return false;
        if (text[at] == '"') {
          if (at + 1 < text.size() && text[at + 1] == '"') {
            ++at;
          } else {
            break;
          }
        }
        name += text[at];
      }
      ++at;
    } else {
      size_t start = at;
      while (at < text.size() && text[at] != ',' && !is_blank(text[at])) ++at;
      if (at == start) return false;
      name = lowered(text.substr(start, at - start));
    }
    names->push_back(std::string(text_clip(name, limits::max_identifier_bytes)));
    skip_blanks();
    if (at == text.size()) return true;
    if (text[at] != ',') return false;
    ++at;
    skip_blanks();
    if (at == text.size()) return false;
  }
}

void read_date_style(std::string_view canonical, DateStyle* style, DateOrder* order) {
  for (size_t i = 0; i < std::size(style_names); ++i) {
    if (canonical.starts_with(style_names[i])) *style = static_cast<DateStyle>(i);
  }
  for (size_t i = 0; i < std::size(order_names); ++i) {
    if (canonical.ends_with(order_names[i])) *order = static_cast<DateOrder>(i);
  }
}

// What is not said keeps the value's own default here (ISO, MDY); Settings completes it from the
// present value.
void canonicalize_date_style(std::string& value) {
  std::vector<std::string> words;
  if (!split_name_list(value, &words))
    throw invalid("DateStyle", value).detail("List syntax is invalid.");
  int style = -1, order = -1;
  bool conflict = false;
  auto choose = [&](int* slot, int choice) {
    if (*slot >= 0 && *slot != choice) conflict = true;
    *slot = choice;
  };
  bool german = false;
  for (const std::string& spelled : words) {
    std::string word = lowered(spelled);
    if (word == "iso") {
      choose(&style, 0);
    } else if (word.starts_with("postgres")) {
      choose(&style, 1);
    } else if (word == "sql") {
      choose(&style, 2);
    } else if (word == "german") {
      choose(&style, 3);
      german = true;
    } else if (word == "mdy" || word == "us" || word.starts_with("noneuro")) {
      choose(&order, 0);
    } else if (word == "dmy" || word.starts_with("euro")) {
      choose(&order, 1);
    } else if (word == "ymd") {
      choose(&order, 2);
    } else if (word == "default") {
      if (style < 0) style = 0;
      if (order < 0) order = 0;
    } else {
      throw invalid("DateStyle", value).detail(concat("Unrecognized key word: \"", spelled, "\"."));
    }
  }
  if (conflict)
    throw invalid("DateStyle", value).detail("Conflicting \"datestyle\" specifications.");
  if (german && order < 0) order = 1;
  std::string result;
  if (style >= 0) result = style_names[style];
  if (order >= 0) {
    if (!result.empty()) result += ", ";
    result += order_names[order];
  }
  value = result;
}

void canonicalize_time_zone(std::string& value) {
  std::optional<TimeZone> zone = TimeZone::load(value);
  if (!zone) throw invalid("TimeZone", value);
  value = zone->name();
}

void canonicalize_table_access_method(std::string& value) {
  constexpr std::string_view name = "default_table_access_method";
  if (value.empty()) throw invalid(name, value).detail(concat(name, " cannot be empty."));
  if (value != "heap")
    throw invalid(name, value)
        .detail(concat("Table access method \"", value, "\" does not exist."));
}

void canonicalize_client_encoding(std::string& value) {
  std::string plain;
  for (char c : lowered(value)) {
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) plain += c;
  }
  if (plain == "utf8" || plain == "unicode") {
    value = "UTF8";
    return;
  }
  if (plain == "sqlascii") {
    value = "SQL_ASCII";
    return;
  }
  struct Encoding {
    std::string_view plain;
    std::string_view name;
  };
  static constexpr Encoding others[] = {
      {"latin1", "LATIN1"},       {"iso88591", "LATIN1"},
      {"latin2", "LATIN2"},       {"iso88592", "LATIN2"},
      {"latin9", "LATIN9"},       {"iso885915", "LATIN9"},
      {"win1252", "WIN1252"},     {"windows1252", "WIN1252"},
      {"win1251", "WIN1251"},     {"windows1251", "WIN1251"},
      {"win1250", "WIN1250"},     {"windows1250", "WIN1250"},
      {"koi8r", "KOI8R"},         {"koi8u", "KOI8U"},
      {"eucjp", "EUC_JP"},        {"euckr", "EUC_KR"},
      {"euccn", "EUC_CN"},        {"euctw", "EUC_TW"},
      {"sjis", "SJIS"},           {"shiftjis", "SJIS"},
      {"big5", "BIG5"},           {"gbk", "GBK"},
      {"gb18030", "GB18030"},     {"uhc", "UHC"},
      {"johab", "JOHAB"},         {"win1253", "WIN1253"},
      {"win1254", "WIN1254"},     {"win1255", "WIN1255"},
      {"win1256", "WIN1256"},     {"win1257", "WIN1257"},
      {"win1258", "WIN1258"},     {"win866", "WIN866"},
      {"win874", "WIN874"},       {"iso88595", "ISO_8859_5"},
      {"iso88596", "ISO_8859_6"}, {"iso88597", "ISO_8859_7"},
      {"iso88598", "ISO_8859_8"}, {"latin3", "LATIN3"},
      {"latin4", "LATIN4"},       {"latin5", "LATIN5"},
      {"latin6", "LATIN6"},       {"latin7", "LATIN7"},
      {"latin8", "LATIN8"},       {"latin10", "LATIN10"},
  };
  for (const Encoding& other : others) {
    if (other.plain != plain) continue;
    throw SqlError(sqlstate::feature_not_supported,
                   concat("conversion between ", other.name, " and UTF8 is not supported"));
  }
  throw invalid("client_encoding", value);
}

// As PostgreSQL: what is not printable ASCII becomes a question mark.
void canonicalize_application_name(std::string& value) {
  value = text_clip(value, limits::max_identifier_bytes);
  for (char& c : value) {
    if (c < ' ' || c > '~') c = '?';
  }
}

void canonicalize_name_list(std::string& value) {
  std::vector<std::string> names;
  if (!split_name_list(value, &names))
    throw invalid("search_path", value).detail("List syntax is invalid.");
}

// Roles come with authentication: until then a session is its user and nobody else.
void require_role(std::string& value) {
  if (value == bootstrap_role_name) return;
  throw SqlError(sqlstate::invalid_parameter_value, concat("role \"", value, "\" does not exist"));
}

void require_role_or_none(std::string& value) {
  if (value != "none") require_role(value);
}

void require_standard_strings(std::string& value) {
  if (value != "on") throw_unsupported("standard_conforming_strings = off");
}

void canonicalize_wal_compression(std::string& value) {
  if (value == "on") value = "lz4";
}

}  // namespace pgsilo
