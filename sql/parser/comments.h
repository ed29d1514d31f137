// Comments inside of comments, for which the library's scanner takes time quadratic in their number
// (so does PostgreSQL's: it looks at all characters of operators that follow, and goes back).
// Thread safety: pure function.
#pragma once

#include <span>

namespace pgsilo {

// Blanks the marks of comments inside of others: what is left is as long, and means the same. A
// text with a comment that does not end stays as it is behind its last token, for the error shows
// it.
void flatten_comments(std::span<char> sql);

}  // namespace pgsilo
