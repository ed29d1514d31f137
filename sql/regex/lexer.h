// Tokens of a regular expression: advanced (AREs), extended (EREs) and basic ones (BREs), with the
// directors and options they may begin with. What a character means depends on where it stands: the
// lexer knows whether it is in a bound or in brackets. Thread safety: one owner.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/asking_allocator.h"
#include "base/long_work.h"
#include "sql/regex/code_set.h"

namespace pgsilo::regex {

enum class Syntax : uint8_t { basic, extended, advanced, literal };

struct Options {
  Syntax syntax = Syntax::advanced;
  bool ignore_case = false;
  bool expanded = false;            // white space and comments are skipped
  bool newline_ends_match = false;  // . and [^ do not match a newline
  bool newline_ends_line = false;   // ^ and $ match beside a newline
  bool operator==(const Options&) const = default;

  void set_newline_sensitive(bool sensitive) { newline_ends_match = newline_ends_line = sensitive; }
};

enum class Token : uint8_t {
  none,  // before the first
  end,
  character,
  digit,  // in a bound
  comma,
  bar,
  star,
  plus,
  question,
  open_bound,
  close_bound,
  open_group,  // value: captures
  close_group,
  lookaround,    // value: of Lookaround
  open_bracket,  // value: not negated
  close_bracket,
  range,
  collating_element,
  equivalence_class,
  character_class,
  end_of_name,
  class_escape,             // \d \s \w; value: of CharacterClass
  class_escape_complement,  // \D \S \W
  dot,
  caret,
  dollar,
  text_begin,
  text_end,
  word_begin,
  word_end,
  word_boundary,
  no_word_boundary,
  back_reference,  // value: of which group
};

enum class Lookaround : uint8_t { ahead, not_ahead, behind, not_behind };

class Lexer {
 public:
  // Reads the directors and options, and the first token. Throws 2201B, as next() does.
  Lexer(std::string_view pattern, Options options);

  const Options& options() const { return options_; }
  Token token() const { return token_; }
  // Of quantifiers (and of a bound, at its end): whether the longest match is preferred.
  uint32_t value() const { return value_; }
  void next();
  bool sees(Token token) const { return token_ == token; }
  bool take(Token token) {
    if (token_ != token) return false;
    next();
    return true;
  }
  // A name in brackets, [:name:]; the lexer stands on what opens it, and then behind what ends it.
  std::u32string take_name();

  // Capturing groups that have begun: \12 is a reference or octal accordingly.
  uint32_t groups = 0;

 private:
  enum class Place : uint8_t { outside, bound, brackets, name };

  bool at_end() const { return at_ == text_.size(); }
  bool sees_text(std::u32string_view expected) const;
  bool take_text(std::u32string_view expected);
  void set(Token token, uint32_t value = 0) {
    token_ = token;
    value_ = value;
  }
  void read_token();
  void read_prefixes();
  void read_embedded_options();
  void set_embedded_option(uint32_t letter);
  void skip_blanks();
  void read_end();
  void read_in_bound(uint32_t c);
  void read_in_brackets(uint32_t c);
  void read_bracket_escape();
  void read_in_name(uint32_t c);
  void read_extended(uint32_t c);
  void read_quantifier(Token token);
  void read_open_brace(uint32_t c);
  void read_open_group();
  void read_open_bracket();
  void read_basic(uint32_t c);
  void read_basic_escape();
  void read_escape();
  void read_number_escape(uint32_t c);
  uint32_t read_digits(uint32_t base, size_t least, size_t most);
  uint32_t read_code(uint32_t base, size_t least, size_t most);

  AskingVector<char32_t> text_;
  size_t at_ = 0;
  Options options_;
  Token token_ = Token::none;
  Token last_ = Token::none;
  uint32_t value_ = 0;
  bool is_comment_ = false;
  Place place_ = Place::outside;
  char32_t name_kind_ = 0;  // what ends the name: . = :
  WorkMeter meter_;
};

}  // namespace pgsilo::regex
