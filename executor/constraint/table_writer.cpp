#include "executor/constraint/table_writer.h"

#include "executor/execution_context.h"
#include "executor/transaction_status.h"
#include "sql/sql_error.h"
#include "storage/relation/relation.h"

namespace pgsilo {

TableWriter::TableWriter(ExecutionContext& context, const TableDescriptor& table)
    : context_(context),
      table_(table),
      may_load_(table.primary_key.is_hidden_row_id()),
      entry_buffer_(entry_memory_) {
  for (const auto& index : table.indexes) {
    if (!index->is_primary_tree()) secondary_.push_back(index.get());
    may_load_ &= !index->unique;
  }
}

Transaction& TableWriter::transaction() const { return *context_.transaction; }

void TableWriter::check(TransactionStatus status) {
  if (status != TransactionStatus::ok) [[unlikely]]
    raise_transaction_status(status);
}

void TableWriter::encode_primary_key(std::span<const Datum> row) {
  key_.clear();
  if (!table_.primary_key.is_hidden_row_id()) {
    table_.primary_key.encode_columns(row, key_);
    return;
  }
  unsigned worker = transaction().worker().index();
  key_.append_be64(table_.relation->next_row_id(worker));
}

void TableWriter::insert_primary(std::span<const Datum> row) {
  TransactionStatus status = transaction().insert(*table_.relation, key_.view(), row_.view());
  if (status == TransactionStatus::ok) return;
  const IndexDescriptor* primary = table_.primary_index();
  if (status == TransactionStatus::duplicate_key && primary != nullptr)
    raise_duplicate(*primary, row);
  raise_transaction_status(status);
}

void TableWriter::encode(std::span<const Datum> row) {
  encode_primary_key(row);
  row_.clear();
  table_.layout.encode(row, row_);
}

void TableWriter::insert(std::span<const Datum> row) {
  encode(row);
  insert_primary(row);
  for (const IndexDescriptor* index : secondary_) insert_entry(*index, row, key_.view());
}

void TableWriter::load(std::span<const Datum> row) {
  if (!may_load_) return insert(row);
  encode(row);
  check(transaction().load(*table_.relation, key_.view(), row_.view()));
  for (const IndexDescriptor* index : secondary_) {
    new_entry_.clear();
    index->key.encode_entry(row, key_.view(), new_entry_);
    check(transaction().load(*index->relation, new_entry_.view(), key_.view()));
  }
}

void TableWriter::finish_load() { check(transaction().finish_load()); }

void TableWriter::insert_entry(const IndexDescriptor& index, std::span<const Datum> row,
                               std::string_view primary_key) {
  new_entry_.clear();
  index.key.encode_entry(row, primary_key, new_entry_);
  TransactionStatus status = transaction().insert(*index.relation, new_entry_.view(), primary_key);
  if (status == TransactionStatus::ok) return;
  if (status == TransactionStatus::duplicate_key && index.unique) raise_duplicate(index, row);
  raise_transaction_status(status);
}

void TableWriter::remove_entry(const IndexDescriptor& index, std::span<const Datum> row,
                               std::string_view primary_key) {
  entry_.clear();
  index.key.encode_entry(row, primary_key, entry_);
  RowRef found;
  TransactionStatus status =
      transaction().get(*index.relation, entry_.view(), entry_buffer_, &found);
  if (status == TransactionStatus::not_found) {
    // The row was there without its entry. Most likely the reads do not fit together; if they do,
    // running again would not help.
    check(transaction().validate());
    throw SqlError(sqlstate::index_corrupted,
                   concat("index \"", index.name, "\" lacks the entry of a row of table \"",
                          table_.name, "\""))
        .table(table_.schema_name, table_.name);
  }
  check(status);
  check(transaction().remove(found));
}

bool TableWriter::update(const RowRef& old, std::span<const Datum> old_row,
                         std::span<const Datum> new_row,
                         std::span<const IndexDescriptor* const> indexes,
                         bool changes_primary_key) {
  row_.clear();
  table_.layout.encode(new_row, row_);
  if (changes_primary_key) {
    encode_primary_key(new_row);
    if (key_.view() != old.key()) return move(old, old_row, new_row);
  }
  TransactionStatus status = transaction().update(old, row_.view());
  if (status == TransactionStatus::self_modified) return false;
  check(status);
  for (const IndexDescriptor* index : indexes) {
    if (index->is_primary_tree()) continue;
    entry_.clear();
    new_entry_.clear();
    index->key.encode_entry(old_row, old.key(), entry_);
    index->key.encode_entry(new_row, old.key(), new_entry_);
    if (entry_.view() == new_entry_.view()) continue;
    remove_entry(*index, old_row, old.key());
    insert_entry(*index, new_row, old.key());
  }
  return true;
}

// The row gets another primary key: it is a new record with new entries. key_ and row_ hold the new
// row.
bool TableWriter::move(const RowRef& old, std::span<const Datum> old_row,
                       std::span<const Datum> new_row) {
  if (!remove(old, old_row)) return false;
  insert_primary(new_row);
  for (const IndexDescriptor* index : secondary_) insert_entry(*index, new_row, key_.view());
  return true;
}

bool TableWriter::remove(const RowRef& old, std::span<const Datum> old_row) {
  TransactionStatus status = transaction().remove(old);
  if (status == TransactionStatus::self_modified) return false;
  check(status);
  for (const IndexDescriptor* index : secondary_) remove_entry(*index, old_row, old.key());
  return true;
}

}  // namespace pgsilo
