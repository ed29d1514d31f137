// The sequences of columns: serial and GENERATED AS IDENTITY.
#include <algorithm>

#include "catalog/definition/definition_steps.h"
#include "catalog/definition/object_names.h"
#include "sql/sql_error.h"

namespace pgsilo {

namespace {

SqlError wrong_state(const TableDescriptor& table, std::string_view column, std::string_view what) {
  return SqlError(sqlstate::object_not_in_prerequisite_state,
                  concat("column \"", column, "\" of relation \"", table.name, "\" ", what));
}

}  // namespace

void DefinitionSteps::add_column_sequence(const TableDescriptor& table, int16_t number,
                                          ColumnDefinition* definition) {
  const ColumnSequenceDefinition& from = *definition->sequence;
  SequenceDescriptor owned;
  owned.owner_table = table.oid;
  owned.owner_column = number;
  owned.is_identity = from.identity != IdentityKind::none;
  SequenceOptions options = from.options;
  if (!options.type) options.type = definition->type;
  std::string name = from.name;
  if (name.empty()) {
    name = choose_object_name(table.name, definition->name, "seq", [&](std::string_view candidate) {
      return candidate == table.name || name_taken(table.schema, candidate);
    });
  }
  check_name_free(table.schema, name);
  Oid sequence = add_sequence(*view_.snapshot().find_schema(table.schema), name, table.persistence,
                              options, std::move(owned));
  definition->not_null = true;
  if (from.identity != IdentityKind::none) {
    definition->identity_sequence = sequence;
  } else {
    definition->default_value = from.default_of(sequence);
  }
}

void DefinitionSteps::create_column_sequence(Oid oid, ColumnDefinition* definition) {
  const TableDescriptor& table = lock_table(oid);
  add_column_sequence(table, static_cast<int16_t>(table.columns.size() + 1), definition);
}

void DefinitionSteps::add_identity(Oid oid, std::string_view name,
                                   const ColumnSequenceDefinition& from) {
  const TableDescriptor& table = lock_table(oid);
  const ColumnDescriptor& column = column_of(table, name);
  if (!column.not_null) {
    throw wrong_state(table, name, "must be declared NOT NULL before identity can be added");
  }
  if (column.identity != IdentityKind::none)
    throw wrong_state(table, name, "is already an identity column");
  if (column.has_default()) throw wrong_state(table, name, "already has a default value");
  ColumnDefinition definition;
  definition.name = name;
  definition.type = column.type;
  definition.sequence = from;
  add_column_sequence(table, column.number, &definition);
  Draft draft = draft_of(table_of(oid));
  ColumnDescriptor& changed = column_of(draft, name);
  changed.identity = from.identity;
  changed.identity_sequence = definition.identity_sequence;
  writer_.update(rows_.attribute(*draft.table, changed));
  finish(std::move(draft));
}

void DefinitionSteps::set_identity(Oid oid, std::string_view name, IdentityKind kind,
                                   const SequenceOptions& options) {
  const TableDescriptor& table = lock_table(oid);
  const ColumnDescriptor& column = column_of(table, name);
  if (column.identity == IdentityKind::none)
    throw wrong_state(table, name, "is not an identity column");
  change_sequence(column.identity_sequence, options, true);
  if (kind == IdentityKind::none) return;
  Draft draft = draft_of(table_of(oid));
  ColumnDescriptor& changed = column_of(draft, name);
  changed.identity = kind;
  writer_.update(rows_.attribute(*draft.table, changed));
  finish(std::move(draft));
}

void DefinitionSteps::drop_identity(Oid oid, std::string_view name, bool if_exists) {
  const TableDescriptor& table = lock_table(oid);
  const ColumnDescriptor& column = column_of(table, name);
  if (column.identity == IdentityKind::none) {
    SqlError error = wrong_state(table, name, "is not an identity column");
    if (!if_exists) throw error;
    return notice(sqlstate::successful_completion, error.diagnostic().message + ", skipping");
  }
  Dropped dropped;
  dropped.what = concat("sequence ", shown_name(table_of(column.identity_sequence)));
  dropped.sequences = {column.identity_sequence};
  drop(dropped, false);
  Draft draft = draft_of(table_of(oid));
  ColumnDescriptor& changed = column_of(draft, name);
  changed.identity = IdentityKind::none;
  changed.identity_sequence = invalid_oid;
  writer_.update(rows_.attribute(*draft.table, changed));
  finish(std::move(draft));
}

}  // namespace pgsilo
