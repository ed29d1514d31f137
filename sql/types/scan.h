// Small pieces of reading text forms, without locale: character classes, trimming, words, and the
// errors all share. Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <string_view>

namespace pgsilo {

inline bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
inline char lower_letter(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }
inline char upper_letter(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; }

inline std::string_view trim_space(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

inline bool equal_ignoring_case(std::string_view left, std::string_view right) {
  if (left.size() != right.size()) return false;
  for (size_t i = 0; i < left.size(); ++i) {
    if (lower_letter(left[i]) != lower_letter(right[i])) return false;
  }
  return true;
}

inline bool starts_with_ignoring_case(std::string_view text, std::string_view start) {
  return text.size() >= start.size() && equal_ignoring_case(text.substr(0, start.size()), start);
}

// 22P02 `invalid input syntax for type integer: "x"`.
[[noreturn]] void throw_invalid_syntax(std::string_view type_name, std::string_view text);
// 22P02 `invalid input syntax for type bytea`: for values too long or too raw to show.
[[noreturn]] void throw_invalid_syntax_plain(std::string_view type_name);
// 22003 `value "x" is out of range for type integer`.
[[noreturn]] void throw_value_out_of_range(std::string_view type_name, std::string_view text);

}  // namespace pgsilo
