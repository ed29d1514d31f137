// Bracket expressions, and what ignoring case makes of characters.
#include "sql/regex/parser.h"
#include "sql/regex/regex_error.h"

namespace pgsilo::regex {

NodeId Parser::parse_bracket() {
  bool negated = lexer_.value() == 0;
  lexer_.next();
  CodeSet codes = parse_bracket_codes();
  lexer_.next();
  make_normal(codes);
  if (!negated) return set_node(std::move(codes));
  codes = complement(codes);
  if (lexer_.options().newline_ends_match) remove_code(codes, '\n');
  return set_node(std::move(codes));
}

CodeSet Parser::parse_bracket_codes() {
  CodeSet codes;
  size_t normal_size = 0;
  while (!lexer_.sees(Token::close_bracket)) {
    parse_bracket_member(codes);
    // Members repeat: what a long list takes stays in proportion to what is in it.
    if (codes.size() <= 2 * normal_size + 1024) continue;
    make_normal(codes);
    normal_size = codes.size();
  }
  return codes;
}

void Parser::parse_bracket_member(CodeSet& codes) {
  uint32_t first = 0;
  switch (lexer_.token()) {
    case Token::character:
      first = lexer_.value();
      lexer_.next();
      if (!lexer_.sees(Token::range)) return append_code(first, codes);
      break;
    case Token::collating_element:
      first = collating_element(lexer_.take_name());
      break;
    // No two characters are equivalent in this locale.
    case Token::equivalence_class:
      return append_code(collating_element(lexer_.take_name()), codes);
    case Token::character_class:
      return append_class(find_class(lexer_.take_name()), codes);
    case Token::class_escape:
      append(codes, class_codes(static_cast<CharacterClass>(lexer_.value())));
      return lexer_.next();
    case Token::class_escape_complement:
      append(codes, complement(class_codes(static_cast<CharacterClass>(lexer_.value()))));
      return lexer_.next();
    default:
      throw_invalid(error::character_range);
  }
  append_range(first, lexer_.take(Token::range) ? parse_range_end() : first, codes);
}

uint32_t Parser::parse_range_end() {
  switch (lexer_.token()) {
    case Token::character:
    case Token::range: {
      uint32_t last = lexer_.sees(Token::range) ? '-' : lexer_.value();
      lexer_.next();
      return last;
    }
    case Token::collating_element:
      return collating_element(lexer_.take_name());
    default:
      throw_invalid(error::character_range);
  }
}

void Parser::append_range(uint32_t first, uint32_t last, CodeSet& codes) {
  if (first > last) throw_invalid(error::character_range);
  codes.push_back({first, last});
  if (lexer_.options().ignore_case) append_cases_of_range(first, last, codes);
}

void Parser::append_code(uint32_t code, CodeSet& codes) {
  if (lexer_.options().ignore_case) return append_cases(code, codes);
  codes.push_back({code, code});
}

void Parser::append_class(CharacterClass which, CodeSet& codes) {
  bool has_case = which == CharacterClass::lower || which == CharacterClass::upper;
  if (has_case && lexer_.options().ignore_case) which = CharacterClass::alpha;
  append(codes, class_codes(which));
}

}  // namespace pgsilo::regex
