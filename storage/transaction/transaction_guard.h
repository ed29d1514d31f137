// Wraps the public operations of Transaction: std::bad_alloc becomes out_of_memory, and what ends
// the transaction is counted. Internal to storage/transaction. Thread safety: the worker's.
#pragma once

#include <new>

#include "storage/transaction/worker_context.h"

namespace pgsilo {

template <typename Operation>
TransactionStatus guarded(WorkerContext& worker, Operation operation) {
  TransactionStatus status;
  try {
    status = operation();
  } catch (const std::bad_alloc&) {
    status = TransactionStatus::out_of_memory;
  }
  if (ends_transaction(status)) [[unlikely]]
    worker.aborts().add(status);
  return status;
}

}  // namespace pgsilo
