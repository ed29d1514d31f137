// What regular expressions find, as texts. Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "sql/regex/regex.h"
#include "sql/sql_error.h"

namespace pgsilo::testing {

inline std::string piece(std::string_view text, regex::Matcher::Range range) {
  if (!range.is_set()) return "-";
  return std::string(text.substr(range.begin, range.end - range.begin));
}

// The first match and its captures: "abc|a|-"; "none" without one, and the message of an error.
inline std::string found(std::string_view pattern, std::string_view text,
                         regex::Options options = {}, size_t start = 0) {
  try {
    regex::Regex regex(pattern, options);
    regex::Matcher matcher(regex, text);
    if (!matcher.find(start, regex::Matcher::Groups::all)) return "none";
    std::string result = piece(text, matcher.group(0));
    for (size_t i = 1; i <= matcher.group_count(); ++i)
      result += "|" + piece(text, matcher.group(i));
    return result;
  } catch (const SqlError& error) {
    return error.what();
  }
}

inline bool matches(std::string_view pattern, std::string_view text, regex::Options options = {}) {
  regex::Regex regex(pattern, options);
  return regex::Matcher(regex, text).exists(0);
}

}  // namespace pgsilo::testing
