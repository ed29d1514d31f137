// The ends of temporary objects: of the transaction, of the session (docs/temporary_objects.md).
#include "catalog/data_definition.h"
#include "executor/transaction_status.h"
#include "server/limits.h"
#include "server/session/session_state.h"
#include "server/session/transaction_control.h"

namespace pgsilo {

void TransactionControl::settle_temporary_tables() {
  raise(DataDefinition(catalog_, transaction_, context_.types).settle_temporary_tables());
}

void TransactionControl::drop_temporary_objects() {
  raise(DataDefinition(catalog_, transaction_, context_.types).drop_temporary_objects());
}

TransactionStatus TransactionControl::try_to_drop_temporary_objects() {
  transaction_.begin(TransactionMode::one_shot);
  catalog_.refresh();
  DataDefinition definition(catalog_, transaction_, context_.types);
  TransactionStatus status = definition.drop_temporary_objects();
  if (status == TransactionStatus::ok) status = catalog_.before_commit(transaction_);
  if (status == TransactionStatus::ok) status = transaction_.commit();
  if (status == TransactionStatus::ok) catalog_.committed(transaction_, *context_.parker);
  return status;
}

bool TransactionControl::drop_left_temporary_objects() noexcept {
  for (int attempt = 0; attempt < limits::temporary_drop_attempts; ++attempt) {
    TransactionStatus status = TransactionStatus::ok;
    try {
      status = try_to_drop_temporary_objects();
    } catch (...) {
      status = TransactionStatus::cancelled;  // of memory: nobody is there to be told
    }
    if (status == TransactionStatus::ok) return true;
    transaction_.abort();
    catalog_.forget_local();
    if (!is_conflict(status) && status != TransactionStatus::cancelled) return false;
  }
  return false;
}

void SessionState::drop_temporary_objects() {
  if (temporary_schema.is_taken()) transactions.drop_left_temporary_objects();
}

}  // namespace pgsilo
