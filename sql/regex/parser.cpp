#include "sql/regex/parser.h"

#include "base/long_work.h"
#include "sql/regex/regex_error.h"

namespace pgsilo::regex {

SyntaxTree parse(std::string_view pattern, Options options) {
  return Parser(pattern, options).parse();
}

SyntaxTree Parser::parse() {
  tree_.root = parse_alternation(Token::end, false);
  tree_.groups = lexer_.groups;
  tree_.options = lexer_.options();
  return std::move(tree_);
}

NodeId Parser::add(Node node) {
  if (tree_.nodes.size() >= most_nodes) throw_invalid(error::too_complex);
  tree_.nodes.push_back(node);
  return static_cast<NodeId>(tree_.nodes.size() - 1);
}

SetId Parser::add_set(CodeSet codes) {
  did_work(codes.size() * sizeof(CodeRange) * 8);
  auto [at, is_new] =
      known_sets_.try_emplace(std::move(codes), static_cast<SetId>(tree_.sets.size()));
  if (!is_new) return at->second;
  ranges_ += at->first.size();
  if (ranges_ > most_ranges) throw_invalid(error::too_complex);
  tree_.sets.push_back(at->first);
  return at->second;
}

// Branches with a bar between; what stops them is not taken.
NodeId Parser::parse_alternation(Token stop, bool in_lookaround) {
  require_stack();
  NodeId first = no_node;
  NodeId last = no_node;
  Traits traits(Traits::longest);
  do {
    NodeId branch = parse_branch(stop, in_lookaround);
    (first == no_node ? first : tree_.nodes[last].next) = branch;
    last = branch;
    traits = traits | (traits | tree_.nodes[branch].traits).from_above();
  } while (lexer_.take(Token::bar));
  if (!lexer_.sees(stop)) throw_invalid(error::parentheses);
  // With a single branch it is nothing but that.
  if (first == last) traits = tree_.nodes[first].traits;
  return add({.kind = Node::Kind::alternation, .traits = traits, .first = first});
}

NodeId Parser::parse_branch(Token stop, bool in_lookaround) {
  NodeId first = no_node;
  NodeId last = no_node;
  while (!lexer_.sees(Token::bar) && !lexer_.sees(stop) && !lexer_.sees(Token::end)) {
    NodeId item = parse_item(in_lookaround);
    (first == no_node ? first : tree_.nodes[last].next) = item;
    last = item;
  }
  Traits traits;
  if (first != no_node) traits = segments(tree_.nodes, first).front().traits;
  return add({.kind = Node::Kind::branch, .traits = traits, .first = first});
}

NodeId Parser::parse_item(bool in_lookaround) {
  const Options& options = lexer_.options();
  switch (lexer_.token()) {
    case Token::caret:
      return parse_assertion(options.newline_ends_line ? Assertion::line_begin
                                                       : Assertion::text_begin);
    case Token::dollar:
      return parse_assertion(options.newline_ends_line ? Assertion::line_end : Assertion::text_end);
    case Token::text_begin:
      return parse_assertion(Assertion::text_begin);
    case Token::text_end:
      return parse_assertion(Assertion::text_end);
    case Token::word_begin:
      return parse_assertion(Assertion::word_begin);
    case Token::word_end:
      return parse_assertion(Assertion::word_end);
    case Token::word_boundary:
      return parse_assertion(Assertion::word_boundary);
    case Token::no_word_boundary:
      return parse_assertion(Assertion::no_word_boundary);
    case Token::lookaround:
      return parse_lookaround();
    default: {
      NodeId atom = parse_atom(in_lookaround);
      Quantifier quantifier = parse_quantifier();
      tree_.nodes[atom].quantifier = quantifier;
      return atom;
    }
  }
}

NodeId Parser::parse_assertion(Assertion assertion) {
  lexer_.next();
  return add({.kind = Node::Kind::assertion, .value = static_cast<uint32_t>(assertion)});
}

NodeId Parser::parse_lookaround() {
  uint32_t which = lexer_.value();
  lexer_.next();
  NodeId inner = parse_alternation(Token::close_group, true);
  lexer_.next();
  return add({.kind = Node::Kind::lookaround, .value = which, .first = inner});
}

NodeId Parser::parse_atom(bool in_lookaround) {
  switch (lexer_.token()) {
    case Token::close_group:
      // EREs take it for itself, which is what POSIX says.
      if (lexer_.options().syntax != Syntax::extended) throw_invalid(error::parentheses);
      [[fallthrough]];
    case Token::character: {
      CodeSet codes;
      append_code(lexer_.value(), codes);
      lexer_.next();
      return set_node(std::move(codes));
    }
    case Token::class_escape:
    case Token::class_escape_complement: {
      const CodeSet& codes = class_codes(static_cast<CharacterClass>(lexer_.value()));
      bool complements = lexer_.sees(Token::class_escape_complement);
      lexer_.next();
      return set_node(complements ? complement(codes) : codes);
    }
    case Token::dot: {
      CodeSet codes{{0, highest_code}};
      if (lexer_.options().newline_ends_match) remove_code(codes, '\n');
      lexer_.next();
      return set_node(std::move(codes));
    }
    case Token::open_bracket:
      return parse_bracket();
    case Token::open_group:
      return parse_group(in_lookaround);
    case Token::back_reference:
      return parse_back_reference(in_lookaround);
    default:
      throw_invalid(error::quantifier);
  }
}

NodeId Parser::parse_group(bool in_lookaround) {
  uint32_t capture = 0;
  if (lexer_.value() != 0 && !in_lookaround) {
    capture = ++lexer_.groups;
    groups_.push_back(no_node);
  }
  lexer_.next();
  NodeId inner = parse_alternation(Token::close_group, in_lookaround);
  lexer_.next();
  Traits traits = tree_.nodes[inner].traits;
  if (capture != 0) traits = traits.with(Traits::captures);
  NodeId group =
      add({.kind = Node::Kind::group, .traits = traits, .value = capture, .first = inner});
  if (capture != 0) groups_[capture] = group;
  return group;
}

NodeId Parser::parse_back_reference(bool in_lookaround) {
  uint32_t number = lexer_.value();
  if (in_lookaround || number >= groups_.size() || groups_[number] == no_node)
    throw_invalid(error::back_reference);
  lexer_.next();
  return add({.kind = Node::Kind::back_reference,
              .traits = Traits(Traits::back_references),
              .value = number,
              .first = groups_[number]});
}

NodeId Parser::set_node(CodeSet codes) {
  make_normal(codes);
  return add({.kind = Node::Kind::set, .value = add_set(std::move(codes))});
}

Quantifier Parser::parse_quantifier() {
  Quantifier quantifier;
  uint8_t preference = lexer_.value() != 0 ? Traits::longest : Traits::shortest;
  switch (lexer_.token()) {
    case Token::star:
      quantifier = {0, unbounded, preference};
      break;
    case Token::plus:
      quantifier = {1, unbounded, preference};
      break;
    case Token::question:
      quantifier = {0, 1, preference};
      break;
    case Token::open_bound:
      return parse_bound();
    default:
      return quantifier;
  }
  lexer_.next();
  return quantifier;
}

Quantifier Parser::parse_bound() {
  lexer_.next();
  Quantifier bound;
  bound.least = bound.most = parse_number();
  bool is_range = lexer_.take(Token::comma);
  if (is_range) {
    bound.most = lexer_.sees(Token::digit) ? parse_number() : unbounded;
    if (bound.least > bound.most) throw_invalid(error::repetition);
  }
  if (!lexer_.sees(Token::close_bound)) throw_invalid(error::repetition);
  // {m,n} has a preference, {m,m} too; {m} has its atom's.
  if (is_range) bound.preference = lexer_.value() != 0 ? Traits::longest : Traits::shortest;
  lexer_.next();
  return bound;
}

uint16_t Parser::parse_number() {
  uint32_t number = 0;
  for (; lexer_.sees(Token::digit) && number < most_repetitions; lexer_.next())
    number = number * 10 + lexer_.value();
  if (lexer_.sees(Token::digit) || number > most_repetitions) throw_invalid(error::repetition);
  return static_cast<uint16_t>(number);
}

}  // namespace pgsilo::regex
