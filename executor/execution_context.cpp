#include "executor/execution_context.h"

#include <algorithm>

#include "base/clock.h"
#include "catalog/catalog_view.h"
#include "executor/transaction_status.h"
#include "sql/memory_error.h"
#include "storage/transaction/transaction.h"

namespace pgsilo {

void ExecutionContext::check_client() const {
  if (time_budget == nullptr || !time_budget->is_abandoned()) return;
  throw SqlError(Severity::fatal, sqlstate::connection_failure, "connection to client lost");
}

const CatalogView& ExecutionContext::told_catalog() const { return catalog->told_by(*transaction); }

void ExecutionContext::act_outside() {
  if (outside_acts != nullptr) outside_acts->begin_act();
  has_acted = true;
}

void ExecutionContext::check_budget() {
  rows_until_check_ = rows_per_check;
  if (cancel_requested != nullptr && cancel_requested->load(std::memory_order_relaxed)) {
    raise_transaction_status(TransactionStatus::cancelled);
  }
  if (notices != nullptr) notices->limit_held();
  if (transaction != nullptr) admit_bookkeeping();
  if (time_budget == nullptr || !time_budget->yield_if_spent() || transaction == nullptr) return;
  if (long_reader != nullptr && transaction->registered_reads() >= much_read)
    static_cast<void>(long_reader->read_snapshot());
  // Reads that do not fit together must not keep a loop going for ever. But looking at all reads so
  // far after every slice would make a long scan quadratic: between two validations lies a multiple
  // of what the last one took.
  int64_t started_us = monotonic_us();
  if (started_us < validate_after_us_) return;
  TransactionStatus status = transaction->validate();
  if (status != TransactionStatus::ok) raise_transaction_status(status);
  int64_t ended_us = monotonic_us();
  validate_after_us_ = ended_us + validation_rest_factor * (ended_us - started_us);
}

// What the transaction remembers of the rows it has seen. Who only reads can do without; the others
// go on with the reserve.
void ExecutionContext::admit_bookkeeping() {
  constexpr size_t step = 64 << 10;
  size_t bytes = transaction->bookkeeping_bytes();
  // Another transaction, or a part unwound: what is left of it has its memory.
  admitted_bytes_ = std::min(admitted_bytes_, bytes);
  if (bytes < admitted_bytes_ + step) return;
  if (!memory_admits(bytes - admitted_bytes_)) {
    if (long_reader != nullptr && long_reader->read_snapshot()) return;
    require_memory(bytes - admitted_bytes_, MemoryPurpose::upkeep);
  }
  admitted_bytes_ = bytes;
}

}  // namespace pgsilo
