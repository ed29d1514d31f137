// Binding whole queries.
// Thread safety: none; see Scope.
#pragma once

#include <functional>

#include "planner/binder/scope.h"
#include "sql/ast/query.h"

namespace pgsilo {

// SELECT, VALUES or a set operation, inside `parent` (null at the top). With resolve_unknowns
// false, literals of unknown type in the result stay so (sources of INSERT, sides of a UNION).
BoundQuery* bind_query(StatementBinding& binding, const ast::SelectStmt& select, Scope* parent,
                       bool resolve_unknowns = true);

// WITH: makes the queries' names known in `scope`, and returns them.
std::span<BoundCte* const> bind_with(Scope& scope, const ast::WithClause* with);
// The CTE of that name in this or an outer query; levels_up says whose.
struct FoundCte {
  BoundCte* cte = nullptr;
  int32_t levels_up = 0;
};
FoundCte find_cte(Scope& scope, std::string_view name);
// Of WITH RECURSIVE.
PendingCte& pending_of(Scope& scope, const FoundCte& found);
// 42P10: more names of columns than the query has columns.
void check_cte_columns(Scope& scope, const ast::CommonTableExpr& item, const BoundQuery& query);
// Of WITH RECURSIVE, not bound yet: binds it. False: that is going on, and it names itself.
bool bind_pending_cte(Scope& scope, const FoundCte& found);
// A name of itself, at `location`. 42P19 where that must not stand.
void refer_to_itself(Scope& scope, const FoundCte& found, int32_t location);
// It has the name of a WITH query whose rows change with the steps of one around it.
void refer_to_changing(Scope& scope, const FoundCte& found, int32_t location);
// WITH RECURSIVE name AS (left UNION right).
BoundQuery* bind_recursive_query(Scope& scope, const ast::SelectStmt& select, size_t number);

// Sets where recursion ends for as long as it lives, unless `barrier` is none.
class BarrierGuard {
 public:
  BarrierGuard(Scope& scope, RecursionBarrier barrier) : scope_(scope), before_(scope.barrier) {
    if (barrier != RecursionBarrier::none) scope.barrier = barrier;
  }
  ~BarrierGuard() { scope_.barrier = before_; }
  BarrierGuard(const BarrierGuard&) = delete;
  BarrierGuard& operator=(const BarrierGuard&) = delete;

 private:
  Scope& scope_;
  RecursionBarrier before_;
};

// FROM: fills scope.relations and scope.items; returns the shape.
std::span<const FromItem*> bind_from(Scope& scope, ast::NodeList from);
// A table as a relation with its name in sight: INSERT, UPDATE and DELETE add their target so.
// Throws 42P01.
int32_t add_table(Scope& scope, const ast::RangeVar& name, const TableDescriptor* table);
const TableDescriptor& find_table(StatementBinding& binding, const ast::RangeVar& name);
// What the view is, as a query of its own. 42P17 if it reads itself.
const BoundQuery* bind_view_query(StatementBinding& binding, const TableDescriptor& view);
// All of a table's columns, dropped ones with type 0.
std::span<BoundColumn> table_columns(Arena& arena, const TableDescriptor& table);

// A select list or RETURNING, stars expanded.
std::vector<BoundTarget> bind_targets(Scope& scope, ast::List<ast::Target> list,
                                      ExpressionPlace place);
// Before one more is added, a key that ORDER BY or GROUP BY computes included. Throws 54011.
void require_room_for_target(const std::vector<BoundTarget>& targets);
void require_room_for_targets(size_t count);
void resolve_unknown_targets(StatementBinding& binding, std::vector<BoundTarget>& targets);

// VALUES lists of equal length as one relation; columns unified.
BoundQuery* bind_values(StatementBinding& binding, const ast::SelectStmt& select, Scope* parent);
// UNION, INTERSECT, EXCEPT. `between` (may be null) sees the left side before the right is bound.
using BetweenSides = std::function<void(const BoundQuery& left)>;
BoundQuery* bind_set_operation(StatementBinding& binding, const ast::SelectStmt& select,
                               Scope* parent, const BetweenSides& between = nullptr);
// ORDER BY, LIMIT and OFFSET of VALUES and set operations, over result columns.
void bind_limits(Scope& scope, const ast::SelectStmt& select, BoundQuery& query);
// FOR UPDATE and its kin: query.row_marks, and those of subqueries in FROM.
void bind_locking(Scope& scope, std::span<const ast::LockingClause> clauses, BoundQuery& query);
// A mark of a view's rows, in the view's query too, which was just put in its place.
void lock_rows_of_view(StatementBinding& binding, BoundQuery& query, const BoundRowMark& mark);
void check_select_supported(StatementBinding& binding, const ast::SelectStmt& select);

// The visible columns of a query as a relation's columns.
std::span<const BoundColumn> columns_of(Arena& arena, const BoundQuery& query,
                                        ast::NameList names = {});

}  // namespace pgsilo
