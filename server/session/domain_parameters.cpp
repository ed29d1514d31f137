// StatementRunner: parameters of domains, whose values are checked when they are bound.
#include "catalog/named_type.h"
#include "executor/transaction_status.h"
#include "server/session/statement_runner.h"
#include "sql/types/user_type.h"

namespace pgsilo {

void StatementRunner::rest_on_domains(Oid type) {
  if (share_user_type(type) == nullptr) return;
  state_.transactions.open();
  for (RetryPolicy patience(static_cast<uint64_t>(monotonic_ns()));;) {
    state_.refresh_catalog();
    if (use_domains(type)) return;
    await_catalog(patience);
  }
}

bool StatementRunner::use_domains(Oid type) {
  for (const auto& domain : domains_of(state_.transactions.catalog(), type)) {
    if (domain->record.record == nullptr) continue;
    TransactionStatus status =
        state_.transactions.storage().use_descriptor(domain->record.record, domain->record.tid);
    if (status == TransactionStatus::conflict_record) return false;
    if (status != TransactionStatus::ok) raise_transaction_status(status);
  }
  return true;
}

}  // namespace pgsilo
