// What the catalog keeps, as PostgreSQL shows it: expressions (defaults, checks), indexes and
// constraints as SQL.
#include "base/byte_buffer.h"
#include "base/large_stack.h"
#include "catalog/catalog_snapshot.h"
#include "catalog/catalog_view.h"
#include "executor/catalog_binding.h"
#include "executor/catalog_names.h"
#include "executor/constraint/index_keys.h"
#include "executor/ddl/table_definition.h"
#include "executor/functions/function.h"
#include "planner/bound/make_expression.h"
#include "planner/stored/stored_tree.h"
#include "sql/types/text.h"
#include "sql/types/type.h"

namespace pgsilo::functions {
namespace {

std::string shown_tree(EvalContext& context, const TableDescriptor* table,
                       const StoredExpression& stored, bool pretty) {
  CatalogBinding bound(*context.execution, *context.types);
  StatementBinding& binding = bound.binding();
  if (table != nullptr) {
    TableShape shape = TableShape::of(*table);
    return definition_text(bound.types(), *read_over(binding, shape, stored), &shape, pretty);
  }
  // A domain's checks read its value, others nothing.
  TableShape value = TableShape::of_value(invalid_oid, no_typmod);
  const BoundExpression* expression =
      read_expression(binding, stored, [&](int16_t number, Oid type, int32_t typmod) {
        require_column(number, 1);
        auto* slot = make_expression<SlotExpression>(binding.arena, type);
        slot->typmod = typmod;
        return slot;
      });
  return definition_text(bound.types(), *expression, &value, pretty);
}

std::string shown_expression(EvalContext& context, const TableDescriptor* table,
                             const StoredExpression& stored, bool pretty) {
  if (stored.is_sql()) return stored.text;
  return run_on_large_stack([&] { return shown_tree(context, table, stored, pretty); });
}

Datum copied(EvalContext& context, std::string_view text) {
  return Datum::of_bytes(context.arena->copy_string(text));
}

// pg_get_expr(): null where there is no such table (any more); 0 is for expressions without
// columns.
Datum expression_text(EvalContext& context, const Datum* a, bool pretty) {
  auto oid = static_cast<Oid>(a[1].i64);
  const TableDescriptor* table = context.execution->told_catalog().find_table(oid);
  if (table == nullptr && oid != invalid_oid) return Datum();
  std::vector<StoredExpression> parts;
  if (a[0].bytes().starts_with("{1 ")) {
    parts = StoredExpression::read_list(a[0].bytes());  // of an index, one for each it computes
  } else {
    parts.push_back(StoredExpression::read(a[0].bytes()));
  }
  std::string text;
  for (const StoredExpression& part : parts)
    text += concat(text.empty() ? "" : ", ", shown_expression(context, table, part, pretty));
  return copied(context, text);
}
Datum expression(EvalContext& context, const Datum* a) {
  return expression_text(context, a, false);
}
Datum pretty_expression(EvalContext& context, const Datum* a) {
  return expression_text(context, a, a[2].as_bool());
}

std::string quoted(EvalContext& context, std::string_view name) {
  return std::string(quote_identifier(name, *context.arena));
}

// With its schema where the search path does not find it.
std::string relation_name(EvalContext& context, Oid oid) {
  ByteBuffer name;
  type_info(type_oid::regclass).print(Datum::of_int(oid), name, *context.types);
  return std::string(name.view());
}

std::string column_list(EvalContext& context, const TableDescriptor& table,
                        std::span<const int16_t> numbers) {
  std::string text = "(";
  for (int16_t number : numbers) {
    text += concat(text.size() > 1 ? ", " : "",
                   quoted(context, table.columns[static_cast<size_t>(number) - 1].name));
  }
  return text + ")";
}

// A column of an index, as it was defined.
std::string index_key(EvalContext& context, const TableDescriptor& table,
                      const IndexDescriptor& index, size_t position, bool pretty) {
  if (int16_t number = index.columns[position].number; number != 0)
    return quoted(context, table.columns[static_cast<size_t>(number) - 1].name);
  const StoredExpression& stored = index.expression_of(position)->value;
  return run_on_large_stack([&] {
    CatalogBinding bound(*context.execution, *context.types);
    TableShape shape = TableShape::of(table);
    return index_key_text(bound.types(), *read_over(bound.binding(), shape, stored), shape, pretty);
  });
}

std::string index_columns(EvalContext& context, const TableDescriptor& table,
                          const IndexDescriptor& index, bool pretty) {
  std::string text;
  for (size_t i = 0; i < index.columns.size(); ++i) {
    const IndexColumn& column = index.columns[i];
    text += concat(text.empty() ? "" : ", ", index_key(context, table, index, i, pretty));
    if (column.descending) text += " DESC";
    if (column.nulls_first != column.descending)
      text += column.nulls_first ? " NULLS FIRST" : " NULLS LAST";
  }
  return text;
}

// fillfactor='70'
std::string option_list(EvalContext& context, std::span<const std::string> options) {
  std::string text;
  for (std::string_view option : options) {
    size_t equals = std::min(option.find('='), option.size());
    std::string_view value = option.substr(std::min(equals + 1, option.size()));
    text += concat(text.empty() ? "" : ", ", quoted(context, option.substr(0, equals)), "=",
                   quote_literal(value, *context.arena));
  }
  return text;
}

// `column`: 0 for the whole statement, else that column of the index alone.
Datum index_text(EvalContext& context, Oid oid, int64_t column, bool pretty) {
  const TableDescriptor* table = nullptr;
  const IndexDescriptor* index =
      context.execution->told_catalog().snapshot().find_index(oid, &table);
  if (index == nullptr) return Datum();
  if (column != 0) {
    if (column < 0 || column > static_cast<int64_t>(index->columns.size()))
      return Datum::of_bytes("");
    return copied(context,
                  index_key(context, *table, *index, static_cast<size_t>(column) - 1, pretty));
  }
  std::string text = concat(
      "CREATE ", index->unique ? "UNIQUE " : "", "INDEX ", quoted(context, index->name), " ON ",
      pretty ? relation_name(context, table->oid) : qualified_name(table->schema_name, table->name),
      " USING btree (", index_columns(context, *table, *index, pretty), ")");
  if (index->nulls_not_distinct) text += " NULLS NOT DISTINCT";
  if (!index->options.empty()) text += concat(" WITH (", option_list(context, index->options), ")");
  if (index->is_partial())
    text += concat(" WHERE ", shown_expression(context, table, index->predicate, pretty));
  return copied(context, text);
}
Datum index_definition(EvalContext& context, const Datum* a) {
  return index_text(context, static_cast<Oid>(a[0].i64), 0, false);
}
Datum index_part(EvalContext& context, const Datum* a) {
  return index_text(context, static_cast<Oid>(a[0].i64), a[1].i64, a[2].as_bool());
}

std::string_view action_text(ReferentialAction action) {
  switch (action) {
    case ReferentialAction::no_action:
      return {};
    case ReferentialAction::restrict:
      return "RESTRICT";
    case ReferentialAction::cascade:
      return "CASCADE";
    case ReferentialAction::set_null:
      return "SET NULL";
    case ReferentialAction::set_default:
      return "SET DEFAULT";
  }
  return {};
}

std::string foreign_key_text(EvalContext& context, const TableDescriptor& table,
                             const ConstraintDescriptor& constraint) {
  const ForeignKeyDescriptor& key = *constraint.foreign_key;
  const TableDescriptor* referenced =
      context.execution->told_catalog().find_table(key.referenced_table);
  std::string text = concat("FOREIGN KEY ", column_list(context, table, constraint.columns),
                            " REFERENCES ", relation_name(context, key.referenced_table));
  if (referenced != nullptr) text += column_list(context, *referenced, key.referenced_columns);
  if (key.match == ReferentialMatch::full) text += " MATCH FULL";
  if (key.on_update != ReferentialAction::no_action)
    text += concat(" ON UPDATE ", action_text(key.on_update));
  if (key.on_delete != ReferentialAction::no_action)
    text += concat(" ON DELETE ", action_text(key.on_delete));
  if (!key.on_delete_columns.empty())
    text += concat(" ", column_list(context, table, key.on_delete_columns));
  return text;
}

std::string constraint_text(EvalContext& context, const TableDescriptor& table,
                            const ConstraintDescriptor& constraint, bool pretty) {
  switch (constraint.type) {
    case ConstraintType::check:
      return concat("CHECK (", shown_expression(context, &table, constraint.check, pretty), ")");
    case ConstraintType::foreign_key:
      return foreign_key_text(context, table, constraint);
    case ConstraintType::primary_key:
      return concat("PRIMARY KEY ", column_list(context, table, constraint.columns));
    case ConstraintType::unique: {
      const IndexDescriptor* index = table.find_index(constraint.index);
      bool nulls_are_equal = index != nullptr && index->nulls_not_distinct;
      return concat("UNIQUE ", nulls_are_equal ? "NULLS NOT DISTINCT " : "",
                    column_list(context, table, constraint.columns));
    }
  }
  return {};
}

Datum domain_constraint_definition(EvalContext& context, Oid oid, bool pretty) {
  const DomainConstraint* found = nullptr;
  context.execution->told_catalog().snapshot().for_each_object([&](const auto& object) {
    if (object->address.catalog != system_oid::pg_type) return;
    const auto& type = static_cast<const TypeDescriptor&>(*object);
    if (type.domain == nullptr) return;
    for (const DomainConstraint& each : type.domain->constraints) {
      if (each.oid == oid) found = &each;
    }
  });
  if (found == nullptr) return Datum();
  return copied(context, concat("CHECK (", shown_expression(context, nullptr, found->check, pretty),
                                ")", found->validated ? "" : " NOT VALID"));
}

Datum constraint_definition(EvalContext& context, Oid oid, bool pretty) {
  for (const auto& [table_oid, table] : context.execution->told_catalog().snapshot().tables()) {
    const ConstraintDescriptor* constraint = table->find_constraint(oid);
    if (constraint == nullptr) continue;
    std::string text = constraint_text(context, *table, *constraint, pretty);
    if (constraint->deferrable) text += " DEFERRABLE";
    if (constraint->initially_deferred) text += " INITIALLY DEFERRED";
    if (!constraint->validated) text += " NOT VALID";
    return copied(context, text);
  }
  return domain_constraint_definition(context, oid, pretty);
}
Datum constraint_definition(EvalContext& context, const Datum* a) {
  return constraint_definition(context, static_cast<Oid>(a[0].i64), false);
}
Datum pretty_constraint_definition(EvalContext& context, const Datum* a) {
  return constraint_definition(context, static_cast<Oid>(a[0].i64), a[1].as_bool());
}

constexpr FunctionEntry entries[] = {
    {1387, constraint_definition},
    {1643, index_definition},
    {1716, expression},
    {2507, index_part},
    {2508, pretty_constraint_definition},
    {2509, pretty_expression},
};

}  // namespace

std::span<const FunctionEntry> definition_text() { return entries; }

}  // namespace pgsilo::functions
