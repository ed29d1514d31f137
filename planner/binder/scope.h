// What names mean inside one query: the FROM items in sight, WITH queries, and the query around it.
// Thread safety: none; lives on the stack while its query is bound.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "planner/binder/binding.h"
#include "planner/bound/query.h"
#include "sql/ast/expressions.h"
#include "sql/ast/query.h"

namespace pgsilo {

// The clause an expression stands in: what is allowed there, and how messages call it (PostgreSQL's
// ParseExprKind).
enum class ExpressionPlace : uint8_t {
  none,
  select_target,
  from_subselect,
  from_function,
  join_on,
  where,
  having,
  filter,
  group_by,
  order_by,
  distinct_on,
  limit,
  offset,
  returning,
  values,         // VALUES with several rows
  values_single,  // of an INSERT with one row
  insert_target,
  update_source,
  check_constraint,
  column_default,
  column_generation,
  index_expression,
  index_predicate,
  column_transform,  // ALTER COLUMN TYPE ... USING
  execute_parameter,
  copy_where,
};

struct ScopeColumn {
  std::string_view name;
  // A column of one of the scope's relations, or COALESCE of two for FULL JOIN USING. At level 0.
  const BoundExpression* expression = nullptr;
  bool generated = false;  // set where a generation expression is bound
};

// One name that can stand before a dot, and the columns it (or its absence) reaches.
struct ScopeItem {
  std::string_view name;  // empty: a join without an alias
  const TableDescriptor* table = nullptr;
  int32_t relation = -1;  // -1: a join
  bool name_visible = true;
  bool columns_visible = true;
  bool lateral_only = false;  // seen from a later FROM item: only LATERAL may refer to it
  bool lateral_ok = true;     // false: on the wrong side of an outer join
  std::vector<ScopeColumn> columns;
};

// An item of WITH RECURSIVE: bound when it is its turn, or before, when another one names it.
struct PendingCte {
  enum class State : uint8_t { waiting, first_term, recursive_term, other_form, bound };
  const ast::CommonTableExpr* item;
  State state = State::waiting;
  int32_t references = 0;  // to itself
};

// Where a WITH query must not name itself, though it may in its recursive term.
enum class RecursionBarrier : uint8_t { none, subquery, outer_join, intersect, except };

struct Scope {
  StatementBinding& binding;
  Scope* parent = nullptr;
  std::vector<ScopeItem> items;
  std::vector<BoundCte*> ctes;
  std::vector<PendingCte> pending;      // of WITH RECURSIVE: one for each
  size_t innermost_pending = SIZE_MAX;  // that is being bound
  std::vector<BoundCte*> bound_ctes;    // of WITH RECURSIVE: each behind those that it names
  RecursionBarrier barrier = RecursionBarrier::none;
  bool reads_work_table = false;
  std::vector<const BoundRelation*> relations;
  ExpressionPlace place = ExpressionPlace::none;
  bool lateral_active = false;
  bool has_aggregates = false;
  bool has_set_returning = false;
  bool inside_aggregate = false;
  // Leaves of a set operation keep unknown literals unknown; their types are settled with the other
  // side.
  bool resolve_unknowns = true;
  std::span<const ast::WindowDef> windows;

  Scope(StatementBinding& statement, Scope* outer) : binding(statement), parent(outer) {}
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  Arena& arena() { return binding.arena; }
  int position(int32_t location) const { return binding.position(location); }
};

// Sets the place for as long as it lives.
class PlaceGuard {
 public:
  PlaceGuard(Scope& scope, ExpressionPlace place) : scope_(scope), before_(scope.place) {
    scope.place = place;
  }
  ~PlaceGuard() { scope_.place = before_; }
  PlaceGuard(const PlaceGuard&) = delete;
  PlaceGuard& operator=(const PlaceGuard&) = delete;

 private:
  Scope& scope_;
  ExpressionPlace before_;
};

// How messages name the place: "WHERE", "GROUP BY", "function in FROM".
std::string_view place_name(ExpressionPlace place);

// Adds `by` to levels_up of all columns of an expression without aggregates that is seen from an
// inner query.
const BoundExpression* raise_levels(Arena& arena, const BoundExpression* expression, int32_t by);

}  // namespace pgsilo
