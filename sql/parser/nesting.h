// Bounds how deep a text's syntax tree can get, from its tokens alone and before it is parsed: the
// parser's own recursion has no guard, so a text that would exceed limits::max_nesting_depth must
// not reach it.
//
// The bound is never too low: each parenthesis, bracket and CASE is a level; inside a level every
// operator and every word that works as one may deepen the tree by one. A comma, AND, OR, or a word
// that begins a new expression of CASE starts a new expression beside the old (chains of AND and
// OR, lists and VALUES are flat). UNION and JOIN make left-deep chains that nothing inside their
// level starts anew. Thread safety: pure function.
#pragma once

#include <string_view>

namespace pgsilo {

// Throws SqlError 54001 if the text may nest too deep. Text that has lexical errors passes: it will
// not parse.
void check_nesting(std::string_view sql);

}  // namespace pgsilo
