// Splits SQL text into tokens by the lexical rules of PostgreSQL (manual, chapter 4.1;
// standard_conforming_strings on): for the checks before parsing and for the plan cache's
// normaliser, which must not pay for a parse. It judges nothing: text that PostgreSQL's scanner
// refuses comes as `invalid` to its end, or as tokens the grammar will refuse. Thread safety: none;
// one owner. Only string_value() allocates.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/arena.h"

namespace pgsilo {

enum class TokenKind : uint8_t {
  end,
  identifier,         // a name or key word, as written
  quoted_identifier,  // "..." and U&"..."
  integer,            // digits only
  decimal,            // with a point or an exponent
  string,             // '...', without a continuation on another line
  other_string,       // E'', B'', X'', N'', U&'', $$...$$, and strings continued on another line
  parameter,          // $1
  op,  // operator characters, cut as PostgreSQL cuts them; also :: := => .. are `punctuation`
  punctuation,  // , ( ) [ ] ; : . and the digraphs :: := => ..
  invalid,      // unterminated, or a character SQL does not have
};

struct Token {
  TokenKind kind = TokenKind::end;
  bool has_escapes = false;  // string: a quote is doubled inside
  uint32_t start = 0;
  uint32_t end = 0;
};

class Lexer {
 public:
  explicit Lexer(std::string_view text, uint32_t start = 0) : text_(text), at_(start) {}
  // Skips blanks and comments. After `end` or `invalid` the text is over.
  Token next();
  std::string_view text(const Token& token) const {
    return text_.substr(token.start, token.end - token.start);
  }
  // Of a `string`: in the text, or in `arena` where quotes are doubled.
  std::string_view string_value(const Token& token, Arena& arena) const;
  // Behind the last token.
  uint32_t position() const { return at_; }

 private:
  bool skip_blanks();  // false: a comment is not closed
  Token identifier(uint32_t start);
  Token number(uint32_t start);
  Token quoted(uint32_t start, uint32_t quote_at, TokenKind kind, bool backslashes);
  Token dollar(uint32_t start);
  Token operator_token(uint32_t start);
  bool continues_on_next_line(uint32_t at) const;
  char peek(uint32_t at) const { return at < text_.size() ? text_[at] : '\0'; }
  Token token(TokenKind kind, uint32_t start, uint32_t end, bool has_escapes = false) {
    at_ = end;
    return {kind, has_escapes, start, end};
  }
  Token invalid(uint32_t start) {
    return token(TokenKind::invalid, start, static_cast<uint32_t>(text_.size()));
  }

  std::string_view text_;
  uint32_t at_ = 0;
};

// Whether the word is `key_word` (lower case) in any letter case.
bool is_key_word(std::string_view word, std::string_view key_word);

}  // namespace pgsilo
