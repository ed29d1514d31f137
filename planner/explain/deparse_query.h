// A bound query as SQL, as PostgreSQL's pg_get_viewdef shows the query of a view.
// Thread safety: none.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "planner/bound/query.h"
#include "planner/explain/deparse.h"

namespace pgsilo {

// How long a line of columns may become before it is broken; 0: each column has a line of its own.
inline constexpr int no_wrapping = -1;
inline constexpr int line_per_column = 0;

// `context` has the types and `pretty`. `column_names` stand in place of those of the targets: the
// columns of the view may have been renamed. The query is one that was bound and not rewritten.
// Names that the search path does not find have their schema (TypeContext::object_names).
std::string deparse_query(const DeparseContext& context, const BoundQuery& query,
                          std::span<const std::string_view> column_names,
                          int wrap_column = line_per_column);

}  // namespace pgsilo
