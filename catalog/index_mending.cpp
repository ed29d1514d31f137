#include "catalog/index_mending.h"

#include "base/arena.h"
#include "base/byte_buffer.h"
#include "catalog/catalog_writer.h"
#include "catalog/index_evaluator.h"
#include "sql/sql_error.h"
#include "storage/record/row_buffer.h"
#include "storage/transaction/transaction_scan.h"

namespace pgsilo {
namespace {

// Rows of one transaction.
constexpr size_t batch_rows = 256;

}  // namespace

// visit(transaction, row) for each row of the relation, in transactions of some rows each.
template <typename Visit>
void IndexMending::for_batches(Relation& relation, Visit visit) {
  Transaction transaction(worker_, waits_);
  std::string position;
  try {
    for (bool more = true; more;) {
      transaction.begin(TransactionMode::one_shot);
      require_ok(transaction.begin_statement());
      Arena memory;
      RowBuffer buffer(memory);
      KeyRange behind;
      std::string from = position;
      if (!from.empty()) behind.lower = KeyBound::exclusive(from);
      TransactionScan scan(transaction, relation, behind, ScanDirection::forward, buffer);
      RowRef row;
      for (size_t count = 0; more && count < batch_rows; ++count) {
        TransactionStatus status = scan.next(&row);
        more = status != TransactionStatus::not_found;
        if (!more) break;
        require_ok(status);
        position = row.key();
        visit(transaction, row);
      }
      require_ok(transaction.commit());
    }
  } catch (const EngineOutcome& outcome) {
    transaction.abort();
    throw SqlError(Severity::fatal, sqlstate::internal_error,
                   concat("could not mend an index: ", name_of(outcome.status)));
  }
}

bool IndexMending::leads_to_its_row(Transaction& transaction, const TableDescriptor& table,
                                    IndexEntries& entries, std::string_view entry,
                                    std::string_view primary_key) {
  Arena memory;
  RowBuffer buffer(memory);
  RowRef row;
  TransactionStatus status = transaction.get(*table.relation, primary_key, buffer, &row);
  if (status == TransactionStatus::not_found) return false;
  require_ok(status);
  ByteBuffer wanted;
  return entries.encode(row.row, row.key(), wanted) && wanted.view() == entry;
}

MendedIndex IndexMending::mend(const TableDescriptor& table, const IndexDescriptor& index,
                               IndexEntries& entries) {
  MendedIndex mended;
  for_batches(*index.relation, [&](Transaction& transaction, const RowRef& entry) {
    std::string primary_key(index.key.primary_key_of(entry.key(), entry.row));
    if (leads_to_its_row(transaction, table, entries, entry.key(), primary_key)) return;
    require_ok(transaction.remove(entry));
    ++mended.removed;
  });
  for_batches(*table.relation, [&](Transaction& transaction, const RowRef& row) {
    ByteBuffer entry;
    if (!entries.encode(row.row, row.key(), entry)) return;
    TransactionStatus status =
        transaction.insert(*index.relation, entry.view(), index.key.payload_of(row.key()));
    if (status == TransactionStatus::duplicate_key) return;  // the entries are all right by now
    require_ok(status);
    ++mended.added;
  });
  return mended;
}

}  // namespace pgsilo
