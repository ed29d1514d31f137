// The one place where the engine's transaction statuses become errors of the client.
// Thread safety: stateless.
#pragma once

#include <cstdint>
#include <string>

#include "sql/sql_error.h"
#include "storage/transaction/abort_reason.h"

namespace pgsilo {

// An SqlError that running the same statements again may cure: another transaction got in between
// (40001) or this one was a deadlock victim (40P01). The server re-runs one-shots on it (after
// Transaction::wait_for_intent() when status() is must_wait) and passes it on for interactive
// transactions.
class TransactionConflict : public SqlError {
 public:
  TransactionConflict(TransactionStatus status, SqlState state, std::string message)
      : SqlError(state, std::move(message)), status_(status) {}
  TransactionStatus status() const { return status_; }

 private:
  TransactionStatus status_;
};

// Throws the error that `status` stands for. Precondition: status is not ok. Constraint violations
// that need the table's name and key (23505) are raised by executor/constraint; here they lack the
// detail.
[[noreturn]] void raise_transaction_status(TransactionStatus status);
inline void require_ok_status(TransactionStatus status) {
  if (status != TransactionStatus::ok) [[unlikely]]
    raise_transaction_status(status);
}

}  // namespace pgsilo
