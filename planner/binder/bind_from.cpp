// FROM: tables, subqueries, functions, joins, and the names they bring into sight.
#include <algorithm>

#include "catalog/builtin/builtin.h"
#include "catalog/catalog_view.h"
#include "catalog/named_relation.h"
#include "catalog/system_tables.h"
#include "planner/binder/coercion.h"
#include "planner/binder/expression_binder.h"
#include "planner/binder/index_expressions.h"
#include "planner/binder/join_columns.h"
#include "planner/binder/query_binder.h"
#include "planner/bound/expression_tree.h"
#include "planner/bound/make_expression.h"
#include "planner/unsupported_features.h"
#include "sql/types/type.h"

namespace pgsilo {

namespace {

using Items = std::vector<ScopeItem>;

// Puts a relation into the scope's range table, under the name that is written or its own.
BoundRelation* add_relation(Scope& scope, RangeKind kind, const ast::Alias* alias,
                            std::string_view name) {
  auto* relation = scope.arena().make<BoundRelation>();
  relation->kind = kind;
  relation->alias = scope.arena().copy_string(alias != nullptr ? alias->name : name);
  if (alias != nullptr) {
    relation->alias_is_written = true;
    relation->written_columns = static_cast<int32_t>(alias->columns.size());
  }
  scope.relations.push_back(relation);
  return relation;
}

// The columns under the names that an alias gives them; those beyond its list keep their own.
std::span<const BoundColumn> rename_columns(Scope& scope, std::span<const BoundColumn> columns,
                                            const ast::Alias* alias, std::string_view table) {
  if (alias == nullptr || alias->columns.empty()) return columns;
  std::span<BoundColumn> renamed = scope.arena().copy_span(columns);
  size_t next = 0;
  for (BoundColumn& column : renamed) {
    if (column.type != invalid_oid && next < alias->columns.size()) {
      column.name = scope.arena().copy_string(alias->columns[next++]);
    }
  }
  if (next < alias->columns.size()) {
    throw SqlError(sqlstate::invalid_column_reference,
                   concat("table \"", table, "\" has ", next, " columns available but ",
                          alias->columns.size(), " columns specified"));
  }
  return renamed;
}

const BoundExpression* column_value(Scope& scope, int32_t number, size_t at) {
  const BoundRelation& relation = *scope.relations[number];
  // docs/statistics.md
  bool may_be_told = relation.table != nullptr && relation.table->is_system();
  const BuiltinProcedure* tells =
      may_be_told ? telling_procedure(relation.table->oid, at) : nullptr;
  if (tells != nullptr) at = 0;
  const BoundColumn& column = relation.columns[at];
  const BoundExpression* value =
      make_column(scope.arena(), number, static_cast<int32_t>(at), column.type, column.typmod);
  if (tells == nullptr) return value;
  const BoundExpression* oid[] = {value};
  return make_call(scope.arena(), *tells, tells->result, scope.arena().copy_span(oid), -1);
}

ScopeItem item_for(Scope& scope, int32_t number) {
  const BoundRelation& relation = *scope.relations[number];
  ScopeItem item;
  item.name = relation.alias;
  item.table = relation.table;
  item.relation = number;
  for (size_t i = 0; i < relation.columns.size(); ++i) {
    const BoundColumn& column = relation.columns[i];
    ScopeColumn named{column.name, nullptr};
    if (column.type != invalid_oid) named.expression = column_value(scope, number, i);
    item.columns.push_back(named);
  }
  return item;
}

const FromItem* relation_item(Scope& scope, Items& items) {
  int32_t number = static_cast<int32_t>(scope.relations.size()) - 1;
  items.push_back(item_for(scope, number));
  auto* item = scope.arena().make<FromItem>();
  item->relation = number;
  return item;
}

const FromItem* bind_cte_reference(Scope& scope, const ast::RangeVar& name, FoundCte found,
                                   Items& items) {
  bool is_itself = found.cte->query == nullptr && !bind_pending_cte(scope, found);
  if (is_itself) {
    refer_to_itself(scope, found, name.location);
  } else {
    refer_to_changing(scope, found, name.location);
    ++found.cte->references;
  }
  BoundRelation* relation = add_relation(scope, is_itself ? RangeKind::work_table : RangeKind::cte,
                                         name.alias, name.name);
  relation->cte = found.cte;
  relation->cte_levels_up = found.levels_up;
  relation->columns = rename_columns(scope, found.cte->columns, name.alias, relation->alias);
  return relation_item(scope, items);
}

const FromItem* bind_view(Scope& scope, const ast::RangeVar& name, const TableDescriptor& view,
                          Items& items) {
  const BoundQuery* query =
      scope.binding.keeps_views ? nullptr : bind_view_query(scope.binding, view);
  BoundRelation* relation = add_relation(scope, RangeKind::subquery, name.alias, name.name);
  relation->view = &view;
  relation->query = query;
  relation->columns =
      rename_columns(scope, table_columns(scope.arena(), view), name.alias, relation->alias);
  const FromItem* item = relation_item(scope, items);
  items.back().table = &view;  // a schema may stand before its name
  return item;
}

const FromItem* bind_table(Scope& scope, const ast::RangeVar& name, Items& items) {
  if (name.schema_name.empty()) {
    FoundCte found = find_cte(scope, name.name);
    if (found.cte != nullptr) return bind_cte_reference(scope, name, found, items);
  }
  const TableDescriptor& table = find_table(scope.binding, name);
  if (table.kind == RelationKind::view) return bind_view(scope, name, table, items);
  BoundRelation* relation = add_relation(scope, RangeKind::table, name.alias, name.name);
  relation->table = &table;
  relation->index_keys = bind_index_keys(scope.binding, table);
  relation->columns =
      rename_columns(scope, table_columns(scope.arena(), table), name.alias, relation->alias);
  return relation_item(scope, items);
}

const FromItem* bind_subselect(Scope& scope, const ast::RangeSubselect& node, Items& items) {
  bool lateral_before = scope.lateral_active;
  scope.lateral_active = node.lateral;
  BoundQuery* query = nullptr;
  {
    PlaceGuard place(scope, ExpressionPlace::from_subselect);
    query = bind_query(scope.binding, *node.select, &scope);
  }
  scope.lateral_active = lateral_before;
  BoundRelation* relation = add_relation(scope, RangeKind::subquery, node.alias, {});
  relation->query = query;
  relation->lateral = node.lateral;
  relation->columns =
      rename_columns(scope, columns_of(scope.arena(), *query), node.alias, relation->alias);
  return relation_item(scope, items);
}

std::span<const BuiltinRowColumn> row_columns_of(const BoundExpression& expression) {
  const auto* call = try_as<CallExpression>(&expression);
  return call == nullptr ? std::span<const BuiltinRowColumn>() : row_columns(call->procedure);
}

const BoundExpression* bind_from_call(Scope& scope, const ast::RangeFunctionItem& item,
                                      bool& returns_set) {
  const BoundExpression* call = resolve_unknown(
      scope.binding, bind_expression(scope, item.call, ExpressionPlace::from_function));
  auto* set = try_as<SetReturningExpression>(call);
  returns_set = set != nullptr;
  if (returns_set) call = set->call;
  const BoundExpression* nested = nullptr;
  contains(*call, [&](const BoundExpression& e) {
    if (e.kind == ExpressionKind::set_returning) nested = &e;
    return nested != nullptr;
  });
  if (nested != nullptr) {
    throw SqlError(sqlstate::feature_not_supported,
                   "set-returning functions must appear at top level of FROM")
        .at(scope.position(nested->location));
  }
  bool knows_columns = call->type != type_oid::record || !row_columns_of(*call).empty();
  if (!knows_columns || !item.column_defs.empty()) {
    throw_unsupported(UnsupportedFeature::column_definition_list, scope.position(call->location));
  }
  return call;
}

// The columns that one function contributes.
void add_call_columns(Scope& scope, const BoundExpression& call, std::string_view name,
                      std::vector<BoundColumn>& columns) {
  for (const BuiltinRowColumn& column : row_columns_of(call))
    columns.push_back({column.name, column.type, no_typmod});
  if (call.type != type_oid::record)
    columns.push_back({scope.arena().copy_string(name), call.type, call.typmod});
}

// What FROM names, but that unnest(a, b, ...) stands for ROWS FROM (unnest(a), unnest(b), ...), as
// in PostgreSQL: by its name alone.
std::vector<ast::RangeFunctionItem> functions_of(Arena& arena, const ast::RangeFunction& node) {
  std::vector<ast::RangeFunctionItem> functions;
  for (const ast::RangeFunctionItem& item : node.functions) {
    const auto* call = ast::try_as<ast::FuncCall>(item.call);
    bool is_plain = call != nullptr && call->order_by.empty() && call->filter == nullptr &&
                    call->over == nullptr && !call->within_group && !call->star &&
                    !call->distinct && !call->variadic && item.column_defs.empty();
    if (!is_plain || call->arguments.size() < 2 || call->name.size() != 1 ||
        call->name.front() != "unnest") {
      functions.push_back(item);
      continue;
    }
    for (size_t i = 0; i < call->arguments.size(); ++i) {
      auto* single = arena.make<ast::FuncCall>(*call);
      single->arguments = call->arguments.subspan(i, 1);
      functions.push_back({single, {}});
    }
  }
  return functions;
}

const FromItem* bind_function(Scope& scope, const ast::RangeFunction& node, Items& items) {
  if (!node.column_defs.empty()) {
    throw_unsupported(UnsupportedFeature::column_definition_list, scope.position(node.location));
  }
  bool lateral_before = scope.lateral_active;
  scope.lateral_active = true;  // a function's arguments may always refer to the left
  Arena& arena = scope.arena();
  std::vector<ast::RangeFunctionItem> functions = functions_of(arena, node);
  size_t count = functions.size();
  std::span<const BoundExpression*> calls = arena.make_span<const BoundExpression*>(count);
  std::span<bool> returns_set = arena.make_span<bool>(count);
  std::vector<BoundColumn> columns;
  std::string_view function_name = figure_column_name(functions.front().call);
  for (size_t i = 0; i < count; ++i) {
    calls[i] = bind_from_call(scope, functions[i], returns_set[i]);
    std::string_view name = figure_column_name(functions[i].call);
    // The only column of a function is named by the alias.
    if (count == 1 && node.alias != nullptr) name = node.alias->name;
    add_call_columns(scope, *calls[i], name, columns);
  }
  scope.lateral_active = lateral_before;
  if (node.with_ordinality) columns.push_back({"ordinality", type_oid::int8, no_typmod});
  BoundRelation* relation = add_relation(scope, RangeKind::function, node.alias, function_name);
  relation->calls = calls;
  relation->returns_set = returns_set;
  relation->with_ordinality = node.with_ordinality;
  relation->lateral = true;
  relation->function_name = arena.copy_string(function_name);
  relation->columns = rename_columns(scope, arena.copy_span(columns), node.alias, relation->alias);
  return relation_item(scope, items);
}

void check_conflicts(const Items& left, const Items& right) {
  for (const ScopeItem& a : left) {
    for (const ScopeItem& b : right) {
      if (!a.name_visible || !b.name_visible || a.name.empty() || a.name != b.name) continue;
      // Two tables of one name in different schemas can be told apart.
      if (a.table != nullptr && b.table != nullptr && a.table != b.table &&
          a.table->name == a.name && b.table->name == b.name) {
        continue;
      }
      throw SqlError(sqlstate::duplicate_alias,
                     concat("table name \"", a.name, "\" specified more than once"));
    }
  }
}

const FromItem* bind_item(Scope& scope, const ast::Node* node, Items& items);

// The left side's names are in sight of the right side for LATERAL only, and not at all where the
// join would null-extend them.
const FromItem* bind_right_side(Scope& scope, const ast::JoinExpr& join, const Items& left,
                                Items& right) {
  size_t before = scope.items.size();
  bool lateral_ok = join.join_kind == ast::JoinKind::inner || join.join_kind == ast::JoinKind::left;
  for (ScopeItem item : left) {
    item.lateral_only = true;
    item.lateral_ok = lateral_ok;
    scope.items.push_back(std::move(item));
  }
  const FromItem* bound = bind_item(scope, join.right, right);
  scope.items.resize(before);
  return bound;
}

JoinType join_type_of(ast::JoinKind kind) {
  switch (kind) {
    case ast::JoinKind::inner:
      return JoinType::inner;
    case ast::JoinKind::left:
      return JoinType::left;
    case ast::JoinKind::full:
      return JoinType::full;
    case ast::JoinKind::right:
      return JoinType::right;
  }
  return JoinType::inner;
}

// ON sees the two sides and nothing else of this FROM.
const BoundExpression* bind_on(Scope& scope, const ast::JoinExpr& join, const Items& left,
                               const Items& right) {
  Items outer = std::move(scope.items);
  scope.items = left;
  scope.items.insert(scope.items.end(), right.begin(), right.end());
  const BoundExpression* condition =
      bind_condition(scope, join.condition, ExpressionPlace::join_on, "JOIN/ON");
  scope.items = std::move(outer);
  return condition;
}

void rename_join(Scope& scope, const ast::Alias& alias, ScopeItem& join) {
  join.name = scope.arena().copy_string(alias.name);
  if (alias.columns.size() > join.columns.size()) {
    throw SqlError(sqlstate::syntax_error,
                   concat("column alias list for \"", alias.name, "\" has too many entries"));
  }
  for (size_t i = 0; i < alias.columns.size(); ++i)
    join.columns[i].name = scope.arena().copy_string(alias.columns[i]);
}

std::span<const JoinOutput> join_outputs(Arena& arena, const std::vector<ScopeColumn>& columns) {
  std::span<JoinOutput> outputs = arena.make_span<JoinOutput>(columns.size());
  for (size_t i = 0; i < columns.size(); ++i) outputs[i] = {columns[i].name, columns[i].expression};
  return outputs;
}

// Of the side that a join of that kind, or FULL, extends with NULLs.
RecursionBarrier barrier_of(ast::JoinKind kind, ast::JoinKind extends) {
  bool is_extended = kind == extends || kind == ast::JoinKind::full;
  return is_extended ? RecursionBarrier::outer_join : RecursionBarrier::none;
}

const FromItem* bind_join(Scope& scope, const ast::JoinExpr& join, Items& items) {
  Items left;
  Items right;
  auto* item = scope.arena().make<FromItem>();
  item->join_type = join_type_of(join.join_kind);
  {
    BarrierGuard guard(scope, barrier_of(join.join_kind, ast::JoinKind::right));
    item->left = bind_item(scope, join.left, left);
  }
  {
    BarrierGuard guard(scope, barrier_of(join.join_kind, ast::JoinKind::left));
    item->right = bind_right_side(scope, join, left, right);
  }
  check_conflicts(left, right);
  JoinColumns columns = join_columns(scope, join, left, right);
  item->condition = columns.condition;
  item->using_columns = columns.merged;
  if (join.condition != nullptr) item->condition = bind_on(scope, join, left, right);

  ScopeItem whole;
  whole.columns = std::move(columns.columns);
  if (join.alias != nullptr) rename_join(scope, *join.alias, whole);
  if (join.alias != nullptr || columns.merged > 0)
    item->outputs = join_outputs(scope.arena(), whole.columns);
  item->alias = whole.name;
  item->using_alias = scope.arena().copy_string(join.using_alias);
  if (join.alias != nullptr) {
    items.push_back(std::move(whole));
    return item;
  }
  // The sides keep their names; unqualified columns are the join's.
  whole.name_visible = false;
  for (Items* side : {&left, &right}) {
    for (ScopeItem& inner : *side) {
      inner.columns_visible = false;
      items.push_back(std::move(inner));
    }
  }
  if (!join.using_alias.empty()) {
    ScopeItem merged;
    merged.name = scope.arena().copy_string(join.using_alias);
    merged.columns_visible = false;
    merged.columns.assign(whole.columns.begin(), whole.columns.begin() + join.using_columns.size());
    items.push_back(std::move(merged));
  }
  items.push_back(std::move(whole));
  return item;
}

const FromItem* bind_item(Scope& scope, const ast::Node* node, Items& items) {
  DepthGuard depth(scope.binding);
  switch (node->kind) {
    case ast::NodeKind::range_var:
      return bind_table(scope, *ast::as<ast::RangeVar>(node), items);
    case ast::NodeKind::range_subselect:
      return bind_subselect(scope, *ast::as<ast::RangeSubselect>(node), items);
    case ast::NodeKind::range_function:
      return bind_function(scope, *ast::as<ast::RangeFunction>(node), items);
    case ast::NodeKind::join_expr:
      return bind_join(scope, *ast::as<ast::JoinExpr>(node), items);
    default:
      break;
  }
  throw SqlError(sqlstate::internal_error,
                 concat("unrecognized node type: ", static_cast<int>(node->kind)));
}

}  // namespace

std::span<BoundColumn> table_columns(Arena& arena, const TableDescriptor& table) {
  std::span<BoundColumn> columns = arena.make_span<BoundColumn>(table.columns.size());
  for (size_t i = 0; i < columns.size(); ++i) {
    const ColumnDescriptor& column = table.columns[i];
    if (!column.dropped) columns[i] = {column.name, column.type, column.typmod};
  }
  return columns;
}

const TableDescriptor& find_table(StatementBinding& binding, const ast::RangeVar& name) {
  try {
    const auto [table, index] = find_relation(binding.catalog, binding.database_name, name);
    if (index != nullptr) {
      throw SqlError(sqlstate::wrong_object_type,
                     concat("cannot open relation \"", name.name, "\""))
          .detail("This operation is not supported for indexes.");
    }
    if (table == nullptr) throw undefined_relation(name);
    require_own_rows(binding.catalog, *table);
    binding.use_table(table);
    return *table;
  } catch (SqlError& error) {
    // Only for errors: a text may have many statements before this one.
    error.amend().position = binding.position(name.location);
    throw;
  }
}

int32_t add_table(Scope& scope, const ast::RangeVar& name, const TableDescriptor* table) {
  BoundRelation* relation = add_relation(scope, RangeKind::table, name.alias, name.name);
  relation->table = table;
  relation->index_keys = bind_index_keys(scope.binding, *table);
  relation->columns =
      rename_columns(scope, table_columns(scope.arena(), *table), name.alias, relation->alias);
  int32_t number = static_cast<int32_t>(scope.relations.size()) - 1;
  scope.items.push_back(item_for(scope, number));
  return number;
}

std::span<const FromItem*> bind_from(Scope& scope, ast::NodeList from) {
  std::vector<const FromItem*> shape;
  for (const ast::Node* node : from) {
    Items items;
    shape.push_back(bind_item(scope, node, items));
    check_conflicts(scope.items, items);
    for (ScopeItem& item : items) {
      item.lateral_only = true;
      item.lateral_ok = true;
      scope.items.push_back(std::move(item));
    }
  }
  for (ScopeItem& item : scope.items) item.lateral_only = false;
  return scope.arena().copy_span(shape);
}

}  // namespace pgsilo
