#include "sql/parser/comments.h"

#include <algorithm>
#include <string_view>

#include "sql/parser/lexer.h"

namespace pgsilo {
namespace {

std::string_view text_of(std::span<char> sql) { return {sql.data(), sql.size()}; }

// `at` is behind a comment's opening; returns where it ends.
size_t flatten_comment(std::span<char> sql, size_t at, size_t end) {
  for (size_t depth = 1; at + 1 < end;) {
    bool opens = sql[at] == '/' && sql[at + 1] == '*';
    bool closes = sql[at] == '*' && sql[at + 1] == '/';
    if (closes && depth == 1) return at + 2;
    if (!opens && !closes) {
      ++at;
      continue;
    }
    sql[at] = sql[at + 1] = ' ';
    depth += opens ? 1 : -1;
    at += 2;
  }
  return end;
}

// What stands between two tokens.
void flatten_gap(std::span<char> sql, size_t at, size_t end) {
  while (at + 1 < end) {
    if (sql[at] == '-' && sql[at + 1] == '-') {
      at = std::min(text_of(sql).find_first_of("\r\n", at), end);
    } else if (sql[at] == '/' && sql[at + 1] == '*') {
      at = flatten_comment(sql, at + 2, end);
    } else {
      ++at;
    }
  }
}

bool may_nest(std::string_view sql) {
  size_t first = sql.find("/*");
  return first != std::string_view::npos && sql.find("/*", first + 2) != std::string_view::npos;
}

}  // namespace

void flatten_comments(std::span<char> sql) {
  if (!may_nest(text_of(sql))) return;
  Lexer lexer(text_of(sql));
  size_t done = 0;
  while (true) {
    Token token = lexer.next();
    if (token.kind == TokenKind::invalid) return;
    flatten_gap(sql, done, token.start);
    if (token.kind == TokenKind::end) return;
    done = token.end;
  }
}

}  // namespace pgsilo
