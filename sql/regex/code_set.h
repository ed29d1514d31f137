// Sets of characters as ranges of code points: what brackets, classes and single characters of a
// pattern stand for. Thread safety: one owner; named classes: any thread.
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>

#include "base/asking_allocator.h"

namespace pgsilo::regex {

// PostgreSQL's highest character (CHR_MAX); texts have none above U+10FFFF.
inline constexpr uint32_t highest_code = 0x7ffffffe;

struct CodeRange {
  uint32_t first;
  uint32_t last;
  auto operator<=>(const CodeRange&) const = default;
};
// Sorted, disjoint and not adjacent once it is normal.
using CodeSet = AskingVector<CodeRange>;

void make_normal(CodeSet& set);
// Of a normal set.
CodeSet complement(const CodeSet& set);
void append(CodeSet& to, const CodeSet& set);
void remove_code(CodeSet& normal, uint32_t code);

enum class CharacterClass : uint8_t {
  alnum,
  alpha,
  ascii,
  blank,
  cntrl,
  digit,
  graph,
  lower,
  print,
  punct,
  space,
  upper,
  xdigit,
  word,
};

// Throws "invalid character class".
CharacterClass find_class(std::u32string_view name);
// By the C library's tables for C.UTF-8, as PostgreSQL asks them.
const CodeSet& class_codes(CharacterClass which);
bool is_class_member(uint32_t code, CharacterClass which);  // alnum, alpha, digit, space

// [.name.]: POSIX's names of characters, or one character itself. Throws "invalid collating
// element".
uint32_t collating_element(std::u32string_view name);

// The simple mappings of C.UTF-8.
uint32_t lower_code(uint32_t code);
uint32_t upper_code(uint32_t code);
// The character in lower and in upper case.
void append_cases(uint32_t code, CodeSet& to);
// What differs in case from members of [first, last] and lies outside. Throws "too complex" when
// there are too many.
void append_cases_of_range(uint32_t first, uint32_t last, CodeSet& to);

}  // namespace pgsilo::regex
