// What tools ask about objects of the catalog: whether their names are enough to find them, and how
// functions are called.
#include <algorithm>
#include <string>

#include "catalog/builtin/builtin.h"
#include "catalog/catalog_snapshot.h"
#include "catalog/catalog_view.h"
#include "executor/execution_context.h"
#include "executor/functions/function.h"
#include "sql/sql_error.h"
#include "sql/types/text.h"
#include "sql/types/type.h"
#include "sql/types/user_type.h"

namespace pgsilo::functions {
namespace {

Datum copied(EvalContext& context, std::string_view text) {
  return Datum::of_bytes(context.arena->copy_string(text));
}

// pg_catalog, where built-in types and functions are, is always searched.
Datum type_is_visible(EvalContext& context, const Datum* a) {
  auto oid = static_cast<Oid>(a[0].i64);
  const CatalogView& catalog = context.execution->told_catalog();
  if (std::shared_ptr<const UserType> made = share_user_type(oid)) {
    auto type = catalog.find_type(made->type().oid);
    if (type == nullptr) return Datum();
    return Datum::of_bool(catalog.find_type({}, type->name) == type);
  }
  if (find_type(oid) != nullptr) return Datum::of_bool(true);
  for (const auto& [table_oid, table] : catalog.snapshot().tables()) {
    if (table->row_type != oid && table->array_type != oid) continue;
    const TableDescriptor* found = catalog.find_table({}, table->name);
    return Datum::of_bool(found != nullptr && found->oid == table_oid);
  }
  return Datum();
}

Datum function_is_visible(EvalContext&, const Datum* a) {
  return find_procedure(static_cast<Oid>(a[0].i64)) != nullptr ? Datum::of_bool(true) : Datum();
}

// As in a definition: "VARIADIC \"any\"", "integer DEFAULT 0", "OUT pid integer".
Datum function_arguments(EvalContext& context, const Datum* a) {
  const BuiltinProcedure* procedure = find_procedure(static_cast<Oid>(a[0].i64));
  if (procedure == nullptr) return Datum();
  std::string text;
  for (size_t i = 0; i < procedure->argument_count; ++i) {
    if (i != 0) text += ", ";
    if (procedure->variadic != 0 && i + 1 == procedure->argument_count) text += "VARIADIC ";
    text += format_type(procedure->arguments[i]);
    std::string_view value = procedure_default_text(procedure->oid, i);
    if (!value.empty()) text += concat(" DEFAULT ", value);
  }
  for (const BuiltinRowColumn& column : row_columns(procedure->oid)) {
    text += concat(text.empty() ? "OUT " : ", OUT ", column.name, " ", format_type(column.type));
  }
  return copied(context, text);
}

Datum function_result(EvalContext& context, const Datum* a) {
  const BuiltinProcedure* procedure = find_procedure(static_cast<Oid>(a[0].i64));
  if (procedure == nullptr) return Datum();
  return copied(context,
                concat(procedure->returns_set ? "SETOF " : "", format_type(procedure->result)));
}

// What a publication could publish: permanent tables of the user's.
Datum relation_is_publishable(EvalContext& context, const Datum* a) {
  const TableDescriptor* table =
      context.execution->told_catalog().find_table(static_cast<Oid>(a[0].i64));
  if (table == nullptr) return Datum();
  return Datum::of_bool(table->kind == RelationKind::table && !table->is_system() &&
                        table->persistence == RelationPersistence::permanent);
}

// Where a tablespace's files are: those that every database has, are in its directory.
Datum tablespace_location(EvalContext&, const Datum*) { return Datum::of_bytes(""); }

std::string statistics_columns(EvalContext& context, const StatisticsDescriptor& statistics) {
  const TableDescriptor* table = context.execution->told_catalog().find_table(statistics.table);
  std::string text;
  for (int16_t number : statistics.columns) {
    const ColumnDescriptor& column = table->columns[static_cast<size_t>(number) - 1];
    text += concat(text.empty() ? "" : ", ", quote_identifier(column.name, *context.arena));
  }
  return text;
}

std::shared_ptr<const StatisticsDescriptor> find_statistics(EvalContext& context, const Datum* a) {
  return context.execution->told_catalog().snapshot().find<StatisticsDescriptor>(
      static_cast<Oid>(a[0].i64));
}

Datum statistics_definition_columns(EvalContext& context, const Datum* a) {
  auto found = find_statistics(context, a);
  return found == nullptr ? Datum() : copied(context, statistics_columns(context, *found));
}

Datum statistics_definition(EvalContext& context, const Datum* a) {
  auto found = find_statistics(context, a);
  if (found == nullptr) return Datum();
  const CatalogView& catalog = context.execution->told_catalog();
  const TableDescriptor* table = catalog.find_table(found->table);
  std::string kinds;
  auto add = [&](bool has, std::string_view name) {
    if (has) kinds += concat(kinds.empty() ? "" : ", ", name);
  };
  add(found->ndistinct, "ndistinct");
  add(found->dependencies, "dependencies");
  add(found->common, "mcv");
  bool has_all = found->ndistinct && found->dependencies && found->common;
  auto quoted = [&](std::string_view name) { return quote_identifier(name, *context.arena); };
  std::string schema = concat(quoted(table->schema_name), ".");
  bool is_visible = catalog.find_table({}, table->name) == table;
  return copied(context, concat("CREATE STATISTICS ", schema, quoted(found->name),
                                has_all ? "" : concat(" (", kinds, ")"), " ON ",
                                statistics_columns(context, *found), " FROM ",
                                is_visible ? "" : schema, quoted(table->name)));
}

Datum statistics_is_visible(EvalContext& context, const Datum* a) {
  auto found = find_statistics(context, a);
  if (found == nullptr) return Datum();
  const CatalogView& catalog = context.execution->told_catalog();
  for (Oid schema : catalog.name_path().schemas) {
    if (auto first = catalog.snapshot().find<StatisticsDescriptor>(schema, found->name))
      return Datum::of_bool(first == found);
  }
  return Datum::of_bool(false);
}

// Of objects that there are none of: triggers.
Datum definition_of_none(EvalContext&, const Datum*) { return Datum(); }

constexpr FunctionEntry entries[] = {
    {1662, definition_of_none},  // pg_get_triggerdef
    {2730, definition_of_none},  // and pretty
    {6174, statistics_definition_columns},
    {3415, statistics_definition},
    {3403, statistics_is_visible},
    {2080, type_is_visible},
    {2081, function_is_visible},
    {2162, function_arguments},
    {2165, function_result},
    {3778, tablespace_location},
    {6121, relation_is_publishable},
};

}  // namespace

std::span<const FunctionEntry> catalog_objects() { return entries; }

}  // namespace pgsilo::functions
