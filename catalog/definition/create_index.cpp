// CREATE INDEX: at once, while nobody writes the table, or in steps beside those who do
// (docs/index_build.md).
#include <algorithm>

#include "base/long_work.h"
#include "catalog/definition/definition_steps.h"
#include "sql/sql_error.h"

namespace pgsilo {

bool DefinitionSteps::may_create_index(Oid oid, const IndexDefinition& from, bool if_not_exists) {
  if (from.name.empty() || !if_not_exists || !name_taken(table_of(oid).schema, from.name))
    return true;
  notice(sqlstate::duplicate_table,
         concat("relation \"", from.name, "\" already exists, skipping"));
  return false;
}

const IndexDescriptor& DefinitionSteps::add_index(const TableDescriptor& old_table,
                                                  const IndexDefinition& from, bool valid) {
  Draft draft = draft_of(old_table);
  count_rows(draft, old_table);
  TakenNames taken;  // names of constraints are not taken for it
  std::shared_ptr<IndexDescriptor> made = make_index(*draft.table, from, taken);
  made->valid = valid;
  give_new_tree(*draft.table, *made);
  Oid oid = made->oid;
  draft.indexes.push_back(std::move(made));
  const TableDescriptor& table = finish(std::move(draft), Concerns::writers);
  const IndexDescriptor& index = *table.find_index(oid);
  insert_index_rows(table, index);
  return index;
}

// What PostgreSQL locks; and nobody else may change the table's definition.
void DefinitionSteps::create_index(Oid oid, const IndexDefinition& from, bool if_not_exists) {
  if (!may_create_index(oid, from, if_not_exists)) return;
  lock_table(oid, {LockMode::share_update_exclusive, LockMode::share});
  Oid index = add_index(table_of(oid), from, /*valid=*/true).oid;
  build_index(table_of(oid), index);
}

Oid DefinitionSteps::begin_index(Oid oid, const IndexDefinition& from, bool if_not_exists) {
  if (!may_create_index(oid, from, if_not_exists)) return invalid_oid;
  lock_table(oid, {LockMode::share_update_exclusive, LockMode::share});
  return add_index(table_of(oid), from, /*valid=*/false).oid;
}

void DefinitionSteps::finish_index(Oid oid, Oid index_oid) {
  Draft draft = draft_of(lock_table(oid, {LockMode::share_update_exclusive}));
  for (auto& index : draft.indexes) {
    if (index->oid == index_oid) changed(index).valid = true;
  }
  const TableDescriptor& table = finish(std::move(draft), Concerns::writers);
  writer_.update(rows_.index(table, *table.find_index(index_oid)));
}

// Without a lock: nothing may keep this from ending. Who has written entries into the tree goes on
// to do so, in vain.
void DefinitionSteps::discard_index(Oid oid, Oid index) {
  UnpausedWork unpaused;
  Draft draft = draft_of(lock_table(oid, {}));
  remove_index(draft, index);
  finish(std::move(draft), Concerns::writers);
}

}  // namespace pgsilo
