#include "catalog/definition/definition_steps.h"
#include "catalog/named_relation.h"
#include "catalog/relation_encoding.h"

#include <unordered_set>

#include "sql/internal_error.h"
#include "sql/sql_error.h"
#include "storage/relation/relation.h"

namespace pgsilo {

const TableDescriptor& DefinitionSteps::table_of(Oid oid) {
  const TableDescriptor* table = view_.find_table(oid);
  // Whoever called resolved the name against this very view.
  PGSILO_REQUIRE(table != nullptr);
  return *table;
}

const TableDescriptor& DefinitionSteps::lock_table(Oid oid, std::initializer_list<LockMode> modes) {
  const TableDescriptor& table = table_of(oid);
  if (table.is_system()) {
    throw SqlError(sqlstate::insufficient_privilege,
                   concat("permission denied: \"", table.name, "\" is a system catalog"));
  }
  for (LockMode mode : modes) require_ok(transaction_.lock_relation(*table.relation, mode));
  if (table.record.record != nullptr) {
    require_ok(transaction_.use_descriptor(table.record.record, table.record.tid));
  }
  return table;
}

DefinitionSteps::Draft DefinitionSteps::draft_of(const TableDescriptor& table) {
  Draft draft;
  draft.table = std::make_shared<TableDescriptor>(table);
  draft.table->statistics = std::make_shared<TableStatisticsSlot>(table.statistics->counted());
  draft.indexes = table.indexes;
  for (size_t i = 0; i < table.columns.size(); ++i)
    draft.dropped_widths.push_back(table.layout.column(i).width);
  return draft;
}

IndexDescriptor& DefinitionSteps::changed(std::shared_ptr<const IndexDescriptor>& index) {
  auto copy = std::make_shared<IndexDescriptor>(*index);
  index = copy;
  return *copy;
}

void DefinitionSteps::count_rows(Draft& draft, const TableDescriptor& old_table) {
  if (old_table.relation->row_count() > 0) draft.table->statistics->set_counted();
}

void DefinitionSteps::forget_sizes(Draft& draft) {
  draft.table->statistics = std::make_shared<TableStatisticsSlot>();
  for (auto& index : draft.indexes) changed(index).uncounted = true;
}

const TableDescriptor& DefinitionSteps::finish(Draft draft, Concerns concerns) {
  complete_descriptor(*draft.table, std::move(draft.indexes), draft.dropped_widths);
  draft.table->record = {};
  writer_.update(rows_.class_of(*draft.table));
  if (concerns == Concerns::everybody) {
    draft.table->type_record = {};
    if (draft.table->row_type != invalid_oid) writer_.update(rows_.row_type(*draft.table));
  }
  Oid oid = draft.table->oid;
  view_.put_table(std::move(draft.table));
  return table_of(oid);
}

const TableDescriptor& DefinitionSteps::finish_with_new_trees(Draft draft) {
  std::unordered_set<Oid> known;
  for (const auto& index : table_of(draft.table->oid).indexes) known.insert(index->oid);
  const TableDescriptor& table = finish(std::move(draft));
  for (const auto& index : table.indexes) {
    // An index that the operation adds has no row yet.
    if (known.contains(index->oid)) writer_.update(rows_.class_of(table, *index));
  }
  return table;
}

Relation& DefinitionSteps::new_relation(RelationPersistence persistence) {
  RelationOptions options;
  options.logged = persistence == RelationPersistence::permanent;
  Relation* relation = transaction_.create_relation(options);
  if (relation == nullptr) throw EngineOutcome{TransactionStatus::out_of_memory};
  relation->set_encoding(newest_encoding);
  insert_encoding(transaction_, catalog_.relations(), relation->id());
  return *relation;
}

void DefinitionSteps::discard_relation(RelationId id, Relation* relation) {
  remove_encoding(transaction_, catalog_.relations(), id);
  if (relation->is_private()) {
    require_ok(transaction_.drop_relation(*relation));
  } else {
    view_.drop_relation_at_commit(id);
  }
}

bool DefinitionSteps::name_taken(Oid schema, std::string_view name) const {
  return view_.snapshot().relation_name_taken(schema, name);
}

void DefinitionSteps::check_name_free(Oid schema, std::string_view name) {
  if (!name_taken(schema, name)) return;
  throw SqlError(sqlstate::duplicate_table, concat("relation \"", name, "\" already exists"));
}

}  // namespace pgsilo
