// From tokens to a syntax tree; internal to sql/regex. Thread safety: one owner.
#pragma once

#include <map>

#include "sql/regex/lexer.h"
#include "sql/regex/syntax.h"

namespace pgsilo::regex {

class Parser {
 public:
  Parser(std::string_view pattern, Options options) : lexer_(pattern, options) {}
  SyntaxTree parse();

 private:
  // What nodes of a pattern may be at most.
  static constexpr size_t most_nodes = 500'000;
  // Of all its different sets together.
  static constexpr size_t most_ranges = 1'000'000;

  NodeId add(Node node);
  SetId add_set(CodeSet codes);
  NodeId parse_alternation(Token stop, bool in_lookaround);
  NodeId parse_branch(Token stop, bool in_lookaround);
  NodeId parse_item(bool in_lookaround);
  NodeId parse_assertion(Assertion assertion);
  NodeId parse_lookaround();
  NodeId parse_atom(bool in_lookaround);
  NodeId parse_group(bool in_lookaround);
  NodeId parse_back_reference(bool in_lookaround);
  NodeId parse_bracket();
  NodeId set_node(CodeSet codes);
  CodeSet parse_bracket_codes();
  void parse_bracket_member(CodeSet& codes);
  uint32_t parse_range_end();
  void append_range(uint32_t first, uint32_t last, CodeSet& codes);
  void append_code(uint32_t code, CodeSet& codes);
  void append_class(CharacterClass which, CodeSet& codes);
  Quantifier parse_quantifier();
  Quantifier parse_bound();
  uint16_t parse_number();

  Lexer lexer_;
  SyntaxTree tree_;
  std::map<CodeSet, SetId> known_sets_;
  size_t ranges_ = 0;  // of all of them
  // Those that are complete, by number; no_node: not yet.
  AskingVector<NodeId> groups_{no_node};
};

}  // namespace pgsilo::regex
