#include "storage/transaction/abort_reason.h"

namespace pgsilo {

std::string_view name_of(TransactionStatus status) {
  constexpr std::array<std::string_view, transaction_status_count> names = {
      "ok",
      "not_found",
      "duplicate_key",
      "self_modified",
      "row_changed",
      "conflict_record",
      "conflict_node",
      "conflict_lock",
      "conflict_unique",
      "conflict_relation",
      "must_wait",
      "deadlock",
      "lock_timeout",
      "lock_not_available",
      "cancelled",
      "no_log_space",
      "out_of_memory",
      "key_too_long",
      "row_too_long",
  };
  return names[static_cast<size_t>(status)];
}

}  // namespace pgsilo
