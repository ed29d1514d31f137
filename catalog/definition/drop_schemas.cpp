// DROP SCHEMA.
#include <algorithm>

#include "catalog/definition/definition_steps.h"
#include "sql/sql_error.h"
#include "storage/relation/relation.h"
#include "storage/relation/relation_directory.h"
#include "storage/transaction/transaction_scan.h"

namespace pgsilo {

void DefinitionSteps::drop_schemas(std::span<const std::string_view> names, bool if_exists,
                                   bool cascade) {
  std::vector<SchemaDescriptor> schemas;
  for (std::string_view name : names) {
    // pg_temp stands for the schema of what is in it only.
    const SchemaDescriptor* found = view_.snapshot().find_schema(name);
    if (found == nullptr) {
      report_missing_schema(name, if_exists);
      continue;
    }
    const SchemaDescriptor& schema = *found;
    Oid oid = schema.oid;
    if (oid < Catalog::first_user_oid && oid != system_oid::schema_public) {
      throw SqlError(
          sqlstate::dependent_objects_still_exist,
          concat("cannot drop schema ", name, " because it is required by the database system"));
    }
    bool again = std::any_of(schemas.begin(), schemas.end(),
                             [&](const SchemaDescriptor& each) { return each.oid == oid; });
    if (!again) schemas.push_back(schema);
  }
  if (schemas.empty()) return;
  const SystemTable& rows = catalog_.system_tables().table(system_oid::pg_namespace);
  for (const SchemaDescriptor& schema : schemas) writer_.lock(rows, {Datum::of_int(schema.oid)});
  Dropped dropped;
  if (schemas.size() == 1) dropped.what = concat("schema ", schemas[0].name);
  // The last one is told of first, as in PostgreSQL.
  for (auto schema = schemas.rbegin(); schema != schemas.rend(); ++schema) {
    size_t others = dropped.contents.size();
    add_types_of(*schema, &dropped);
    add_relations_of(*schema, &dropped);
    // In the order in which they were made.
    auto oid_of = [](const Dropped::Content& each) {
      return each.type != nullptr ? each.type->address.oid : each.relation;
    };
    std::ranges::sort(std::span(dropped.contents).subspan(others), {}, oid_of);
  }
  // Without CASCADE nothing is there to go, or this is an error.
  if (cascade) {
    for (Oid table : dropped.tables) lock_table(table);
  }
  add_references_to(&dropped);
  drop(dropped, cascade);
  remove_tables(dropped.tables);
  for (const SchemaDescriptor& schema : schemas) remove_schema(schema.oid);
}

void DefinitionSteps::remove_schema(Oid schema) {
  remove_row(system_oid::pg_namespace, {schema});
  remove_comments({system_oid::pg_namespace, schema});
  view_.remove_schema(schema);
}

// As add_relations_of(). Nobody changes them, nor makes columns of them, until the transaction
// ends.
void DefinitionSteps::add_types_of(const SchemaDescriptor& schema, Dropped* dropped) {
  const SystemTable& types = catalog_.system_tables().table(system_oid::pg_type);
  require_ok(transaction_.continue_statement());
  Arena memory;
  RowBuffer buffer(memory);
  TransactionScan scan(transaction_, *catalog_.relations().find(types.relation_id()), KeyRange{},
                       ScanDirection::forward, buffer, locked_rows_purpose());
  std::vector<Oid> found;
  RowRef row;
  TransactionStatus status;
  while ((status = scan.next(&row)) == TransactionStatus::ok) {
    auto kind = static_cast<char>(types.get(row.row, pg_type_typtype).i64);
    if (types.get(row.row, pg_type_typnamespace).i64 == schema.oid && (kind == 'e' || kind == 'd'))
      found.push_back(static_cast<Oid>(types.get(row.row, pg_type_oid).i64));
  }
  if (status != TransactionStatus::not_found) require_ok(status);
  for (Oid oid : found) {
    std::shared_ptr<const TypeDescriptor> type = view_.find_type(oid);
    // Somebody made it since this transaction looked at the catalog.
    if (type == nullptr) throw EngineOutcome{TransactionStatus::conflict_record};
    static_cast<void>(type_draft(oid));
    dropped->contents.push_back({invalid_oid, schema.name, type});
    dropped->types.push_back(std::move(type));
  }
}

// Nobody creates anything in the schema meanwhile: a block has locked it, a one-shot rests on all
// that it reads.
void DefinitionSteps::add_relations_of(const SchemaDescriptor& schema, Dropped* dropped) {
  const SystemTable& classes = catalog_.system_tables().table(system_oid::pg_class);
  require_ok(transaction_.continue_statement());
  Arena memory;
  RowBuffer buffer(memory);
  TransactionScan scan(transaction_, *catalog_.relations().find(classes.relation_id()), KeyRange{},
                       ScanDirection::forward, buffer, locked_rows_purpose());
  RowRef row;
  TransactionStatus status;
  while ((status = scan.next(&row)) == TransactionStatus::ok) {
    auto kind = static_cast<RelationKind>(classes.get(row.row, pg_class_relkind).i64);
    if (kind == RelationKind::index ||
        classes.get(row.row, pg_class_relnamespace).i64 != schema.oid)
      continue;
    auto oid = static_cast<Oid>(classes.get(row.row, pg_class_oid).i64);
    // Somebody made it since this transaction looked at the catalog.
    const TableDescriptor* relation = view_.snapshot().find_table(oid);
    if (relation == nullptr) throw EngineOutcome{TransactionStatus::conflict_record};
    if (kind == RelationKind::sequence) {
      dropped->sequences.push_back(oid);
      // Those of columns go with their tables, without a word.
      if (relation->sequence->owner_table != invalid_oid) continue;
    } else {
      dropped->tables.push_back(oid);
    }
    dropped->contents.push_back({oid, schema.name});
  }
  if (status != TransactionStatus::not_found) require_ok(status);
}

}  // namespace pgsilo
