#include "sql/parser/parser.h"

#include <optional>
#include <string>

#include "base/asking_allocator.h"
#include "base/large_stack.h"
#include "base/memory_budget.h"
#include "sql/internal_error.h"
#include "sql/limits.h"
#include "sql/parser/comments.h"
#include "sql/parser/constant_rows.h"
#include "sql/parser/lexer.h"
#include "sql/parser/nesting.h"
#include "sql/parser/postgres_tree.h"
#include "sql/parser/tree_converter.h"
#include "sql/sql_error.h"

namespace pgsilo {

namespace {

// The library reports a message and a position only. What is not a syntax error in PostgreSQL's
// scanner and grammar, by the beginning of its message; hints belong to the same reports.
struct KnownError {
  std::string_view message;
  SqlState state;
  std::string_view hint = {};
};
const KnownError known_errors[] = {
    {"subquery in FROM must have an alias", sqlstate::syntax_error,
     "For example, FROM (SELECT ...) [AS] foo."},
    {"VALUES in FROM must have an alias", sqlstate::syntax_error,
     "For example, FROM (VALUES ...) [AS] foo."},
    {"LIMIT #,# syntax is not supported", sqlstate::syntax_error,
     "Use separate LIMIT and OFFSET clauses."},
    {"invalid Unicode escape", sqlstate::invalid_escape_sequence,
     "Unicode escapes must be \\XXXX or \\+XXXXXX."},
    {"unsafe use of \\' in a string literal", sqlstate::nonstandard_use_of_escape_character,
     "Use '' to write quotes in strings. \\' is insecure in client-only encodings."},
    {"invalid byte sequence for encoding", sqlstate::character_not_in_repertoire},
    {"current database cannot be changed", sqlstate::feature_not_supported},
    {"MATCH PARTIAL not yet implemented", sqlstate::feature_not_supported},
    {"UNIQUE predicate is not yet implemented", sqlstate::feature_not_supported},
    {"CREATE ASSERTION is not yet implemented", sqlstate::feature_not_supported},
    {"frame start cannot be UNBOUNDED FOLLOWING", sqlstate::windowing_error},
    {"frame end cannot be UNBOUNDED PRECEDING", sqlstate::windowing_error},
    {"frame starting from", sqlstate::windowing_error},
    {"WITH TIES cannot be specified without ORDER BY clause", sqlstate::syntax_error},
    {"out of memory", sqlstate::out_of_memory},
    {"memory exhausted", sqlstate::statement_too_complex},
};

[[noreturn]] void throw_parse_error(const PostgresTree& tree) {
  std::string_view message = tree.message();
  SqlState state = sqlstate::syntax_error;
  std::string_view hint;
  for (const KnownError& known : known_errors) {
    if (!message.starts_with(known.message)) continue;
    state = known.state;
    hint = known.hint;
    break;
  }
  throw SqlError(state, std::string(message))
      .hint(std::string(hint))
      .at(tree.position() > 0 ? tree.position() : -1);
}

// The library counts the blanks and comments before a statement as its beginning.
ast::RawStatement located(const ::RawStmt& raw, std::string_view sql) {
  auto begin = static_cast<uint32_t>(raw.stmt_location);
  uint32_t end = raw.stmt_len > 0 ? begin + static_cast<uint32_t>(raw.stmt_len)
                                  : static_cast<uint32_t>(sql.size());
  uint32_t start = Lexer(sql, begin).next().start;
  while (end > start && std::string_view(" \t\r\n\f;").find(sql[end - 1]) != std::string_view::npos)
    --end;
  return {nullptr, static_cast<int32_t>(start), static_cast<int32_t>(end - start)};
}

// About what the library takes for a text, besides the tree in the caller's arena: copies of the
// text, and each token's node.
size_t parsing_bytes(std::string_view text) {
  size_t bytes = text.size() * limits::parsing_bytes_per_byte;
  Lexer lexer(text);
  for (;;) {
    Token token = lexer.next();
    if (token.kind == TokenKind::end || token.kind == TokenKind::invalid) return bytes;
    bool ends = token.kind == TokenKind::punctuation && lexer.text(token) == ";";
    bytes += ends ? limits::parsing_bytes_per_statement : limits::parsing_bytes_per_token;
  }
}

std::span<const ast::RawStatement> parse_here(std::string_view sql, Arena& arena,
                                              bool may_take_rows) {
  AskingString terminated(sql);
  flatten_comments(terminated);
  ConstantRows rows(arena);
  if (may_take_rows) rows.take_out(terminated);
  MemoryPromise promise(MemoryBudget::current());  // for others ask before all of it is allocated
  if (terminated.size() > limits::text_parsed_unasked) {
    size_t bytes = parsing_bytes(terminated);
    require_room(bytes);
    promise.cover(bytes);
  }
  std::optional<PostgresTree> tree(std::in_place, terminated.c_str());
  promise.clear();
  // With the whole text; the first tree goes before.
  auto parse_again = [&] {
    tree.reset();
    return parse_here(sql, arena, false);
  };
  if (tree->failed()) {
    // An error's position counts characters, of which blanks make another number.
    if (may_take_rows) return parse_again();
    throw_parse_error(*tree);
  }
  std::span<const ListCell> items = cells(tree->statements());
  std::span<ast::RawStatement> statements = arena.make_span<ast::RawStatement>(items.size());
  TreeConverter converter(sql, arena, rows);
  for (size_t i = 0; i < items.size(); ++i) {
    const auto& raw = node_as<::RawStmt>(node_in(items[i]));
    statements[i] = located(raw, sql);
    statements[i].statement = converter.statement(raw.stmt);
  }
  if (!rows.are_all_back()) return parse_again();
  return statements;
}

}  // namespace

std::span<const ast::RawStatement> parse(std::string_view sql, Arena& arena) {
  check_nesting(sql);
  return run_on_large_stack(
      [&] { return parse_here(sql, arena, sql.size() >= ConstantRows::shortest_text); });
}

}  // namespace pgsilo
