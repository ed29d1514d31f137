// Views: their queries as SQL, and whether rows can be changed through them.
#include "base/byte_buffer.h"
#include "base/large_stack.h"
#include "catalog/catalog_snapshot.h"
#include "catalog/catalog_view.h"
#include "executor/catalog_binding.h"
#include "executor/functions/function.h"
#include "planner/binder/modification_target.h"
#include "planner/binder/query_binder.h"
#include "planner/explain/deparse_query.h"
#include "sql/types/text.h"
#include "sql/types/type.h"

namespace pgsilo::functions {
namespace {

// pg_relation_is_updatable(): 1 << CmdType.
constexpr int32_t can_update = 1 << 2;
constexpr int32_t can_insert = 1 << 3;
constexpr int32_t can_delete = 1 << 4;
constexpr int32_t can_all = can_update | can_insert | can_delete;

const TableDescriptor* relation_of(EvalContext& context, const Datum& oid) {
  return context.execution->told_catalog().find_table(static_cast<Oid>(oid.i64));
}

Datum copied(EvalContext& context, std::string_view text) {
  return Datum::of_bytes(context.arena->copy_string(text));
}

struct Style {
  bool pretty = false;
  int wrap_column = line_per_column;
};

std::string query_text(EvalContext& context, const TableDescriptor& view, Style style) {
  return run_on_large_stack([&] {
    CatalogBinding bound(*context.execution, *context.types);
    bound.binding().keeps_views = true;
    const BoundQuery& query = *bind_view_query(bound.binding(), view);
    std::vector<std::string_view> names;
    names.reserve(view.columns.size());
    for (const ColumnDescriptor& column : view.columns) names.push_back(column.name);
    DeparseContext deparse;
    deparse.types = &bound.types();
    deparse.pretty = style.pretty;
    deparse.definition = true;
    return deparse_query(deparse, query, names, style.wrap_column);
  });
}

// Null: it is no view.
Datum view_text(EvalContext& context, const Datum& oid, Style style) {
  const TableDescriptor* view = relation_of(context, oid);
  if (view == nullptr || view->kind != RelationKind::view) return Datum();
  return copied(context, query_text(context, *view, style));
}

Datum named_relation(EvalContext& context, const Datum& name) {
  return type_info(type_oid::regclass).parse(name.bytes(), no_typmod, *context.types);
}

Datum definition(EvalContext& context, const Datum* a) { return view_text(context, a[0], {}); }
Datum pretty_definition(EvalContext& context, const Datum* a) {
  return view_text(context, a[0], {.pretty = a[1].as_bool()});
}
Datum wrapped_definition(EvalContext& context, const Datum* a) {
  return view_text(context, a[0], {.pretty = true, .wrap_column = static_cast<int>(a[1].i64)});
}
Datum definition_by_name(EvalContext& context, const Datum* a) {
  return view_text(context, named_relation(context, a[0]), {});
}
Datum pretty_definition_by_name(EvalContext& context, const Datum* a) {
  return view_text(context, named_relation(context, a[0]), {.pretty = a[1].as_bool()});
}

Datum rule_text(EvalContext& context, const Datum& oid, bool pretty) {
  for (const auto& [view_oid, view] : context.execution->told_catalog().snapshot().tables()) {
    if (view->view == nullptr || view->view->rule != static_cast<Oid>(oid.i64)) continue;
    ByteBuffer name;
    type_info(type_oid::regclass).print(Datum::of_int(view_oid), name, *context.types);
    std::string shown(name.view());
    if (!pretty) {
      shown = concat(quote_identifier(view->schema_name, *context.arena), ".",
                     quote_identifier(view->name, *context.arena));
    }
    return copied(context, concat("CREATE RULE \"_RETURN\" AS\n    ON SELECT TO ", shown,
                                  " DO INSTEAD ", query_text(context, *view, {.pretty = pretty})));
  }
  return Datum();
}
Datum rule_definition(EvalContext& context, const Datum* a) {
  return rule_text(context, a[0], false);
}
Datum pretty_rule_definition(EvalContext& context, const Datum* a) {
  return rule_text(context, a[0], a[1].as_bool());
}

// `column`: only of that one (0-based); -1: of any.
int32_t updatable(StatementBinding& binding, const TableDescriptor& relation, int32_t column) {
  if (relation.kind == RelationKind::table) return relation.is_system() ? 0 : can_all;
  if (relation.kind != RelationKind::view || relation.is_system()) return 0;
  const BoundQuery& query = *bind_view_query(binding, relation);
  if (!why_not_updatable(query).empty()) return 0;
  const BoundRelation& base = *query.relations[0];
  int32_t of_base = -1;
  bool shows_column = false;
  for (int32_t i = 0; i < query.visible_targets; ++i) {
    const BoundExpression* shown = query.targets[static_cast<size_t>(i)].expression;
    if (!is_base_column(shown) || (column >= 0 && i != column)) continue;
    shows_column = true;
    if (column >= 0) of_base = as<ColumnExpression>(shown)->column;
  }
  int32_t own = shows_column ? can_all : can_delete;
  return own & updatable(binding, base.view != nullptr ? *base.view : *base.table, of_base);
}

int32_t updatable(EvalContext& context, const Datum& oid, int32_t column) {
  const TableDescriptor* relation = relation_of(context, oid);
  if (relation == nullptr) return 0;
  return run_on_large_stack([&] {
    CatalogBinding bound(*context.execution, *context.types);
    bound.binding().keeps_views = true;
    return updatable(bound.binding(), *relation, column);
  });
}

Datum relation_is_updatable(EvalContext& context, const Datum* a) {
  return Datum::of_int(updatable(context, a[0], -1));
}
// As the standard has it: also to be deleted.
Datum column_is_updatable(EvalContext& context, const Datum* a) {
  auto number = static_cast<int32_t>(a[1].i64);
  constexpr int32_t needed = can_update | can_delete;
  return Datum::of_bool(number > 0 && (updatable(context, a[0], number - 1) & needed) == needed);
}

constexpr FunctionEntry entries[] = {
    {1573, rule_definition},        {1640, definition_by_name},        {1641, definition},
    {2504, pretty_rule_definition}, {2505, pretty_definition_by_name}, {2506, pretty_definition},
    {3159, wrapped_definition},     {3842, relation_is_updatable},     {3843, column_is_updatable},
};

}  // namespace

std::span<const FunctionEntry> view() { return entries; }

}  // namespace pgsilo::functions
