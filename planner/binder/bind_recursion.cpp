// WITH RECURSIVE: a UNION whose right side names the query itself.
#include <algorithm>

#include "planner/binder/query_binder.h"
#include "sql/types/type.h"

namespace pgsilo {

namespace {

SqlError invalid_recursion(std::string_view before, std::string_view name,
                           std::string_view behind) {
  return SqlError(sqlstate::invalid_recursion, concat(before, " \"", name, "\" ", behind));
}

std::string_view text_of(RecursionBarrier barrier) {
  switch (barrier) {
    case RecursionBarrier::subquery:
      return "must not appear within a subquery";
    case RecursionBarrier::outer_join:
      return "must not appear within an outer join";
    case RecursionBarrier::intersect:
      return "must not appear within INTERSECT";
    case RecursionBarrier::except:
      return "must not appear within EXCEPT";
    case RecursionBarrier::none:
      break;
  }
  return {};
}

// The nearest on the way from `scope` to the query that has the WITH.
RecursionBarrier nearest_barrier(const Scope& scope, int32_t levels_up) {
  const Scope* at = &scope;
  for (int32_t level = 0; level < levels_up; ++level, at = at->parent) {
    if (at->barrier != RecursionBarrier::none) return at->barrier;
    ExpressionPlace place = at->parent->place;
    bool is_expression = place != ExpressionPlace::none && place != ExpressionPlace::from_subselect;
    if (is_expression) return RecursionBarrier::subquery;
  }
  return RecursionBarrier::none;
}

// The recursive term sees what the other term alone says of the columns.
std::span<const BoundColumn> columns_of_first_term(Scope& scope, const BoundQuery& query,
                                                   const ast::CommonTableExpr& item) {
  std::span<const BoundColumn> found = columns_of(scope.arena(), query, item.columns);
  std::span<BoundColumn> columns = scope.arena().copy_span(found);
  for (BoundColumn& column : columns) {
    if (column.type == type_oid::unknown) column.type = type_oid::text;
  }
  return columns;
}

void check_types(Scope& scope, const BoundCte& cte, const BoundQuery& query) {
  for (size_t i = 0; i < cte.columns.size(); ++i) {
    const BoundColumn& first = cte.columns[i];
    const BoundExpression& whole = *query.targets[i].expression;
    if (first.type == whole.type && first.typmod == whole.typmod) continue;
    throw SqlError(sqlstate::datatype_mismatch,
                   concat("recursive query \"", cte.name, "\" column ", i + 1, " has type ",
                          type_name(first.type, first.typmod), " in non-recursive term but type ",
                          type_name(whole.type, whole.typmod), " overall"))
        .hint("Cast the output of the non-recursive term to the correct type.")
        .at(scope.position(query.left->targets[i].expression->location));
  }
}

void check_clauses(Scope& scope, const ast::SelectStmt& select) {
  auto raise = [&](std::string_view clause, int32_t location) {
    throw SqlError(sqlstate::feature_not_supported,
                   concat(clause, " in a recursive query is not implemented"))
        .at(scope.position(location));
  };
  if (!select.order_by.empty()) raise("ORDER BY", select.order_by.front().expression->location);
  if (select.limit_offset != nullptr) raise("OFFSET", select.limit_offset->location);
  if (select.limit_count != nullptr) raise("LIMIT", select.limit_count->location);
  if (!select.locking.empty()) raise("FOR UPDATE/SHARE", -1);
}

}  // namespace

void StatementBinding::note_work_tables(BoundCte& cte, size_t before) {
  std::vector<const BoundCte*> others;
  std::copy_if(work_tables.begin() + static_cast<ptrdiff_t>(before), work_tables.end(),
               std::back_inserter(others), [&](const BoundCte* each) { return each != &cte; });
  work_tables.resize(before);
  work_tables.insert(work_tables.end(), others.begin(), others.end());
  cte.work_tables = arena.copy_span(others);
  cte.reads_outer_query |= !others.empty();
}

void StatementBinding::read_work_tables(const BoundCte& cte) {
  work_tables.insert(work_tables.end(), cte.work_tables.begin(), cte.work_tables.end());
}

BoundQuery* bind_recursive_query(Scope& scope, const ast::SelectStmt& select, size_t number) {
  check_select_supported(scope.binding, select);
  BoundCte& cte = *scope.ctes[number];
  const ast::CommonTableExpr& item = *scope.pending[number].item;
  scope.pending[number].state = PendingCte::State::first_term;
  BoundQuery* query =
      bind_set_operation(scope.binding, select, &scope, [&](const BoundQuery& left) {
        check_cte_columns(scope, item, left);
        cte.columns = columns_of_first_term(scope, left, item);
        scope.pending[number].state = PendingCte::State::recursive_term;
      });
  cte.is_recursive = scope.pending[number].references != 0;
  if (!cte.is_recursive) return query;
  check_clauses(scope, select);
  check_types(scope, cte, *query);
  return query;
}

void refer_to_itself(Scope& scope, const FoundCte& found, int32_t location) {
  PendingCte& pending = pending_of(scope, found);
  std::string_view name = found.cte->name;
  if (pending.state == PendingCte::State::other_form) {
    throw invalid_recursion("recursive query", name,
                            "does not have the form non-recursive-term UNION [ALL] recursive-term")
        .at(scope.position(pending.item->location));
  }
  constexpr std::string_view reference = "recursive reference to query";
  auto raise = [&](std::string_view why) {
    throw invalid_recursion(reference, name, why).at(scope.position(location));
  };
  if (pending.state == PendingCte::State::first_term)
    raise("must not appear within its non-recursive term");
  RecursionBarrier barrier = nearest_barrier(scope, found.levels_up);
  if (barrier != RecursionBarrier::none) raise(text_of(barrier));
  if (++pending.references > 1) raise("must not appear more than once");
  scope.reads_work_table = true;
  scope.binding.work_tables.push_back(found.cte);
}

// Subqueries in expressions that read nothing of the row around them are run once.
void refer_to_changing(Scope& scope, const FoundCte& found, int32_t location) {
  if (found.cte->work_tables.empty()) return;
  if (nearest_barrier(scope, found.levels_up) == RecursionBarrier::subquery) {
    throw invalid_recursion("recursive reference to query", found.cte->work_tables[0]->name,
                            text_of(RecursionBarrier::subquery))
        .at(scope.position(location));
  }
  scope.binding.read_work_tables(*found.cte);
}

}  // namespace pgsilo
