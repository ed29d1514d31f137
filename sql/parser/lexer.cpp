#include "sql/parser/lexer.h"

#include <array>

namespace pgsilo {

namespace {

enum CharacterClass : uint8_t {
  other = 0,
  blank = 1,
  identifier_start = 2,
  digit = 4,
  operator_character = 8,
  single = 16,  // , ( ) [ ] ; and : .
};

constexpr std::array<uint8_t, 256> make_classes() {
  std::array<uint8_t, 256> classes{};
  auto add = [&](std::string_view characters, uint8_t mark) {
    for (char c : characters) classes[static_cast<unsigned char>(c)] |= mark;
  };
  add(" \t\n\r\f", blank);
  for (int c = 'a'; c <= 'z'; ++c)
    classes[c] |= identifier_start, classes[c - 'a' + 'A'] |= identifier_start;
  for (int c = 128; c < 256; ++c) classes[c] |= identifier_start;
  add("_", identifier_start);
  for (int c = '0'; c <= '9'; ++c) classes[c] |= digit;
  add("~!@#^&|`?+-*/%<>=", operator_character);
  add(",()[];:.", single);
  return classes;
}
constexpr std::array<uint8_t, 256> classes = make_classes();

bool is(char c, uint8_t mark) { return (classes[static_cast<unsigned char>(c)] & mark) != 0; }
bool continues_identifier(char c) { return is(c, identifier_start | digit) || c == '$'; }

// An operator of several characters may end in + or - only if it has one of these.
bool allows_sign_at_end(char c) {
  return std::string_view("~!@#^&|`?%").find(c) != std::string_view::npos;
}

}  // namespace

bool is_key_word(std::string_view word, std::string_view key_word) {
  if (word.size() != key_word.size()) return false;
  for (size_t i = 0; i < word.size(); ++i) {
    char c = word[i];
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c != key_word[i]) return false;
  }
  return true;
}

bool Lexer::skip_blanks() {
  while (at_ < text_.size()) {
    char c = text_[at_];
    if (is(c, blank)) {
      ++at_;
    } else if (c == '-' && peek(at_ + 1) == '-') {
      while (at_ < text_.size() && text_[at_] != '\n' && text_[at_] != '\r') ++at_;
    } else if (c == '/' && peek(at_ + 1) == '*') {
      uint32_t depth = 1;
      at_ += 2;
      while (depth > 0) {
        if (at_ + 1 >= text_.size()) return false;
        if (text_[at_] == '*' && text_[at_ + 1] == '/') {
          --depth;
          at_ += 2;
        } else if (text_[at_] == '/' && text_[at_ + 1] == '*') {
          ++depth;
          at_ += 2;
        } else {
          ++at_;
        }
      }
    } else {
      return true;
    }
  }
  return true;
}

Token Lexer::next() {
  uint32_t before = at_;
  if (!skip_blanks()) return invalid(before);
  if (at_ >= text_.size()) return token(TokenKind::end, at_, at_);
  uint32_t start = at_;
  char c = text_[start];
  if (is(c, identifier_start)) return identifier(start);
  if (is(c, digit) || (c == '.' && is(peek(start + 1), digit))) return number(start);
  if (c == '\'') return quoted(start, start, TokenKind::string, false);
  if (c == '"') return quoted(start, start, TokenKind::quoted_identifier, false);
  if (is(c, operator_character)) return operator_token(start);
  if (c == '$') return dollar(start);
  if (is(c, single)) {
    char second = peek(start + 1);
    bool digraph = (c == ':' && (second == ':' || second == '=')) || (c == '.' && second == '.');
    return token(TokenKind::punctuation, start, start + (digraph ? 2 : 1));
  }
  return invalid(start);
}

Token Lexer::identifier(uint32_t start) {
  char first = text_[start];
  char second = peek(start + 1);
  if (second == '\'') {
    switch (first) {
      case 'e':
      case 'E':
        return quoted(start, start + 1, TokenKind::other_string, true);
      case 'b':
      case 'B':
      case 'x':
      case 'X':
      case 'n':
      case 'N':
        return quoted(start, start + 1, TokenKind::other_string, false);
      default:
        break;
    }
  }
  if ((first == 'u' || first == 'U') && second == '&') {
    if (peek(start + 2) == '\'') return quoted(start, start + 2, TokenKind::other_string, false);
    if (peek(start + 2) == '"')
      return quoted(start, start + 2, TokenKind::quoted_identifier, false);
  }
  uint32_t end = start + 1;
  while (end < text_.size() && continues_identifier(text_[end])) ++end;
  return token(TokenKind::identifier, start, end);
}

