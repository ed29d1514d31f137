#include "executor/transaction_status.h"

#include "storage/limits.h"

namespace pgsilo {

namespace {

[[noreturn]] void raise_conflict(TransactionStatus status, SqlState state, const char* message) {
  TransactionConflict conflict(status, state, message);
  if (state == sqlstate::serialization_failure) {
    conflict.amend().hint = "The transaction might succeed if retried.";
  }
  throw conflict;
}

}  // namespace

void raise_transaction_status(TransactionStatus status) {
  switch (status) {
    case TransactionStatus::conflict_record:
    case TransactionStatus::conflict_lock:
    case TransactionStatus::conflict_unique:
    case TransactionStatus::must_wait:
      raise_conflict(status, sqlstate::serialization_failure,
                     "could not serialize access due to concurrent update");
    case TransactionStatus::conflict_node:
      raise_conflict(
          status, sqlstate::serialization_failure,
          "could not serialize access due to read/write dependencies among transactions");
    case TransactionStatus::conflict_relation:
      raise_conflict(status, sqlstate::serialization_failure,
                     "could not serialize access due to concurrent schema change");
    case TransactionStatus::deadlock:
      raise_conflict(status, sqlstate::deadlock_detected, "deadlock detected");
    case TransactionStatus::lock_timeout:
      throw SqlError(sqlstate::lock_not_available, "canceling statement due to lock timeout");
    case TransactionStatus::lock_not_available:
      throw SqlError(sqlstate::lock_not_available, "could not obtain lock on row");
    case TransactionStatus::cancelled:
      throw SqlError(sqlstate::query_canceled, "canceling statement due to user request");
    case TransactionStatus::no_log_space:
      throw SqlError(sqlstate::disk_full, "could not write to the log: no space left on device");
    case TransactionStatus::out_of_memory:
      throw SqlError(sqlstate::out_of_memory, "out of memory");
    case TransactionStatus::key_too_long:
      throw SqlError(sqlstate::program_limit_exceeded,
                     concat("index row size exceeds the maximum of ", max_key_bytes, " bytes"));
    case TransactionStatus::row_too_long:
      throw SqlError(sqlstate::program_limit_exceeded,
                     concat("row size exceeds the maximum of ", max_row_bytes, " bytes"));
    case TransactionStatus::duplicate_key:
      throw SqlError(sqlstate::unique_violation, "duplicate key value violates unique constraint");
    case TransactionStatus::ok:
    case TransactionStatus::not_found:
    case TransactionStatus::self_modified:
    case TransactionStatus::row_changed:
      break;  // outcomes that their callers handle
  }
  throw SqlError(sqlstate::internal_error,
                 concat("unexpected transaction status ", name_of(status)));
}

}  // namespace pgsilo
