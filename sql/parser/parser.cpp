#include "sql/parser/parser.h"

#include <pg_query.h>

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

[[noreturn]] void throw_parse_error(const PgQueryError& error) {
  std::string_view message = error.message;
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
      .at(error.cursorpos > 0 ? error.cursorpos : -1);
}

// Frees the library's answer however the conversion ends.
class ParsedTree {
 public:
  explicit ParsedTree(const char* sql) : result_(pg_query_parse_protobuf(sql)) {}
  ~ParsedTree() { pg_query_free_protobuf_parse_result(result_); }
  ParsedTree(const ParsedTree&) = delete;
  ParsedTree& operator=(const ParsedTree&) = delete;

  bool failed() const { return result_.error != nullptr; }
  // Throws what failed.
  const PgQuery__ParseResult& unpack(Arena& scratch) {
    if (result_.error != nullptr) throw_parse_error(*result_.error);
    ProtobufCAllocator allocator{
        [](void* arena, size_t bytes) { return static_cast<Arena*>(arena)->allocate(bytes); },
        [](void*, void*) {}, &scratch};
    const PgQuery__ParseResult* tree =
        pg_query__parse_result__unpack(&allocator, result_.parse_tree.len,
                                       reinterpret_cast<const uint8_t*>(result_.parse_tree.data));
    PGSILO_REQUIRE(tree != nullptr);
    return *tree;
  }

 private:
  PgQueryProtobufParseResult result_;
};

// The library counts the blanks and comments before a statement as its beginning.
ast::RawStatement located(const PgQuery__RawStmt& raw, std::string_view sql) {
  auto begin = static_cast<uint32_t>(raw.stmt_location);
  uint32_t end = raw.stmt_len > 0 ? begin + static_cast<uint32_t>(raw.stmt_len)
                                  : static_cast<uint32_t>(sql.size());
  uint32_t start = Lexer(sql, begin).next().start;
  while (end > start && std::string_view(" \t\r\n\f;").find(sql[end - 1]) != std::string_view::npos)
    --end;
  return {nullptr, static_cast<int32_t>(start), static_cast<int32_t>(end - start)};
}

// About what the library takes for a text, besides its answer's tree in the caller's arena: copies
// of the text, and three forms of each token's node.
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
  ParsedTree parsed(terminated.c_str());
  // An error's position counts characters, of which blanks make another number.
  if (may_take_rows && parsed.failed()) {
    promise.clear();
    return parse_here(sql, arena, false);
  }
  Arena scratch(4096);
  const PgQuery__ParseResult& tree = parsed.unpack(scratch);
  promise.clear();
  std::span<ast::RawStatement> statements = arena.make_span<ast::RawStatement>(tree.n_stmts);
  TreeConverter converter(sql, arena, rows);
  for (size_t i = 0; i < tree.n_stmts; ++i) {
    statements[i] = located(*tree.stmts[i], sql);
    statements[i].statement = converter.statement(tree.stmts[i]->stmt);
  }
  if (!rows.are_all_back()) return parse_here(sql, arena, false);
  return statements;
}

}  // namespace

std::span<const ast::RawStatement> parse(std::string_view sql, Arena& arena) {
  check_nesting(sql);
  return run_on_large_stack(
      [&] { return parse_here(sql, arena, sql.size() >= ConstantRows::shortest_text); });
}

}  // namespace pgsilo
