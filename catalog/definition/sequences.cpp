// CREATE and ALTER SEQUENCE.
#include <algorithm>

#include "catalog/definition/definition_steps.h"
#include "catalog/sequence/sequence_state.h"
#include "sql/sql_error.h"
#include "storage/relation/relation.h"
#include "storage/relation/relation_directory.h"

namespace pgsilo {

namespace {

ColumnDescriptor state_column(int16_t number, std::string_view name, Oid type) {
  ColumnDescriptor column;
  column.name = name;
  column.number = number;
  column.type = type;
  column.not_null = true;
  return column;
}

}  // namespace

std::shared_ptr<TableDescriptor> DefinitionSteps::make_sequence(const SchemaDescriptor& schema,
                                                                std::string_view name,
                                                                RelationPersistence persistence) {
  auto sequence = std::make_shared<TableDescriptor>();
  sequence->oid = new_oid();
  sequence->schema = schema.oid;
  sequence->schema_name = schema.name;
  sequence->name = name;
  sequence->kind = RelationKind::sequence;
  sequence->persistence = persistence;
  sequence->columns = {state_column(1, "last_value", type_oid::int8),
                       state_column(2, "log_cnt", type_oid::int8),
                       state_column(3, "is_called", type_oid::boolean)};
  return sequence;
}

void DefinitionSteps::give_new_state(TableDescriptor& sequence, SequenceDescriptor& changed,
                                     const SequencePosition& position) {
  if (sequence.relation != nullptr) discard_relation(sequence.relation_id, sequence.relation);
  sequence.relation = &new_relation(sequence.persistence);
  sequence.relation_id = sequence.relation->id();
  Relation& states = *catalog_.relations().find(Catalog::sequence_states);
  changed.state = std::make_shared<SequenceState>(*sequence.relation, states, position, Epoch());
}

Oid DefinitionSteps::add_sequence(const SchemaDescriptor& schema, std::string_view name,
                                  RelationPersistence persistence, const SequenceOptions& options,
                                  SequenceDescriptor owned) {
  rest_on_schema(schema.oid);
  SequencePosition position;
  create_sequence_definition(options, owned.is_identity, &owned.definition, &position);
  std::shared_ptr<TableDescriptor> sequence = make_sequence(schema, name, persistence);
  give_new_state(*sequence, owned, position);
  sequence->sequence = std::make_shared<SequenceDescriptor>(std::move(owned));
  complete_descriptor(*sequence, {}, {});
  writer_.insert(rows_.class_of(*sequence));
  for (const ColumnDescriptor& column : sequence->columns)
    writer_.insert(rows_.attribute(*sequence, column));
  writer_.insert(rows_.sequence(*sequence));
  insert_owner_row(*sequence);
  Oid oid = sequence->oid;
  view_.put_table(std::move(sequence));
  return oid;
}

void DefinitionSteps::create_sequence(const NewSequence& from, const SequenceOwner& owner,
                                      bool if_not_exists) {
  RelationPersistence persistence = from.persistence;
  const SchemaDescriptor& schema = creation_schema(from.schema, &persistence);
  if (schema.oid == system_oid::schema_pg_catalog) {
    throw SqlError(sqlstate::insufficient_privilege,
                   concat("permission denied to create \"", schema.name, ".", from.name, "\""))
        .detail("System catalog modifications are currently disallowed.");
  }
  if (if_not_exists && name_taken(schema.oid, from.name)) {
    return notice(sqlstate::duplicate_table,
                  concat("relation \"", from.name, "\" already exists, skipping"));
  }
  check_name_free(schema.oid, from.name);
  Oid oid = add_sequence(schema, from.name, persistence, from.options, {});
  if (owner.given) set_owner(oid, owner);
}

void DefinitionSteps::alter_sequence(Oid oid, const SequenceOptions& options,
                                     const SequenceOwner& owner) {
  change_sequence(oid, options, false);
  if (owner.given) set_owner(oid, owner);
}

void DefinitionSteps::change_sequence(Oid oid, const SequenceOptions& options, bool for_identity) {
  if (options.is_empty()) return;
  const TableDescriptor& old = lock_table(oid);
  SequencePosition position;
  require_ok(old.sequence->state->freeze(transaction_, &position));
  SequenceDescriptor changed = *old.sequence;
  alter_sequence_definition(options, for_identity, &changed.definition, &position);
  Draft draft = draft_of(old);
  give_new_state(*draft.table, changed, position);
  draft.table->sequence = std::make_shared<SequenceDescriptor>(std::move(changed));
  writer_.update(rows_.sequence(*draft.table));
  finish(std::move(draft));
}

void DefinitionSteps::restart_sequences(std::span<const Oid> tables) {
  SequenceOptions options;
  options.restart.given = true;
  for (Oid table : tables) {
    for (Oid sequence : owned_sequences(table)) change_sequence(sequence, options, false);
  }
}

// ---- owners ----

void DefinitionSteps::set_owner(Oid oid, const SequenceOwner& owner) {
  const TableDescriptor& old = lock_table(oid);
  if (old.sequence->is_identity) {
    throw SqlError(sqlstate::feature_not_supported, "cannot change ownership of identity sequence")
        .detail(concat("Sequence \"", old.name, "\" is linked to table \"",
                       table_of(old.sequence->owner_table).name, "\"."));
  }
  if (owner.table != invalid_oid) {
    // Nobody drops the table or the column meanwhile, and whoever drops it then notices by its row.
    const TableDescriptor& table = lock_table(owner.table);
    if (table.schema != old.schema) {
      throw SqlError(sqlstate::object_not_in_prerequisite_state,
                     "sequence must be in same schema as table it is linked to");
    }
    finish(draft_of(table), Concerns::writers);
  }
  remove_owner_row(old);
  Draft draft = draft_of(old);
  SequenceDescriptor changed = *old.sequence;
  changed.owner_table = owner.table;
  changed.owner_column = owner.column;
  draft.table->sequence = std::make_shared<SequenceDescriptor>(std::move(changed));
  insert_owner_row(*draft.table);
  finish(std::move(draft));
}

void DefinitionSteps::insert_owner_row(const TableDescriptor& sequence) {
  const SequenceDescriptor& owned = *sequence.sequence;
  if (owned.owner_table == invalid_oid) return;
  writer_.insert(rows_.dependency({system_oid::pg_class, sequence.oid},
                                  {system_oid::pg_class, owned.owner_table}, owned.owner_column,
                                  owned.is_identity ? 'i' : 'a'));
}

void DefinitionSteps::remove_owner_row(const TableDescriptor& sequence) {
  const SequenceDescriptor& owned = *sequence.sequence;
  if (owned.owner_table == invalid_oid) return;
  remove_row(system_oid::pg_depend, {system_oid::pg_class, sequence.oid, 0, system_oid::pg_class,
                                     owned.owner_table, owned.owner_column});
}

std::vector<Oid> DefinitionSteps::owned_sequences(Oid table, int16_t column) const {
  std::vector<Oid> owned;
  for (Oid sequence : view_.snapshot().owned_sequences(table)) {
    const TableDescriptor* relation = view_.find_table(sequence);
    if (column == 0 || relation->sequence->owner_column == column) owned.push_back(sequence);
  }
  std::sort(owned.begin(), owned.end());
  return owned;
}

}  // namespace pgsilo
