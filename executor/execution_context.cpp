#include "executor/execution_context.h"

#include "base/clock.h"
#include "executor/transaction_status.h"
#include "storage/transaction/transaction.h"

namespace pgsilo {

void ExecutionContext::check_budget() {
  rows_until_check_ = rows_per_check;
  if (cancel_requested != nullptr && cancel_requested->load(std::memory_order_relaxed)) {
    raise_transaction_status(TransactionStatus::cancelled);
  }
  if (time_budget == nullptr || !time_budget->yield_if_spent() || transaction == nullptr) return;
  if (long_reader != nullptr && transaction->registered_reads() >= much_read)
    long_reader->has_read_much();
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

}  // namespace pgsilo
