#include "executor/table_lock.h"

#include "catalog/descriptors.h"
#include "storage/transaction/transaction.h"

namespace pgsilo {
namespace {

LockMode lock_of(TableUse use) {
  switch (use) {
    case TableUse::read:
      return LockMode::access_share;
    case TableUse::lock_rows:
      return LockMode::row_share;
    case TableUse::write:
      break;
  }
  return LockMode::row_exclusive;
}

}  // namespace

// Who has locked a table to write it keeps everybody from changing it, and goes on to write it as
// it was then; but not as it was before (docs/index_build.md).
TransactionStatus lock_table(Transaction& transaction, const TableDescriptor& table, TableUse use) {
  TransactionStatus status = transaction.lock_relation(*table.relation, lock_of(use));
  if (status != TransactionStatus::ok || transaction.mode() != TransactionMode::interactive)
    return status;  // a one-shot's commit looks at the descriptors
  const CatalogRecord& rests_on = use == TableUse::write ? table.record : table.type_record;
  if (rests_on.record == nullptr) return TransactionStatus::ok;
  return transaction.check_descriptor(rests_on.record, rests_on.tid);
}

}  // namespace pgsilo
