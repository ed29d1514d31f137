// Finding what a, t.a and s.t.a stand for.
// Thread safety: none; see Scope.
#pragma once

#include "planner/binder/scope.h"

namespace pgsilo {

// Throws 42703, 42P01 ("missing FROM-clause entry"), 42702 with PostgreSQL's texts.
const BoundExpression* bind_column_reference(Scope& scope, const ast::ColumnRef& reference);
// The unqualified name as a column, or null when there is none (ORDER BY and GROUP BY try this
// first).
const BoundExpression* find_unqualified_column(Scope& scope, std::string_view name,
                                               int32_t location);

// A qualifier's FROM item in this or an outer query; null when there is none.
struct FoundItem {
  ScopeItem* item = nullptr;
  int32_t levels_up = 0;
};
FoundItem find_scope_item(Scope& scope, std::string_view schema, std::string_view name,
                          int32_t location);
// 42P01: "missing FROM-clause entry for table ..." or "invalid reference to FROM-clause entry for
// table ...".
[[noreturn]] void throw_missing_from_entry(Scope& scope, std::string_view name, int32_t location);

}  // namespace pgsilo
