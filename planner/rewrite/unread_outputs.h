// What nobody reads of a query in FROM is not computed. Thread safety: none; the arena's.
#pragma once

#include <vector>

#include "base/arena.h"
#include "planner/bound/query.h"

namespace pgsilo {

// By relation of a query, and by column: whether the query, or a query in it, reads it.
using ReadColumns = std::vector<std::vector<bool>>;
ReadColumns read_columns(const BoundQuery& query);

// `query` with NULL for each output that is not read, so that 1/0 there is no error, as in
// PostgreSQL; but for those that tell rows apart or order them, make rows, or act (volatile
// functions). The query itself where that changes nothing.
const BoundQuery* without_unread(Arena& arena, const BoundQuery& query,
                                 const std::vector<bool>& read);

}  // namespace pgsilo