Token Lexer::number(uint32_t start) {
  uint32_t end = start;
  TokenKind kind = TokenKind::integer;
  while (is(peek(end), digit)) ++end;
  // 1..10 is two integers and a range.
  if (peek(end) == '.' && peek(end + 1) != '.') {
    kind = TokenKind::decimal;
    ++end;
    while (is(peek(end), digit)) ++end;
  }
  if (char e = peek(end); e == 'e' || e == 'E') {
    uint32_t exponent = end + 1;
    if (peek(exponent) == '+' || peek(exponent) == '-') ++exponent;
    if (is(peek(exponent), digit)) {
      kind = TokenKind::decimal;
      end = exponent;
      while (is(peek(end), digit)) ++end;
    }
  }
  // PostgreSQL: trailing junk after numeric literal.
  if (end < text_.size() && is(text_[end], identifier_start)) return invalid(start);
  return token(kind, start, end);
}

// A quote followed by blanks with a line end and another quote goes on (comments count as blanks
// only when they end the line; to treat every -- as a possible continuation is safe here, for such
// a token is merely not normalised).
bool Lexer::continues_on_next_line(uint32_t at) const {
  bool line_end = false;
  while (at < text_.size()) {
    char c = text_[at];
    if (is(c, blank)) {
      line_end |= c == '\n' || c == '\r';
      ++at;
    } else if (c == '-' && peek(at + 1) == '-') {
      while (at < text_.size() && text_[at] != '\n' && text_[at] != '\r') ++at;
    } else {
      return line_end && c == '\'';
    }
  }
  return false;
}

Token Lexer::quoted(uint32_t start, uint32_t quote_at, TokenKind kind, bool backslashes) {
  char quote = text_[quote_at];
  bool has_escapes = false;
  uint32_t at = quote_at + 1;
  while (true) {
    if (at >= text_.size()) return invalid(start);
    char c = text_[at];
    if (c == quote) {
      if (peek(at + 1) == quote) {
        has_escapes = true;
        at += 2;
        continue;
      }
      if (quote == '\'' && continues_on_next_line(at + 1)) {
        kind = TokenKind::other_string;
        while (text_[++at] != '\'') {
          if (text_[at] == '-') {
            while (text_[at] != '\n' && text_[at] != '\r') ++at;
          }
        }
        ++at;
        continue;
      }
      return token(kind, start, at + 1, has_escapes);
    }
    at += (backslashes && c == '\\') ? 2 : 1;
  }
}

Token Lexer::dollar(uint32_t start) {
  uint32_t at = start + 1;
  if (is(peek(at), digit)) {
    while (is(peek(at), digit)) ++at;
    if (at < text_.size() && is(text_[at], identifier_start)) return invalid(start);
    return token(TokenKind::parameter, start, at);
  }
  if (is(peek(at), identifier_start)) {
    while (is(peek(at), identifier_start | digit)) ++at;
  }
  if (peek(at) != '$') return invalid(start);
  std::string_view tag = text_.substr(start, at + 1 - start);
  size_t close = text_.find(tag, at + 1);
  if (close == std::string_view::npos) return invalid(start);
  return token(TokenKind::other_string, start, static_cast<uint32_t>(close + tag.size()));
}

std::string_view Lexer::string_value(const Token& token, Arena& arena) const {
  std::string_view inside = text_.substr(token.start + 1, token.end - token.start - 2);
  if (!token.has_escapes) return inside;
  auto* value = static_cast<char*>(arena.allocate(inside.size(), 1));
  size_t length = 0;
  for (size_t i = 0; i < inside.size(); ++i) {
    value[length++] = inside[i];
    if (inside[i] == '\'') ++i;
  }
  return {value, length};
}

Token Lexer::operator_token(uint32_t start) {
  uint32_t end = start;
  bool sign_may_end = false;
  while (end < text_.size() && is(text_[end], operator_character)) {
    char c = text_[end];
    char following = peek(end + 1);
    if (end > start && ((c == '-' && following == '-') || (c == '/' && following == '*'))) break;
    sign_may_end |= allows_sign_at_end(c);
    ++end;
  }
  if (!sign_may_end) {
    while (end - start > 1 && (text_[end - 1] == '+' || text_[end - 1] == '-')) --end;
  }
  if (end - start == 2 && text_[start] == '=' && text_[start + 1] == '>') {
    return token(TokenKind::punctuation, start, end);
  }
  return token(TokenKind::op, start, end);
}

}  // namespace pgsilo
