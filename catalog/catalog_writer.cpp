#include "catalog/catalog_writer.h"

#include <string>

#include "base/long_work.h"
#include "sql/internal_error.h"
#include "sql/sql_error.h"
#include "storage/relation/relation_directory.h"
#include "storage/transaction/transaction.h"

namespace pgsilo {

namespace {
// About what writing a row costs, with its share of what is made of it.
constexpr size_t row_work = WorkMeter::block / 2;
}  // namespace

Relation& CatalogWriter::relation(RelationId id) {
  Relation* found = relations_.find(id);
  PGSILO_REQUIRE(found != nullptr);
  return *found;
}

// Rows that must be there and are not were removed by a definition that committed meanwhile.
void CatalogWriter::require_found(TransactionStatus status) {
  require_ok(status == TransactionStatus::not_found ? TransactionStatus::conflict_record : status);
}

RowRef CatalogWriter::find(const SystemTable& table, std::string_view key) {
  Relation& rows = relation(table.relation_id());
  require_ok(transaction_.share_relation(rows));
  RowRef found;
  require_found(transaction_.get(rows, key, buffer_, &found, ReadPurpose::for_update));
  return found;
}

// Names were checked against the snapshot; so somebody took this one since, or the definition wants
// it twice, which the snapshot does not tell.
void CatalogWriter::key_is_taken(const SystemTable& table, Relation& keys, std::string_view key) {
  if (!transaction_.has_own_row(keys, key)) throw EngineOutcome{TransactionStatus::conflict_unique};
  std::string_view constraint;
  for (const SystemIndexInfo& index : all_system_indexes()) {
    bool is_primary =
        index.primary && index.table == table.info().oid && keys.id() == table.relation_id();
    if (is_primary || keys.id() == RelationId(index.oid)) constraint = index.name;
  }
  throw SqlError(sqlstate::unique_violation,
                 concat("duplicate key value violates unique constraint \"", constraint, "\""))
      .table("pg_catalog", table.info().name)
      .constraint(constraint);
}

void CatalogWriter::insert_entry(const SystemTable& table, const SystemTable::Index& index,
                                 std::string_view entry_key, std::string_view primary_key) {
  Relation& entries = relation(index.relation_id);
  TransactionStatus status = transaction_.insert(entries, entry_key, primary_key);
  if (status == TransactionStatus::duplicate_key) key_is_taken(table, entries, entry_key);
  require_ok(status);
}

void CatalogWriter::remove_entry(const SystemTable::Index& index, std::string_view entry_key) {
  RowRef entry;
  RowBuffer buffer(arena_);
  require_found(transaction_.get(relation(index.relation_id), entry_key, buffer, &entry,
                                 ReadPurpose::for_update));
  require_ok(transaction_.remove(entry));
}

void CatalogWriter::insert(const SystemRow& row) {
  did_work(row_work);
  PGSILO_DCHECK(row.is_complete());
  const SystemTable& table = row.table();
  ByteBuffer key;
  ByteBuffer bytes;
  table.primary_key().encode_columns(row.values(), key);
  table.layout().encode(row.values(), bytes);
  Relation& rows = relation(table.relation_id());
  require_ok(transaction_.share_relation(rows));
  TransactionStatus status = transaction_.insert(rows, key.view(), bytes.view());
  if (status == TransactionStatus::duplicate_key) key_is_taken(table, rows, key.view());
  require_ok(status);
  for (const SystemTable::Index& index : table.secondary_indexes()) {
    ByteBuffer entry;
    index.key.encode_entry(row.values(), key.view(), entry);
    insert_entry(table, index, entry.view(), key.view());
  }
}

void CatalogWriter::update(const SystemRow& row) {
  did_work(row_work);
  PGSILO_DCHECK(row.is_complete());
  const SystemTable& table = row.table();
  // The row may have been written earlier in this very statement; a new command sees it.
  require_ok(transaction_.continue_statement());
  ByteBuffer key;
  table.primary_key().encode_columns(row.values(), key);
  RowRef old = find(table, key.view());
  std::string old_row(old.row);
  ByteBuffer bytes;
  table.layout().encode(row.values(), bytes);
  // Written even if nothing differs: whoever rests on the old version must notice the statement.
  require_ok(transaction_.update(old, bytes.view()));
  for (const SystemTable::Index& index : table.secondary_indexes()) {
    ByteBuffer old_entry;
    ByteBuffer new_entry;
    index.key.encode_entry(table.layout(), old_row, key.view(), old_entry);
    index.key.encode_entry(row.values(), key.view(), new_entry);
    if (old_entry.view() == new_entry.view()) continue;
    remove_entry(index, old_entry.view());
    insert_entry(table, index, new_entry.view(), key.view());
  }
}

bool CatalogWriter::find_by_index(const SystemTable& table, RelationId index,
                                  std::initializer_list<Datum> key, std::string* row) {
  require_ok(transaction_.continue_statement());
  for (const SystemTable::Index& candidate : table.secondary_indexes()) {
    if (candidate.relation_id != index) continue;
    PGSILO_DCHECK(candidate.key.columns_are_key());
    ByteBuffer entry_key;
    candidate.key.encode_prefix({key.begin(), key.size()}, entry_key);
    RowRef entry;
    RowBuffer buffer(arena_);
    // What is free is taken next, and then the index tells whether it still is: that others take
    // names beside it must not disturb. What is found must stay true.
    TransactionStatus status = TransactionStatus::ok;
    for (ReadPurpose purpose : {ReadPurpose::passing, ReadPurpose::plain}) {
      status = transaction_.get(relation(index), entry_key.view(), buffer, &entry, purpose);
      if (status == TransactionStatus::not_found) return false;
      require_ok(status);
    }
    RowRef found;
    require_found(
        transaction_.get_via_entry(relation(table.relation_id()), entry, buffer_, &found));
    row->assign(found.row);
    return true;
  }
  PGSILO_REQUIRE(false);
}

bool CatalogWriter::hold(const SystemTable& table, std::initializer_list<Datum> primary_key) {
  ByteBuffer key;
  table.primary_key().encode_prefix({primary_key.begin(), primary_key.size()}, key);
  Relation& rows = relation(table.relation_id());
  require_ok(transaction_.share_relation(rows));
  RowRef row;
  TransactionStatus status = transaction_.get(rows, key.view(), buffer_, &row,
                                              ReadPurpose::referenced, {LockMode::key_share});
  if (status == TransactionStatus::not_found) return false;
  require_ok(status);
  return true;
}

void CatalogWriter::lock(const SystemTable& table, std::initializer_list<Datum> primary_key) {
  ByteBuffer key;
  table.primary_key().encode_prefix({primary_key.begin(), primary_key.size()}, key);
  static_cast<void>(find(table, key.view()));
}

void CatalogWriter::remove(const SystemTable& table, std::span<const Datum> primary_key) {
  did_work(row_work);
  require_ok(transaction_.continue_statement());
  ByteBuffer key;
  table.primary_key().encode_prefix(primary_key, key);
  RowRef old = find(table, key.view());
  for (const SystemTable::Index& index : table.secondary_indexes()) {
    ByteBuffer entry;
    index.key.encode_entry(table.layout(), old.row, key.view(), entry);
    remove_entry(index, entry.view());
  }
  require_ok(transaction_.remove(old));
}

}  // namespace pgsilo
