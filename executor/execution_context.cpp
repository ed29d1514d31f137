#include "executor/execution_context.h"

#include "executor/transaction_status.h"
#include "storage/transaction/transaction.h"

namespace pgsilo {

void ExecutionContext::check_budget() {
  rows_until_check_ = rows_per_check;
  if (cancel_requested != nullptr && cancel_requested->load(std::memory_order_relaxed)) {
    raise_transaction_status(TransactionStatus::cancelled);
  }
  if (time_budget == nullptr || !time_budget->yield_if_spent() || transaction == nullptr) return;
  // Reads that do not fit together must not keep a loop going for ever.
  TransactionStatus status = transaction->validate();
  if (status != TransactionStatus::ok) raise_transaction_status(status);
}

}  // namespace pgsilo
