// WITH.
#include <algorithm>
#include <utility>

#include "planner/binder/query_binder.h"
#include "planner/bound/query_tree.h"
#include "planner/unsupported_features.h"

namespace pgsilo {

namespace {

void check_supported(Scope& scope, const ast::CommonTableExpr& item) {
  if (item.has_search_or_cycle)
    throw_unsupported(UnsupportedFeature::search_or_cycle, scope.position(item.location));
  if (item.query->kind == ast::NodeKind::select_stmt) return;
  if (scope.parent != nullptr) {
    throw SqlError(sqlstate::feature_not_supported,
                   "WITH clause containing a data-modifying statement must be at the top level")
        .at(scope.position(item.location));
  }
  throw_unsupported(UnsupportedFeature::data_modifying_cte, scope.position(item.location));
}

// `number`: its place in the scope's.
void bind_cte(Scope& scope, const ast::CommonTableExpr& item, BoundCte& cte, size_t number) {
  check_supported(scope, item);
  StatementBinding& binding = scope.binding;
  bool volatile_before = std::exchange(binding.calls_volatile, false);
  size_t work_tables_before = binding.work_tables.size();
  const auto& select = *ast::as<ast::SelectStmt>(item.query);
  bool may_recurse = number < scope.pending.size() && select.operation == ast::SetOperation::union_;
  const BoundQuery* query = may_recurse ? bind_recursive_query(scope, select, number)
                                        : bind_query(binding, select, &scope);
  cte.calls_volatile = binding.calls_volatile;
  binding.calls_volatile |= volatile_before;
  check_cte_columns(scope, item, *query);
  cte.written_columns = static_cast<int32_t>(item.columns.size());
  cte.columns = columns_of(scope.arena(), *query, item.columns);
  cte.reads_outer_query = reads_outer(*query);
  cte.query = query;
  binding.note_work_tables(cte, work_tables_before);
}

void bind_pending(Scope& scope, size_t number) {
  scope.pending[number].state = PendingCte::State::other_form;
  size_t around = std::exchange(scope.innermost_pending, number);
  bind_cte(scope, *scope.pending[number].item, *scope.ctes[number], number);
  scope.pending[number].state = PendingCte::State::bound;
  scope.bound_ctes.push_back(scope.ctes[number]);
  scope.innermost_pending = around;
}

BoundCte* make_cte(Scope& scope, const ast::CommonTableExpr& item) {
  auto* cte = scope.arena().make<BoundCte>();
  cte->name = scope.arena().copy_string(item.name);
  cte->mode = static_cast<CteMode>(item.materialize);
  return cte;
}

void check_names(Scope& scope, const ast::WithClause& with) {
  for (const ast::CommonTableExpr& item : with.ctes) {
    for (const ast::CommonTableExpr* before = with.ctes.data(); before != &item; ++before) {
      if (before->name != item.name) continue;
      throw SqlError(sqlstate::duplicate_alias,
                     concat("WITH query name \"", item.name, "\" specified more than once"))
          .at(scope.position(item.location));
    }
  }
}

Scope& owner_of(Scope& scope, const FoundCte& found) {
  Scope* owner = &scope;
  for (int32_t level = 0; level < found.levels_up; ++level) owner = owner->parent;
  return *owner;
}

}  // namespace

void check_cte_columns(Scope& scope, const ast::CommonTableExpr& item, const BoundQuery& query) {
  if (item.columns.size() <= static_cast<size_t>(query.visible_targets)) return;
  throw SqlError(sqlstate::invalid_column_reference,
                 concat("WITH query \"", item.name, "\" has ", query.visible_targets,
                        " columns available but ", item.columns.size(), " columns specified"))
      .at(scope.position(item.location));
}

PendingCte& pending_of(Scope& scope, const FoundCte& found) {
  Scope& owner = owner_of(scope, found);
  return owner
      .pending[static_cast<size_t>(std::ranges::find(owner.ctes, found.cte) - owner.ctes.begin())];
}

// Only WITH RECURSIVE lets a query see its own name, and those behind it.
std::span<BoundCte* const> bind_with(Scope& scope, const ast::WithClause* with) {
  if (with == nullptr) return {};
  check_names(scope, *with);
  if (with->recursive) {
    for (const ast::CommonTableExpr& item : with->ctes) {
      scope.ctes.push_back(make_cte(scope, item));
      scope.pending.push_back({&item});
    }
    for (size_t i = 0; i < scope.pending.size(); ++i) {
      if (scope.pending[i].state == PendingCte::State::waiting) bind_pending(scope, i);
    }
    return scope.arena().copy_span(scope.bound_ctes);
  }
  for (const ast::CommonTableExpr& item : with->ctes) {
    BoundCte* cte = make_cte(scope, item);
    bind_cte(scope, item, *cte, SIZE_MAX);
    scope.ctes.push_back(cte);
  }
  return scope.arena().copy_span(scope.ctes);
}

bool bind_pending_cte(Scope& scope, const FoundCte& found) {
  Scope& owner = owner_of(scope, found);
  PendingCte& pending = pending_of(scope, found);
  auto number = static_cast<size_t>(&pending - owner.pending.data());
  if (pending.state != PendingCte::State::waiting) {
    // One that is bound for another's sake names that.
    if (owner.innermost_pending == number) return false;
    throw SqlError(sqlstate::feature_not_supported,
                   "mutual recursion between WITH items is not implemented")
        .at(scope.position(pending.item->location));
  }
  bind_pending(owner, number);
  return true;
}

FoundCte find_cte(Scope& scope, std::string_view name) {
  int32_t levels_up = 0;
  for (Scope* at = &scope; at != nullptr; at = at->parent, ++levels_up) {
    for (BoundCte* cte : at->ctes) {
      if (cte->name == name) return {cte, levels_up};
    }
  }
  return {};
}

}  // namespace pgsilo
