#include "sql/parser/constant_rows.h"

#include <algorithm>

#include "sql/ast/constant.h"
#include "sql/ast/make_node.h"

namespace pgsilo {

using namespace ast;

void ConstantRows::take_out(std::span<char> text) {
  Lexer lexer(std::string_view(text.data(), text.size()));
  for (;;) {
    const Token token = lexer.next();
    if (token.kind == TokenKind::end || token.kind == TokenKind::invalid) return;
    if (token.kind == TokenKind::identifier && is_key_word(lexer.text(token), "values"))
      take_list(text, lexer);
  }
}

// Behind VALUES. Leaves the lexer behind what it has taken.
void ConstantRows::take_list(std::span<char> text, Lexer& lexer) {
  const Token open = lexer.next();
  uint32_t begin = open.end;
  Taken taken;
  if (lexer.text(open) == "(" && read_row(lexer, &taken.location)) begin = lexer.position();
  uint32_t end = begin;
  int32_t location = 0;
  while (begin != open.end && lexer.text(lexer.next()) == "," && lexer.text(lexer.next()) == "(" &&
         read_row(lexer, &location)) {
    taken.rows.push_back(arena_.copy_span(row_));
    end = lexer.position();
  }
  std::ranges::fill(text.subspan(begin, end - begin), ' ');
  if (!taken.rows.empty()) taken_.push_back(std::move(taken));
  lexer = Lexer(std::string_view(text.data(), text.size()), end);
}

// From behind its bracket to behind the other one.
bool ConstantRows::read_row(Lexer& lexer, int32_t* location) {
  row_.clear();
  for (;;) {
    if (!read_value(lexer, lexer.next())) return false;
    std::string_view following = lexer.text(lexer.next());
    if (following == ")") break;
    if (following != ",") return false;
  }
  *location = row_.front()->location;
  return true;
}

bool ConstantRows::read_value(Lexer& lexer, Token token) {
  auto location = static_cast<int32_t>(token.start);
  bool negative = token.kind == TokenKind::op && lexer.text(token) == "-";
  if (negative) token = lexer.next();
  const Node* value = value_of(lexer, token, negative, location);
  if (value != nullptr) row_.push_back(value);
  return value != nullptr;
}

// The grammar makes a minus sign a part of the number behind it. Null: not for us.
const Node* ConstantRows::value_of(Lexer& lexer, const Token& token, bool negative,
                                   int32_t location) {
  std::string_view text = lexer.text(token);
  if (token.kind == TokenKind::integer || token.kind == TokenKind::decimal)
    return make_number(arena_, text, negative, location);
  if (negative) return nullptr;
  if (token.kind == TokenKind::identifier) return word_of(text, location);
  if (token.kind != TokenKind::string) return nullptr;
  return make_text_constant(arena_, ConstantKind::string, lexer.string_value(token, arena_),
                            location);
}

const Node* ConstantRows::word_of(std::string_view word, int32_t location) {
  if (is_key_word(word, "null")) return make_constant(arena_, ConstantKind::null, location);
  if (is_key_word(word, "default")) return make_node<SetToDefault>(arena_, location);
  bool is_true = is_key_word(word, "true");
  if (!is_true && !is_key_word(word, "false")) return nullptr;
  return make_boolean(arena_, is_true, location);
}

const std::vector<NodeList>* ConstantRows::behind(int32_t location) {
  auto found = std::ranges::lower_bound(taken_, location, {}, &Taken::location);
  if (found == taken_.end() || found->location != location) return nullptr;
  found->put_back = true;
  return &found->rows;
}

bool ConstantRows::are_all_back() const { return std::ranges::all_of(taken_, &Taken::put_back); }

}  // namespace pgsilo
