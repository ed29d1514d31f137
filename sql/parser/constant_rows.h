// The rows of constants behind VALUES in a long text, read without the grammar, which takes about a
// microsecond for each value: most of what an INSERT of many rows costs. The grammar gets the text
// with blanks in the place of those rows, so that all positions stay what they were, and the tree
// converter puts the rows back. If it fails, or not all are back, for VALUES was a name there, the
// text is parsed again as it is.
//
// Taken out are rows behind the first one of a list, up to the first that is not all integers,
// decimals, strings, TRUE, FALSE, NULL and DEFAULT by themselves; if the first one is not, none.
// Thread safety: none; one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "sql/ast/node.h"
#include "sql/parser/lexer.h"

namespace pgsilo {

class ConstantRows {
 public:
  // Shorter texts the grammar reads as soon.
  static constexpr size_t shortest_text = 512;

  // Nodes and their texts live in `arena`.
  explicit ConstantRows(Arena& arena) : arena_(arena) {}

  // Blanks in `text`, which may be any, what it reads.
  void take_out(std::span<char> text);
  // What was taken out behind the row that begins at `location`; null: nothing.
  const std::vector<ast::NodeList>* behind(int32_t location);
  // behind() has been asked for all that was taken out.
  bool are_all_back() const;

 private:
  struct Taken {
    int32_t location;
    std::vector<ast::NodeList> rows;
    bool put_back = false;
  };

  void take_list(std::span<char> text, Lexer& lexer);
  bool read_row(Lexer& lexer, int32_t* location);
  bool read_value(Lexer& lexer, Token token);
  const ast::Node* value_of(Lexer& lexer, const Token& token, bool negative, int32_t location);
  const ast::Node* word_of(std::string_view word, int32_t location);

  Arena& arena_;
  std::vector<const ast::Node*> row_;  // that is being read
  std::vector<Taken> taken_;           // by location
};

}  // namespace pgsilo
