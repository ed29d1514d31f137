// DROP SEQUENCE, and the sequences that go with their tables and columns.
#include <algorithm>

#include "catalog/definition/definition_steps.h"
#include "sql/sql_error.h"

namespace pgsilo {

namespace {

bool contains(std::span<const Oid> oids, Oid oid) {
  return std::find(oids.begin(), oids.end(), oid) != oids.end();
}

}  // namespace

std::string DefinitionSteps::shown_name(const TableDescriptor& relation) const {
  const TableDescriptor* found = view_.find_table({}, relation.name);
  bool is_visible = found != nullptr && found->oid == relation.oid;
  return is_visible ? relation.name : concat(relation.schema_name, ".", relation.name);
}

void DefinitionSteps::drop_sequences(std::span<const DataDefinition::ObjectName> names,
                                     bool if_exists, bool cascade) {
  Dropped dropped;
  for (const DataDefinition::ObjectName& name : names) {
    if (skip_missing_schema(name.schema, if_exists)) continue;
    const TableDescriptor* found = view_.find_table(name.schema, name.name);
    bool is_index = view_.find_index(name.schema, name.name) != nullptr;
    if (is_index || (found != nullptr && found->kind != RelationKind::sequence)) {
      throw SqlError(sqlstate::wrong_object_type, concat("\"", name.name, "\" is not a sequence"))
          .hint(is_index ? "Use DROP INDEX to remove an index."
                         : "Use DROP TABLE to remove a table.");
    }
    if (found != nullptr) {
      if (!contains(dropped.sequences, found->oid)) dropped.sequences.push_back(found->oid);
      continue;
    }
    if (!if_exists) {
      throw SqlError(sqlstate::undefined_table,
                     concat("sequence \"", name.name, "\" does not exist"));
    }
    notice(sqlstate::successful_completion,
           concat("sequence \"", name.name, "\" does not exist, skipping"));
  }
  for (Oid oid : dropped.sequences) {
    const TableDescriptor& sequence = table_of(oid);
    if (!sequence.sequence->is_identity) continue;
    const TableDescriptor& table = table_of(sequence.sequence->owner_table);
    std::string column = concat(
        "column ", table.columns[static_cast<size_t>(sequence.sequence->owner_column) - 1].name,
        " of table ", shown_name(table));
    throw SqlError(
        sqlstate::dependent_objects_still_exist,
        concat("cannot drop sequence ", shown_name(sequence), " because ", column, " requires it"))
        .hint(concat("You can drop ", column, " instead."));
  }
  if (dropped.sequences.size() == 1)
    dropped.what = concat("sequence ", shown_name(table_of(dropped.sequences[0])));
  drop(dropped, cascade);
}

void DefinitionSteps::drop_sequences_of(std::span<const Oid> tables, bool cascade) {
  Dropped dropped;
  dropped.tables.assign(tables.begin(), tables.end());
  if (tables.size() == 1) dropped.what = concat("table ", shown_name(table_of(tables[0])));
  for (Oid table : tables) {
    for (Oid sequence : owned_sequences(table)) dropped.sequences.push_back(sequence);
  }
  drop(dropped, cascade);
}

void DefinitionSteps::drop_sequences_of(const TableDescriptor& table,
                                        const ColumnDescriptor& column, bool cascade) {
  Dropped dropped;
  dropped.what = concat("column ", column.name, " of table ", shown_name(table));
  dropped.table = table.oid;
  dropped.column = column.number;
  dropped.sequences = owned_sequences(table.oid, column.number);
  drop(dropped, cascade);
}

std::vector<DefinitionSteps::DefaultUse> DefinitionSteps::remaining_uses(
    const Dropped& dropped) const {
  std::vector<DefaultUse> uses;
  for (const auto& [oid, table] : view_.snapshot().tables()) {
    if (contains(dropped.tables, oid)) continue;
    for (const ColumnDescriptor& column : table->columns) {
      if (oid == dropped.table && column.number == dropped.column) continue;
      for (Oid sequence : column.default_sequences) {
        if (!contains(dropped.sequences, sequence)) continue;
        uses.push_back({oid, column.number, sequence});
        break;
      }
    }
  }
  std::sort(uses.begin(), uses.end(), [](const DefaultUse& a, const DefaultUse& b) {
    return a.table != b.table ? a.table < b.table : a.column < b.column;
  });
  return uses;
}

void DefinitionSteps::drop(const Dropped& dropped, bool cascade) {
  if (dropped.sequences.empty()) return;
  std::vector<DefaultUse> uses = remaining_uses(dropped);
  auto column_of = [&](const DefaultUse& use) -> const ColumnDescriptor& {
    return table_of(use.table).columns[static_cast<size_t>(use.column) - 1];
  };
  std::string detail;
  for (const DefaultUse& use : uses) {
    std::string object = concat("default value for column ", column_of(use).name, " of table ",
                                shown_name(table_of(use.table)));
    if (!detail.empty()) detail += "\n";
    detail += cascade ? concat("drop cascades to ", object)
                      : concat(object, " depends on sequence ", shown_name(table_of(use.sequence)));
  }
  if (!uses.empty() && !cascade) {
    std::string what = dropped.what.empty() ? "desired object(s)" : dropped.what;
    std::string_view it = dropped.what.empty() ? "them" : "it";
    throw SqlError(sqlstate::dependent_objects_still_exist,
                   concat("cannot drop ", what, " because other objects depend on ", it))
        .detail(detail)
        .hint("Use DROP ... CASCADE to drop the dependent objects too.");
  }
  if (uses.size() == 1) notice(sqlstate::successful_completion, detail);
  if (uses.size() > 1) {
    notice(sqlstate::successful_completion,
           concat("drop cascades to ", uses.size(), " other objects"));
    definition_.notices_.back().detail = detail;
  }
  for (const DefaultUse& use : uses)
    set_default(use.table, std::string(column_of(use).name), {}, {});
  for (Oid sequence : dropped.sequences) remove_sequence(sequence);
}

void DefinitionSteps::remove_sequence(Oid oid) {
  const TableDescriptor& sequence = lock_table(oid);
  remove_owner_row(sequence);
  remove_row(system_oid::pg_sequence, {oid});
  for (const ColumnDescriptor& column : sequence.columns)
    remove_row(system_oid::pg_attribute, {oid, column.number});
  remove_row(system_oid::pg_class, {oid});
  discard_relation(sequence.relation_id, sequence.relation);
  view_.remove_table(oid);
}

}  // namespace pgsilo
