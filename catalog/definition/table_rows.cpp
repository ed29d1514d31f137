// A table's rows while its definition changes: building indexes, moving rows into new trees.
#include <deque>

#include "base/byte_order.h"
#include "catalog/definition/definition_steps.h"
#include "catalog/index_evaluator.h"
#include "sql/memory_error.h"
#include "sql/sql_error.h"
#include "storage/relation/relation.h"
#include "storage/transaction/transaction_scan.h"

namespace pgsilo {

void DefinitionSteps::for_each_row(
    const TableDescriptor& table,
    const std::function<void(std::string_view, std::string_view)>& visit, ReadPurpose purpose) {
  // Rows written by earlier steps of this statement count.
  require_ok(transaction_.continue_statement());
  Arena memory;
  RowBuffer buffer(memory);
  TransactionScan scan(transaction_, *table.relation, KeyRange{}, ScanDirection::forward, buffer,
                       purpose);
  RowRef row;
  TransactionStatus status;
  while ((status = scan.next(&row)) == TransactionStatus::ok) {
    visit(row.key(), row.row);
    if (definition_.monitor_ != nullptr) definition_.monitor_->row();
  }
  if (status != TransactionStatus::not_found) require_ok(status);
}

void DefinitionSteps::load(Relation& relation, std::string_view key, std::string_view row,
                           const Rejection& rejection) {
  constexpr size_t each_record = 512;  // in its tree and in the log, beside its bytes
  require_memory(2 * (key.size() + row.size()) + each_record);
  require_loaded(transaction_.load(relation, key, row), rejection);
}

void DefinitionSteps::finish_load(const Rejection& rejection) {
  require_loaded(transaction_.finish_load(), rejection);
}

void DefinitionSteps::require_loaded(TransactionStatus status, const Rejection& rejection) {
  if (status == TransactionStatus::duplicate_key) rejection(transaction_.rejected_row());
  require_ok(status);
}

void DataDefinition::raise_not_unique(const TableDescriptor& table, const IndexDescriptor& index,
                                      std::string_view row) {
  IndexEntries entries(table, index, view_.catalog().index_evaluator(view_, table, index));
  std::string key = entries.shown_key(row, types_);
  throw SqlError(sqlstate::unique_violation,
                 concat("could not create unique index \"", index.name, "\""))
      .detail(concat("Key ", key, " is duplicated."))
      .table(table.schema_name, table.name)
      .constraint(index.name);
}

void DefinitionSteps::build_index(const TableDescriptor& table, Oid oid) {
  const IndexDescriptor& index = *table.find_index(oid);
  Rejection rejection = [&](const RejectedRow& entry) {
    Arena memory;
    RowBuffer buffer(memory);
    RowRef row;
    require_ok(transaction_.get(*table.relation, entry.row, buffer, &row));
    definition_.raise_not_unique(table, index, row.row);
  };
  IndexEntries entries(table, index, catalog_.index_evaluator(view_, table, index));
  ByteBuffer key;
  for_each_row(
      table,
      [&](std::string_view primary_key, std::string_view row) {
        key.clear();
        if (!entries.encode(row, primary_key, key)) return;
        load(*index.relation, key.view(), index.key.payload_of(primary_key), rejection);
      },
      ReadPurpose::passing);
  finish_load(rejection);
}

// Not loaded in bulk if it must be unique: the row that a rejected entry is about would be in no
// tree yet, and the error tells its values.
void DefinitionSteps::insert_entry(const TableDescriptor& table, const IndexDescriptor& index,
                                   IndexEntries& entries, const EntryOf& of, ByteBuffer& key,
                                   const Rejection& rejection) {
  auto [row, primary_key] = of;
  key.clear();
  if (!entries.encode(row, primary_key, key)) return;
  std::string_view payload = index.key.payload_of(primary_key);
  if (!index.unique) return load(*index.relation, key.view(), payload, rejection);
  TransactionStatus status = transaction_.insert(*index.relation, key.view(), payload);
  if (status == TransactionStatus::duplicate_key) definition_.raise_not_unique(table, index, row);
  require_ok(status);
}

void DefinitionSteps::rewrite_rows(const TableDescriptor& old_table, const TableDescriptor& table,
                                   RowTransform* transform) {
  const IndexDescriptor* primary = table.primary_index();
  unsigned worker = transaction_.worker().index();
  std::vector<Datum> values(table.columns.size());
  ByteBuffer encoded;
  ByteBuffer key;
  ByteBuffer entry;
  Arena padding;
  std::vector<const IndexDescriptor*> secondary;
  std::deque<IndexEntries> entries;
  for (const auto& index : table.indexes) {
    if (index->is_primary_tree()) continue;
    secondary.push_back(index.get());
    entries.emplace_back(table, *index, catalog_.index_evaluator(view_, table, *index));
  }
  Rejection rejection = [&](const RejectedRow& rejected) {
    if (primary != nullptr) definition_.raise_not_unique(table, *primary, rejected.row);
  };
  for_each_row(old_table, [&](std::string_view, std::string_view old_row) {
    std::string_view row = old_row;
    if (transform != nullptr) {
      std::fill(values.begin(), values.end(), Datum());
      padding.reset();
      old_table.layout.decode(old_row, std::span(values).first(old_table.columns.size()), padding);
      transform->apply(values);
      encoded.clear();
      table.layout.encode(values, encoded);
      row = encoded.view();
    }
    key.clear();
    if (primary != nullptr) {
      table.primary_key.encode_primary(table.layout, row, key);
    } else {
      key.append_be64(table.relation->next_row_id(worker));
    }
    load(*table.relation, key.view(), row, rejection);
    for (size_t i = 0; i < entries.size(); ++i)
      insert_entry(table, *secondary[i], entries[i], {row, key.view()}, entry, rejection);
  });
  finish_load(rejection);
}

void DefinitionSteps::check_no_nulls(const TableDescriptor& table,
                                     std::span<const int16_t> columns) {
  if (columns.empty()) return;
  for_each_row(table, [&](std::string_view, std::string_view encoded) {
    RowLayout::Row row(table.layout, encoded);
    for (int16_t number : columns) {
      size_t at = static_cast<size_t>(number) - 1;
      if (!row.get_unpadded(at).null) continue;
      throw SqlError(sqlstate::not_null_violation,
                     concat("column \"", table.columns[at].name, "\" of relation \"", table.name,
                            "\" contains null values"))
          .table(table.schema_name, table.name)
          .column(table.columns[at].name);
    }
  });
}

void DefinitionSteps::give_new_tree(const TableDescriptor& table, IndexDescriptor& index) {
  if (index.relation != nullptr) discard_relation(index.relation_id, index.relation);
  index.relation = &new_relation(table.persistence);
  index.relation_id = index.relation->id();
}

void DefinitionSteps::give_new_trees(Draft& draft) {
  TableDescriptor& table = *draft.table;
  discard_relation(table.relation_id, table.relation);
  table.relation = &new_relation(table.persistence);
  table.relation_id = table.relation->id();
  for (auto& index : draft.indexes) {
    if (!index->is_primary_tree()) give_new_tree(table, changed(index));
  }
}

}  // namespace pgsilo
