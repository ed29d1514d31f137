// SELECT and VALUES.
#include <algorithm>

#include "planner/binder/aggregates.h"
#include "planner/binder/coercion.h"
#include "planner/binder/expression_binder.h"
#include "planner/binder/query_binder.h"
#include "planner/binder/sort_clause.h"
#include "planner/bound/expression_tree.h"
#include "planner/bound/make_expression.h"
#include "planner/bound/query_tree.h"
#include "planner/unsupported_features.h"
#include "sql/types/type.h"

namespace pgsilo {

namespace {

const BoundExpression* bind_limit(Scope& scope, const ast::Node* node, ExpressionPlace place) {
  if (node == nullptr) return nullptr;
  std::string_view construct = place_name(place);
  const BoundExpression* bound = coerce_to_specific(
      scope.binding, bind_expression(scope, node, place), type_oid::int8, construct);
  const BoundExpression* column = nullptr;
  walk_levels(*bound, 0, [&](const BoundExpression& e, int32_t depth) {
    auto* found = try_as<ColumnExpression>(&e);
    if (column == nullptr && found != nullptr && found->levels_up == depth) column = found;
    return column == nullptr;
  });
  if (column != nullptr) {
    throw SqlError(sqlstate::invalid_column_reference,
                   concat("argument of ", construct, " must not contain variables"))
        .at(scope.position(column->location));
  }
  return bound;
}

// GROUP BY (a, b) is GROUP BY a, b; GROUP BY () is one group of everything.
void flatten_group_items(Scope& scope, ast::NodeList items, std::vector<const ast::Node*>& flat) {
  for (const ast::Node* item : items) {
    if (auto* row = ast::try_as<ast::RowExpr>(item); row != nullptr && !row->is_explicit) {
      flatten_group_items(scope, row->arguments, flat);
    } else if (auto* set = ast::try_as<ast::GroupingSet>(item)) {
      if (set->set_kind != ast::GroupingSetKind::empty) {
        throw_unsupported(UnsupportedFeature::grouping_sets, scope.position(item->location));
      }
    } else {
      flat.push_back(item);
    }
  }
}

// A step of WITH RECURSIVE has only the rows that the last one added.
[[noreturn]] void refuse_aggregates(Scope& scope, const BoundQuery& query) {
  int32_t location = -1;
  auto find = [&](const BoundExpression* expression) {
    if (expression == nullptr) return;
    contains(*expression, [&](const BoundExpression& part) {
      if (location < 0 && part.kind == ExpressionKind::aggregate) location = part.location;
      return location >= 0;
    });
  };
  for (const BoundTarget& target : query.targets) find(target.expression);
  find(query.having);
  throw SqlError(sqlstate::invalid_recursion,
                 "aggregate functions are not allowed in a recursive query's recursive term")
      .at(scope.position(location));
}

void set_targets(Scope& scope, BoundQuery& query, const std::vector<BoundTarget>& targets) {
  query.visible_targets = static_cast<int32_t>(std::count_if(
      targets.begin(), targets.end(), [](const BoundTarget& t) { return !t.is_junk; }));
  query.targets = scope.arena().copy_span(targets);
}

BoundQuery* bind_plain_select(StatementBinding& binding, const ast::SelectStmt& select,
                              Scope* parent, bool resolve_unknowns) {
  Scope scope(binding, parent);
  Arena& arena = binding.arena;
  auto* query = arena.make<BoundQuery>();
  query->ctes = bind_with(scope, select.with);
  query->with_recursive = select.with != nullptr && select.with->recursive;
  if (!select.windows.empty()) {
    throw_unsupported(UnsupportedFeature::window_function,
                      binding.position(select.windows.front().location));
  }
  query->from = bind_from(scope, select.from);
  std::vector<BoundTarget> targets =
      bind_targets(scope, select.targets, ExpressionPlace::select_target);
  query->where = bind_condition(scope, select.where, ExpressionPlace::where, "WHERE");
  query->having = bind_condition(scope, select.having, ExpressionPlace::having, "HAVING");
  std::vector<QuerySortKey> order_by = bind_order_by(scope, select.order_by, targets);
  std::vector<const ast::Node*> group_items;
  flatten_group_items(scope, select.group_by, group_items);
  query->group_by = arena.copy_span(bind_group_by(scope, group_items, targets));
  if (select.distinct && select.distinct_on.empty()) {
    resolve_unknown_targets(binding, targets);
    check_distinct(scope, targets, order_by);
    query->distinct = true;
  } else if (select.distinct) {
    query->distinct_on =
        arena.copy_span(bind_distinct_on(scope, select.distinct_on, targets, order_by));
  }
  // Behind all that may have an aggregate.
  query->is_grouped = scope.has_aggregates || !select.group_by.empty() || query->having != nullptr;
  bind_limits(scope, select, *query);
  if (resolve_unknowns) resolve_unknown_targets(binding, targets);
  // DISTINCT ON without ORDER BY still needs its keys next to each other.
  query->order_by = arena.copy_span(order_by);
  query->has_set_returning_targets = scope.has_set_returning;
  query->relations = arena.copy_span(scope.relations);
  set_targets(scope, *query, targets);
  if (query->is_grouped) check_grouping(scope, *query);
  if (scope.reads_work_table && scope.has_aggregates) refuse_aggregates(scope, *query);
  bind_locking(scope, select.locking, *query);
  return query;
}

// One row of VALUES, bound; throws when its length differs from the first row's.
std::vector<const BoundExpression*> bind_values_row(Scope& scope, ast::NodeList row,
                                                    size_t length) {
  if (row.size() != length) {
    throw SqlError(sqlstate::syntax_error, "VALUES lists must all be the same length")
        .at(scope.position(row.empty() ? -1 : row.front()->location));
  }
  std::vector<const BoundExpression*> bound;
  for (const ast::Node* value : row)
    bound.push_back(bind_expression(scope, value, ExpressionPlace::values));
  return bound;
}

}  // namespace

void check_select_supported(StatementBinding& binding, const ast::SelectStmt& select) {
  if (select.into != nullptr) {
    throw_unsupported(UnsupportedFeature::select_into,
                      binding.position(select.into->relation->location));
  }
}

// Behind ORDER BY, which says what ties are; the grammar wants it there.
void bind_limits(Scope& scope, const ast::SelectStmt& select, BoundQuery& query) {
  query.limit_offset = bind_limit(scope, select.limit_offset, ExpressionPlace::offset);
  query.limit_count = bind_limit(scope, select.limit_count, ExpressionPlace::limit);
  query.with_ties = select.with_ties;
  auto* constant = ast::try_as<ast::Constant>(select.limit_count);
  if (select.with_ties && constant != nullptr &&
      constant->constant_kind == ast::ConstantKind::null) {
    throw SqlError(sqlstate::invalid_row_count_in_limit_clause,
                   "row count cannot be null in FETCH FIRST ... WITH TIES clause");
  }
}

BoundQuery* bind_values(StatementBinding& binding, const ast::SelectStmt& select, Scope* parent) {
  Scope scope(binding, parent);
  Arena& arena = binding.arena;
  if (!select.locking.empty()) {
    throw SqlError(
        sqlstate::feature_not_supported,
        concat(lock_clause_name(select.locking[0].strength), " cannot be applied to VALUES"));
  }
  auto* query = arena.make<BoundQuery>();
  query->ctes = bind_with(scope, select.with);
  size_t width = select.values_lists.front().size();
  require_room_for_targets(width);
  std::vector<std::vector<const BoundExpression*>> rows;
  for (ast::NodeList row : select.values_lists) rows.push_back(bind_values_row(scope, row, width));

  std::span<BoundColumn> columns = arena.make_span<BoundColumn>(width);
  for (size_t i = 0; i < width; ++i) {
    std::vector<const BoundExpression*> column;
    column.reserve(rows.size());
    for (const auto& row : rows) column.push_back(row[i]);
    Oid type = select_common_type(binding, column, "VALUES");
    for (auto& row : rows) row[i] = coerce_to_common_type(binding, row[i], type, "VALUES");
    for (size_t r = 0; r < rows.size(); ++r) column[r] = rows[r][i];
    columns[i] = {arena.copy_string(concat("column", i + 1)), type,
                  select_common_typmod(column, type)};
  }
  auto* relation = arena.make<BoundRelation>();
  relation->kind = RangeKind::values;
  relation->alias = "*VALUES*";
  relation->columns = columns;
  std::span<ExpressionList> bound_rows = arena.make_span<ExpressionList>(rows.size());
  for (size_t r = 0; r < rows.size(); ++r) bound_rows[r] = arena.copy_span(rows[r]);
  relation->rows = bound_rows;
  scope.relations.push_back(relation);
  ScopeItem item;
  item.name = relation->alias;
  item.relation = 0;
  std::vector<BoundTarget> targets;
  for (size_t i = 0; i < width; ++i) {
    BoundTarget target;
    target.name = columns[i].name;
    target.expression =
        make_column(arena, 0, static_cast<int32_t>(i), columns[i].type, columns[i].typmod);
    item.columns.push_back({target.name, target.expression});
    targets.push_back(target);
  }
  scope.items.push_back(std::move(item));
  auto* shape = arena.make<FromItem>();
  shape->relation = 0;
  query->from = arena.copy_span(std::initializer_list<const FromItem*>{shape});
  query->order_by = arena.copy_span(bind_order_by(scope, select.order_by, targets));
  bind_limits(scope, select, *query);
  query->relations = arena.copy_span(scope.relations);
  set_targets(scope, *query, targets);
  return query;
}

BoundQuery* bind_query(StatementBinding& binding, const ast::SelectStmt& select, Scope* parent,
                       bool resolve_unknowns) {
  DepthGuard depth(binding);
  check_select_supported(binding, select);
  if (!select.values_lists.empty()) return bind_values(binding, select, parent);
  if (select.operation != ast::SetOperation::none)
    return bind_set_operation(binding, select, parent);
  return bind_plain_select(binding, select, parent, resolve_unknowns);
}

}  // namespace pgsilo
