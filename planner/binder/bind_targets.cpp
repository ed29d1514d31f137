// Select lists and RETURNING.
#include "catalog/descriptors.h"
#include "planner/binder/column_reference.h"
#include "planner/binder/expression_binder.h"
#include "planner/binder/query_binder.h"
#include "planner/unsupported_features.h"
#include "sql/limits.h"

namespace pgsilo {

void require_room_for_target(const std::vector<BoundTarget>& targets) {
  require_room_for_targets(targets.size() + 1);
}

void require_room_for_targets(size_t count) {
  if (count <= static_cast<size_t>(limits::max_target_columns)) return;
  throw SqlError(sqlstate::too_many_columns,
                 concat("target lists can have at most ", limits::max_target_columns, " entries"));
}

namespace {

struct Origin {
  Oid table = invalid_oid;
  int16_t column_number = 0;
};

// The table column that a result column shows unchanged, through subqueries.
Origin origin_of(const Scope* scope, const BoundExpression* expression) {
  auto* column = try_as<ColumnExpression>(expression);
  if (column == nullptr) return {};
  for (int32_t i = 0; i < column->levels_up && scope != nullptr; ++i) scope = scope->parent;
  if (scope == nullptr) return {};
  const BoundRelation& relation = *scope->relations[column->relation];
  if (relation.kind == RangeKind::table)
    return {relation.table->oid, static_cast<int16_t>(column->column + 1)};
  const BoundQuery* query = relation.cte != nullptr ? relation.cte->query : relation.query;
  if (query == nullptr) return {};
  const BoundTarget& target = query->targets[column->column];
  return {target.table, target.column_number};
}

void add_target(Scope& scope, std::vector<BoundTarget>& targets, std::string_view name,
                const BoundExpression* expression) {
  require_room_for_target(targets);
  Origin origin = origin_of(&scope, expression);
  BoundTarget target;
  target.expression = expression;
  target.name = name;
  target.table = origin.table;
  target.column_number = origin.column_number;
  targets.push_back(target);
}

void add_columns(Scope& scope, const ScopeItem& item, int32_t levels_up, int32_t location,
                 std::vector<BoundTarget>& targets) {
  for (const ScopeColumn& column : item.columns) {
    if (column.expression == nullptr) continue;
    const BoundExpression* expression = raise_levels(scope.arena(), column.expression, levels_up);
    if (auto* plain = try_as<ColumnExpression>(expression)) {
      auto* located = scope.arena().make<ColumnExpression>(*plain);
      located->location = location;
      expression = located;
    }
    add_target(scope, targets, column.name, expression);
  }
}

void expand_star(Scope& scope, const ast::ColumnRef& star, std::vector<BoundTarget>& targets) {
  size_t before = targets.size();
  bool found = false;
  for (const ScopeItem& item : scope.items) {
    if (!item.columns_visible || item.lateral_only) continue;
    found = true;
    add_columns(scope, item, 0, star.location, targets);
  }
  if (!found && targets.size() == before) {
    throw SqlError(sqlstate::syntax_error, "SELECT * with no tables specified is not valid")
        .at(scope.position(star.location));
  }
}

void expand_qualified_star(Scope& scope, const ast::ColumnRef& star,
                           std::vector<BoundTarget>& targets) {
  std::string_view schema =
      star.fields.size() > 1 ? star.fields[star.fields.size() - 2] : std::string_view();
  std::string_view name = star.fields.back();
  FoundItem found = find_scope_item(scope, schema, name, star.location);
  if (found.item == nullptr) throw_missing_from_entry(scope, name, star.location);
  add_columns(scope, *found.item, found.levels_up, star.location, targets);
}

bool is_expression_star(const ast::Node* node) {
  auto* indirection = ast::try_as<ast::Indirection>(node);
  return indirection != nullptr &&
         indirection->steps.back().kind == ast::IndirectionStep::Kind::star;
}

}  // namespace

std::vector<BoundTarget> bind_targets(Scope& scope, ast::List<ast::Target> list,
                                      ExpressionPlace place) {
  PlaceGuard guard(scope, place);
  std::vector<BoundTarget> targets;
  for (const ast::Target& target : list) {
    auto* reference = ast::try_as<ast::ColumnRef>(target.expression);
    if (reference != nullptr && reference->star) {
      if (reference->fields.empty()) {
        expand_star(scope, *reference, targets);
      } else {
        expand_qualified_star(scope, *reference, targets);
      }
      continue;
    }
    if (is_expression_star(target.expression)) {
      throw_unsupported(UnsupportedFeature::composite_type, scope.position(target.location));
    }
    const BoundExpression* expression = bind_expression(scope, target.expression);
    std::string_view name =
        target.name.empty() ? figure_column_name(target.expression) : target.name;
    add_target(scope, targets, scope.arena().copy_string(name), expression);
  }
  return targets;
}

void resolve_unknown_targets(StatementBinding& binding, std::vector<BoundTarget>& targets) {
  for (BoundTarget& target : targets)
    target.expression = resolve_unknown(binding, target.expression);
}

std::span<const BoundColumn> columns_of(Arena& arena, const BoundQuery& query,
                                        ast::NameList names) {
  std::span<BoundColumn> columns = arena.make_span<BoundColumn>(query.visible_targets);
  for (size_t i = 0; i < columns.size(); ++i) {
    const BoundTarget& target = query.targets[i];
    std::string_view name = i < names.size() ? arena.copy_string(names[i]) : target.name;
    columns[i] = {name, target.expression->type, target.expression->typmod};
  }
  return columns;
}

}  // namespace pgsilo
