// The errors of regular expressions, in PostgreSQL's words. Thread safety: constant.
#pragma once

namespace pgsilo::regex {

namespace error {
inline constexpr const char* collating_element = "invalid collating element";
inline constexpr const char* character_class = "invalid character class";
inline constexpr const char* escape = "invalid escape \\ sequence";
inline constexpr const char* back_reference = "invalid backreference number";
inline constexpr const char* brackets = "brackets [] not balanced";
inline constexpr const char* parentheses = "parentheses () not balanced";
inline constexpr const char* braces = "braces {} not balanced";
inline constexpr const char* repetition = "invalid repetition count(s)";
inline constexpr const char* character_range = "invalid character range";
inline constexpr const char* quantifier = "quantifier operand invalid";
inline constexpr const char* version = "invalid regexp (reg version 0.8)";
inline constexpr const char* option = "invalid embedded option";
inline constexpr const char* too_complex = "regular expression is too complex";
inline constexpr const char* too_many_colors = "too many colors";
inline constexpr const char* cannot_happen = "\"cannot happen\" -- you found a bug";
}  // namespace error

// 2201B `invalid regular expression: what`.
[[noreturn]] void throw_invalid(const char* what);
// 2201B `regular expression failed: what`: it was valid, but did not fit.
[[noreturn]] void throw_failed(const char* what);
// Throws that a pattern is too complex when recursion has no room left.
void require_stack();

}  // namespace pgsilo::regex
