#include "sql/regex/lexer.h"

#include "sql/regex/regex_error.h"
#include "sql/types/text_characters.h"

namespace pgsilo::regex {
namespace {

AskingVector<char32_t> decoded(std::string_view text) {
  AskingVector<char32_t> result;
  result.reserve(text.size());
  WorkMeter meter;
  for (size_t at = 0; at < text.size();) {
    size_t length = character_bytes(text, at);
    meter.did(8);
    result.push_back(code_point(text.substr(at, length)));
    at += length;
  }
  return result;
}

}  // namespace

Lexer::Lexer(std::string_view pattern, Options options)
    : text_(decoded(pattern)), options_(options) {
  read_prefixes();
  next();
}

bool Lexer::sees_text(std::u32string_view expected) const {
  return std::u32string_view(text_.data() + at_, text_.size() - at_).starts_with(expected);
}

bool Lexer::take_text(std::u32string_view expected) {
  if (!sees_text(expected)) return false;
  at_ += expected.size();
  return true;
}

void Lexer::read_prefixes() {
  if (options_.syntax == Syntax::literal) return;
  if (text_.size() >= 4 && take_text(U"***")) {
    switch (text_[at_++]) {
      case '=':
        options_.syntax = Syntax::literal;
        options_.expanded = false;
        options_.set_newline_sensitive(false);
        return;
      case ':':
        options_.syntax = Syntax::advanced;
        break;
      case '?':
        throw_invalid(error::version);
      default:
        throw_invalid(error::quantifier);
    }
  }
  if (options_.syntax == Syntax::advanced) read_embedded_options();
}

void Lexer::read_embedded_options() {
  if (text_.size() - at_ < 3 || !sees_text(U"(?") ||
      !is_class_member(text_[at_ + 2], CharacterClass::alpha))
    return;
  at_ += 2;
  for (; !at_end() && is_class_member(text_[at_], CharacterClass::alpha); ++at_)
    set_embedded_option(text_[at_]);
  if (!take_text(U")")) throw_invalid(error::option);
  if (options_.syntax == Syntax::literal) {
    options_.expanded = false;
    options_.set_newline_sensitive(false);
  }
}

void Lexer::set_embedded_option(uint32_t letter) {
  switch (letter) {
    case 'b':
      options_.syntax = Syntax::basic;
      break;
    case 'e':
      options_.syntax = Syntax::extended;
      break;
    case 'c':
    case 'i':
      options_.ignore_case = letter == 'i';
      break;
    case 'm':
    case 'n':
    case 's':
      options_.set_newline_sensitive(letter != 's');
      break;
    case 'p':
    case 'w':
      options_.newline_ends_match = letter == 'p';
      options_.newline_ends_line = letter == 'w';
      break;
    case 'q':
      options_.syntax = Syntax::literal;
      break;
    case 't':
    case 'x':
      options_.expanded = letter == 'x';
      break;
    default:
      throw_invalid(error::option);
  }
}

void Lexer::skip_blanks() {
  for (;;) {
    while (!at_end() && is_class_member(text_[at_], CharacterClass::space)) {
      ++at_;
      meter_.did(16);
    }
    if (at_end() || text_[at_] != '#') return;
    for (; !at_end() && text_[at_] != '\n'; ++at_) meter_.did(16);
  }
}

void Lexer::next() {
  last_ = token_;
  do {
    meter_.did(64);
    is_comment_ = false;
    read_token();
  } while (is_comment_);
}

void Lexer::read_token() {
  if (options_.expanded && (place_ == Place::outside || place_ == Place::bound)) skip_blanks();
  if (at_end()) return read_end();
  uint32_t c = text_[at_++];
  switch (place_) {
    case Place::bound:
      return read_in_bound(c);
    case Place::brackets:
      return read_in_brackets(c);
    case Place::name:
      return read_in_name(c);
    case Place::outside:
      break;
  }
  switch (options_.syntax) {
    case Syntax::literal:
      return set(Token::character, c);
    case Syntax::basic:
      return read_basic(c);
    default:
      return read_extended(c);
  }
}

void Lexer::read_end() {
  switch (place_) {
    case Place::outside:
      return set(Token::end);
    case Place::bound:
      throw_invalid(error::braces);
    default:
      throw_invalid(error::brackets);
  }
}

void Lexer::read_in_bound(uint32_t c) {
  if (c >= '0' && c <= '9') return set(Token::digit, c - '0');
  if (c == ',') return set(Token::comma);
  bool ends = options_.syntax == Syntax::basic ? c == '\\' && take_text(U"}") : c == '}';
  if (!ends) throw_invalid(error::repetition);
  place_ = Place::outside;
  set(Token::close_bound, 1);
  if (options_.syntax == Syntax::advanced && take_text(U"?")) value_ = 0;
}

void Lexer::read_in_brackets(uint32_t c) {
  switch (c) {
    case '\\':
      if (options_.syntax != Syntax::advanced) return set(Token::character, c);
      return read_bracket_escape();
    case '-':
      if (last_ == Token::open_bracket || sees_text(U"]")) return set(Token::character, c);
      return set(Token::range, c);
    case ']':
      if (last_ == Token::open_bracket) return set(Token::character, c);
      place_ = Place::outside;
      return set(Token::close_bracket);
    case '[':
      break;
    default:
      return set(Token::character, c);
  }
  if (at_end()) throw_invalid(error::brackets);
  char32_t kind = text_[at_];
  if (kind != '.' && kind != '=' && kind != ':') return set(Token::character, c);
  ++at_;
  name_kind_ = kind;
  place_ = Place::name;
  set(kind == '.'   ? Token::collating_element
      : kind == '=' ? Token::equivalence_class
                    : Token::character_class);
}

void Lexer::read_bracket_escape() {
  if (at_end()) throw_invalid(error::escape);
  read_escape();
  if (token_ != Token::character && token_ != Token::class_escape &&
      token_ != Token::class_escape_complement)
    throw_invalid(error::escape);
}

void Lexer::read_in_name(uint32_t c) {
  if (c != name_kind_ || !take_text(U"]")) return set(Token::character, c);
  place_ = Place::brackets;
  set(Token::end_of_name);
}

std::u32string Lexer::take_name() {
  std::u32string name;
  for (next(); sees(Token::character); next()) name += static_cast<char32_t>(value_);
  next();
  return name;
}

void Lexer::read_extended(uint32_t c) {
  switch (c) {
    case '|':
      return set(Token::bar);
    case '*':
      return read_quantifier(Token::star);
    case '+':
      return read_quantifier(Token::plus);
    case '?':
      return read_quantifier(Token::question);
    case '{':
      return read_open_brace(c);
    case '(':
      return read_open_group();
    case ')':
      return set(Token::close_group, c);
    case '[':
      return read_open_bracket();
    case '.':
      return set(Token::dot);
    case '^':
      return set(Token::caret);
    case '$':
      return set(Token::dollar);
    case '\\':
      break;
    default:
      return set(Token::character, c);
  }
  if (at_end()) throw_invalid(error::escape);
  if (options_.syntax == Syntax::advanced) return read_escape();
  set(Token::character, text_[at_++]);
}

void Lexer::read_quantifier(Token token) {
  bool shortest = options_.syntax == Syntax::advanced && take_text(U"?");
  set(token, shortest ? 0 : 1);
}

void Lexer::read_open_brace(uint32_t c) {
  if (options_.expanded) skip_blanks();
  if (at_end() || !is_class_member(text_[at_], CharacterClass::digit))
    return set(Token::character, c);
  place_ = Place::bound;
  set(Token::open_bound);
}

void Lexer::read_open_group() {
  if (options_.syntax != Syntax::advanced || !take_text(U"?")) return set(Token::open_group, 1);
  auto lookaround = [&](Lookaround which) { set(Token::lookaround, static_cast<uint32_t>(which)); };
  if (take_text(U":")) return set(Token::open_group, 0);
  if (take_text(U"=")) return lookaround(Lookaround::ahead);
  if (take_text(U"!")) return lookaround(Lookaround::not_ahead);
  if (take_text(U"<=")) return lookaround(Lookaround::behind);
  if (take_text(U"<!")) return lookaround(Lookaround::not_behind);
  if (!take_text(U"#")) throw_invalid(error::quantifier);
  for (; !at_end() && text_[at_] != ')'; ++at_) meter_.did(16);
  take_text(U")");
  // What stands before a comment is the last token still.
  is_comment_ = true;
}

void Lexer::read_open_bracket() {
  if (take_text(U"[:<:]]")) return set(Token::word_begin);
  if (take_text(U"[:>:]]")) return set(Token::word_end);
  place_ = Place::brackets;
  set(Token::open_bracket, take_text(U"^") ? 0 : 1);
}

void Lexer::read_basic(uint32_t c) {
  bool is_first = last_ == Token::none || last_ == Token::open_group;
  switch (c) {
    case '*':
      return is_first || last_ == Token::bar ? set(Token::character, c) : set(Token::star, 1);
    case '[':
      return read_open_bracket();
    case '.':
      return set(Token::dot);
    case '^':
      return is_first ? set(Token::caret) : set(Token::character, c);
    case '$':
      if (options_.expanded) skip_blanks();
      return at_end() || sees_text(U"\\)") ? set(Token::dollar) : set(Token::character, c);
    case '\\':
      return read_basic_escape();
    default:
      return set(Token::character, c);
  }
}

void Lexer::read_basic_escape() {
  if (at_end()) throw_invalid(error::escape);
  uint32_t c = text_[at_++];
  switch (c) {
    case '{':
      place_ = Place::bound;
      return set(Token::open_bound);
    case '(':
      return set(Token::open_group, 1);
    case ')':
      return set(Token::close_group, c);
    case '<':
      return set(Token::word_begin);
    case '>':
      return set(Token::word_end);
    default:
      return c >= '1' && c <= '9' ? set(Token::back_reference, c - '0') : set(Token::character, c);
  }
}

}  // namespace pgsilo::regex
