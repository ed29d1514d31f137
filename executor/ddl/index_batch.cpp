#include "executor/ddl/index_batch.h"

#include "sql/memory_error.h"
#include "storage/relation/relation.h"

namespace pgsilo {

TransactionStatus IndexBatch::add_entries(const TableDescriptor& table,
                                          const IndexDescriptor& index, IndexEntries& entries,
                                          const IndexRange& range) {
  TransactionStatus status = transaction_.begin_statement();
  if (status == TransactionStatus::ok)
    status = transaction_.use_descriptor(table.record.record, table.record.tid);
  if (status == TransactionStatus::ok)
    status = transaction_.lock_relation(*table.relation, LockMode::row_share);
  if (status == TransactionStatus::ok) status = transaction_.share_reads(*table.relation);
  if (status != TransactionStatus::ok) return status;
  memory_.reset();
  RowBuffer buffer(memory_);
  TransactionScan scan(transaction_, *table.relation, range.keys(), ScanDirection::forward, buffer,
                       ReadPurpose::rows);
  last_key_ = range.from;
  for (size_t count = 0; count < rows_ && status == TransactionStatus::ok;
       count += gathered_count_) {
    status = gather(scan, index, entries, rows_ - count);
    TransactionStatus added = add_gathered(index);
    if (added != TransactionStatus::ok) return added;
  }
  at_end_ = status == TransactionStatus::not_found;
  return at_end_ ? TransactionStatus::ok : status;
}

void IndexBatch::advance(IndexRange& range) {
  range.from.swap(last_key_);
  range.begun = true;
  range.finished = at_end_;
  rows_ = std::min(2 * rows_, most_rows);
}

// Of the next rows.
TransactionStatus IndexBatch::gather(TransactionScan& scan, const IndexDescriptor& index,
                                     IndexEntries& entries, size_t most) {
  RowRef row;
  most = std::min(most, gathered_.size());
  for (gathered_count_ = 0; gathered_count_ < most; ++gathered_count_) {
    TransactionStatus status = scan.next(&row);
    if (status != TransactionStatus::ok) return status;
    entry_.clear();
    if (!entries.encode(row.row, row.key(), entry_)) entry_.clear();
    gathered_[gathered_count_] = {memory_.copy_string(entry_.view()), row.key(),
                                  index.unique ? memory_.copy_string(row.row) : ""};
  }
  return TransactionStatus::ok;
}

TransactionStatus IndexBatch::add_gathered(const IndexDescriptor& index) {
  std::array<IndexTree::Lookup, IndexTree::max_lookups> lookups;
  std::span<const Entry> entries(gathered_.data(), gathered_count_);
  for (size_t i = 0; i < entries.size(); ++i)
    lookups[i] = {&index.relation->tree(), entries[i].key};
  IndexTree::prefetch(std::span(lookups).first(entries.size()));
  for (const Entry& entry : entries) {
    TransactionStatus status = add_entry(index, entry);
    if (status != TransactionStatus::ok) return status;
    last_key_ = entry.primary_key;
  }
  return TransactionStatus::ok;
}

TransactionStatus IndexBatch::add_entry(const IndexDescriptor& index, const Entry& entry) {
  if (entry.key.empty()) return TransactionStatus::ok;
  // In the tree, in the write set, in the log; with their headers.
  require_memory(3 * (entry.key.size() + entry.primary_key.size()) + 2 * sizeof(Record) +
                 sizeof(WriteEntry));
  TransactionStatus status =
      transaction_.insert(*index.relation, entry.key, index.key.payload_of(entry.primary_key));
  if (status != TransactionStatus::duplicate_key) return status;
  // Whoever wrote the row since the index is there has made its entry as well.
  if (!index.unique) return TransactionStatus::ok;
  Arena memory;
  RowBuffer buffer(memory);
  RowRef there;
  status = transaction_.get(*index.relation, entry.key, buffer, &there, ReadPurpose::plain);
  // It has gone since, or this very batch has made it: a smaller one will tell.
  if (status == TransactionStatus::not_found) return TransactionStatus::conflict_record;
  if (status != TransactionStatus::ok || there.row == entry.primary_key) return status;
  duplicate_row_ = entry.row;
  return TransactionStatus::duplicate_key;
}

}  // namespace pgsilo
