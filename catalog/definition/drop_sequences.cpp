// DROP SEQUENCE.
#include <algorithm>

#include "catalog/definition/definition_steps.h"
#include "sql/sql_error.h"
#include "sql/types/text.h"

namespace pgsilo {

namespace {

bool contains(std::span<const Oid> oids, Oid oid) {
  return std::find(oids.begin(), oids.end(), oid) != oids.end();
}

}  // namespace

void DefinitionSteps::drop_sequences(std::span<const DataDefinition::ObjectName> names,
                                     bool if_exists, bool cascade) {
  Dropped dropped;
  for (const DataDefinition::ObjectName& name : names) {
    if (skip_missing_schema(name.schema, if_exists)) continue;
    if (const TableDescriptor* found = find_to_drop(RelationKind::sequence, name, if_exists)) {
      if (!contains(dropped.sequences, found->oid)) dropped.sequences.push_back(found->oid);
    }
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

void DefinitionSteps::remove_sequence(Oid oid) {
  const TableDescriptor& sequence = lock_table(oid);
  remove_owner_row(sequence);
  remove_row(system_oid::pg_sequence, {oid});
  for (const ColumnDescriptor& column : sequence.columns)
    remove_row(system_oid::pg_attribute, {oid, column.number});
  remove_row(system_oid::pg_class, {oid});
  remove_comments({system_oid::pg_class, oid});
  discard_relation(sequence.relation_id, sequence.relation);
  view_.remove_table(oid);
}

}  // namespace pgsilo
