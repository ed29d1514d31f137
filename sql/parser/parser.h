// Text to syntax tree, with PostgreSQL 15's own grammar (libpg_query, which no other folder sees).
//
// parse() runs on a large guarded stack (base/large_stack.h), so fibers may call it. A text that
// could nest deeper than limits::max_nesting_depth is refused before it is parsed (54001). Thread
// safety: parse() may run in many threads at once; it never parks.
#pragma once

#include <span>
#include <string_view>

#include "base/arena.h"
#include "sql/ast/node.h"

namespace pgsilo {

// The statements of `sql` (valid UTF-8 without NUL), in order; none for an empty text. The tree
// lives in `arena` and does not point into `sql`. Throws SqlError: 42601 with PostgreSQL's message
// and position, 0A000 for syntax inside a statement that we do not support (whole statements come
// as UnsupportedStmt), 54001. MemoryLimitReached for a long text.
std::span<const ast::RawStatement> parse(std::string_view sql, Arena& arena);

}  // namespace pgsilo
