// WITH.
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

void bind_cte(Scope& scope, const ast::CommonTableExpr& item, BoundCte& cte) {
  check_supported(scope, item);
  bool volatile_before = scope.binding.calls_volatile;
  scope.binding.calls_volatile = false;
  const BoundQuery* query =
      bind_query(scope.binding, *ast::as<ast::SelectStmt>(item.query), &scope);
  cte.calls_volatile = scope.binding.calls_volatile;
  scope.binding.calls_volatile |= volatile_before;
  if (item.columns.size() > static_cast<size_t>(query->visible_targets)) {
    throw SqlError(sqlstate::invalid_column_reference,
                   concat("WITH query \"", item.name, "\" has ", query->visible_targets,
                          " columns available but ", item.columns.size(), " columns specified"))
        .at(scope.position(item.location));
  }
  cte.written_columns = static_cast<int32_t>(item.columns.size());
  cte.columns = columns_of(scope.arena(), *query, item.columns);
  cte.reads_outer_query = reads_outer(*query);
  cte.query = query;
}

}  // namespace

std::span<BoundCte* const> bind_with(Scope& scope, const ast::WithClause* with) {
  if (with == nullptr) return {};
  for (const ast::CommonTableExpr& item : with->ctes) {
    for (const BoundCte* known : scope.ctes) {
      if (known->name != item.name) continue;
      throw SqlError(sqlstate::duplicate_alias,
                     concat("WITH query name \"", item.name, "\" specified more than once"))
          .at(scope.position(item.location));
    }
    auto* cte = scope.arena().make<BoundCte>();
    cte->name = scope.arena().copy_string(item.name);
    cte->mode = static_cast<CteMode>(item.materialize);
    // Only WITH RECURSIVE lets a query see its own name.
    if (with->recursive) scope.ctes.push_back(cte);
    bind_cte(scope, item, *cte);
    if (!with->recursive) scope.ctes.push_back(cte);
  }
  return scope.arena().copy_span(scope.ctes);
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
