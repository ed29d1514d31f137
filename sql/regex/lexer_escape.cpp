// The escapes of advanced regular expressions.
#include "sql/regex/lexer.h"
#include "sql/regex/regex_error.h"

namespace pgsilo::regex {
namespace {

constexpr uint32_t no_digit = ~uint32_t{0};

uint32_t digit_value(uint32_t c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return no_digit;
}

constexpr uint32_t number(CharacterClass which) { return static_cast<uint32_t>(which); }

// Those of a letter alone.
struct Escape {
  char32_t letter;
  Token token;
  uint32_t value;
};
constexpr Escape escapes[] = {
    {'a', Token::character, '\a'},
    {'b', Token::character, '\b'},
    {'B', Token::character, '\\'},
    {'e', Token::character, 033},
    {'f', Token::character, '\f'},
    {'n', Token::character, '\n'},
    {'r', Token::character, '\r'},
    {'t', Token::character, '\t'},
    {'v', Token::character, '\v'},
    {'d', Token::class_escape, number(CharacterClass::digit)},
    {'s', Token::class_escape, number(CharacterClass::space)},
    {'w', Token::class_escape, number(CharacterClass::word)},
    {'D', Token::class_escape_complement, number(CharacterClass::digit)},
    {'S', Token::class_escape_complement, number(CharacterClass::space)},
    {'W', Token::class_escape_complement, number(CharacterClass::word)},
    {'A', Token::text_begin, 0},
    {'Z', Token::text_end, 0},
    {'m', Token::word_begin, 0},
    {'M', Token::word_end, 0},
    {'y', Token::word_boundary, 0},
    {'Y', Token::no_word_boundary, 0},
};

}  // namespace

// `least` to `most` digits. A number that is too long wraps around, as PostgreSQL's does.
uint32_t Lexer::read_digits(uint32_t base, size_t least, size_t most) {
  uint32_t result = 0;
  size_t count = 0;
  for (; count < most && !at_end(); ++count, ++at_) {
    uint32_t digit = digit_value(text_[at_]);
    if (digit >= base) break;
    result = result * base + digit;
  }
  if (count < least) throw_invalid(error::escape);
  return result;
}

uint32_t Lexer::read_code(uint32_t base, size_t least, size_t most) {
  uint32_t code = read_digits(base, least, most);
  if (code > highest_code) throw_invalid(error::escape);
  return code;
}

void Lexer::read_escape() {
  uint32_t c = text_[at_++];
  bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  if (c >= '0' && c <= '9') return read_number_escape(c);
  if (!is_letter) return set(Token::character, c);
  for (const Escape& escape : escapes)
    if (escape.letter == c) return set(escape.token, escape.value);
  switch (c) {
    case 'c':
      if (at_end()) throw_invalid(error::escape);
      return set(Token::character, text_[at_++] & 037);
    case 'u':
      return set(Token::character, read_code(16, 4, 4));
    case 'U':
      return set(Token::character, read_code(16, 8, 8));
    case 'x':
      return set(Token::character, read_code(16, 1, 255));
    default:
      throw_invalid(error::escape);
  }
}

// One digit, but 0, is a reference; more are one if there are as many groups, and octal else.
void Lexer::read_number_escape(uint32_t c) {
  size_t behind_first = at_--;
  if (c != '0') {
    uint32_t group = read_digits(10, 1, 255);
    bool is_one_digit = at_ == behind_first;
    if (is_one_digit || (group > 0 && group <= groups)) return set(Token::back_reference, group);
    at_ = behind_first - 1;
  }
  uint32_t code = read_digits(8, 1, 3);
  if (code > 0xff) {
    --at_;
    code >>= 3;
  }
  set(Token::character, code);
}

}  // namespace pgsilo::regex
