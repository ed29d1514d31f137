// The end of temporary objects: with their session, and of their transaction (ON COMMIT).
#include <algorithm>

#include "catalog/definition/definition_steps.h"
#include "sql/sql_error.h"
#include "storage/relation/relation.h"
#include "storage/transaction/transaction_scan.h"

namespace pgsilo {

void DefinitionSteps::empty_schema(Oid schema) {
  Dropped dropped;
  for (const auto& [address, same] : view_.snapshot().members(schema)) {
    if (address.catalog == system_oid::pg_type) {
      static_cast<void>(type_draft(address.oid));
      dropped.types.push_back(view_.find_type(address.oid));
    } else if (address.catalog != system_oid::pg_class) {
      continue;  // extended statistics go with their tables
    } else if (table_of(address.oid).kind == RelationKind::sequence) {
      dropped.sequences.push_back(address.oid);
    } else {
      dropped.tables.push_back(address.oid);
    }
  }
  for (Oid table : dropped.tables) lock_table(table);
  add_references_to(&dropped);
  drop(dropped, /*cascade=*/true);
  remove_tables(dropped.tables);
}

void DefinitionSteps::settle_temporary_tables() {
  const SchemaDescriptor* schema = view_.temporary_schema();
  if (schema == nullptr) return;
  std::vector<Oid> dropped;
  std::vector<Oid> emptied;
  for (const auto& [address, same] : view_.snapshot().members(schema->oid)) {
    if (address.catalog != system_oid::pg_class) continue;
    OnCommit action = table_of(address.oid).on_commit;
    if (action == OnCommit::drop) dropped.push_back(address.oid);
    if (action == OnCommit::delete_rows) emptied.push_back(address.oid);
  }
  delete_temporary_rows(emptied);
  if (dropped.empty()) return;
  for (Oid table : dropped) lock_table(table);
  drop_dependents_of(dropped, /*cascade=*/true);
  remove_tables(dropped);
}

void DefinitionSteps::delete_temporary_rows(std::span<const Oid> tables) {
  for (Oid oid : tables) {
    const TableDescriptor& table = table_of(oid);
    for (const IncomingReference& reference : table.referenced_by) {
      const TableDescriptor& referring = table_of(reference.table);
      if (referring.on_commit == OnCommit::delete_rows) continue;
      throw SqlError(sqlstate::feature_not_supported,
                     "unsupported ON COMMIT and foreign key combination")
          .detail(concat("Table \"", referring.name, "\" references \"", table.name,
                         "\", but they do not have the same ON COMMIT setting."));
    }
  }
  for (Oid table : tables) {
    if (!has_rows(table_of(table))) continue;
    lock_table(table);
    Draft draft = draft_of(table_of(table));
    give_new_trees(draft);
    finish_with_new_trees(std::move(draft));
  }
}

bool DefinitionSteps::has_rows(const TableDescriptor& table) {
  require_ok(transaction_.continue_statement());
  Arena memory;
  RowBuffer buffer(memory);
  TransactionScan scan(transaction_, *table.relation, KeyRange{}, ScanDirection::forward, buffer,
                       ReadPurpose::plain);
  RowRef row;
  TransactionStatus status = scan.next(&row);
  if (status != TransactionStatus::not_found) require_ok(status);
  return status == TransactionStatus::ok;
}

}  // namespace pgsilo
