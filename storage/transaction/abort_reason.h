// How an operation of a transaction can end. Closed: the executor turns each into one SqlError, the
// retry policy of the server switches over it. Thread safety: plain values.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace pgsilo {

enum class [[nodiscard]] TransactionStatus : uint8_t {
  ok,
  not_found,      // no row visible under the key
  duplicate_key,  // a live row has the key; the read that says so is registered (validate() before
                  // answering 23505)
  self_modified,  // the row was already written by the running command (PostgreSQL ignores such an
                  // UPDATE or DELETE)
  row_changed,    // lock_row(): another version than the one read is current; the RowRef holds it,
                  // re-evaluate
  // Conflicts: abort() and run again (one-shot) or 40001 (interactive).
  conflict_record,    // a record read was changed, or unhooked
  conflict_node,      // the key set of a range read was changed
  conflict_lock,      // a record stayed locked by another commit
  conflict_unique,    // two transactions insert the same key
  conflict_relation,  // a relation of the write set was gated by DDL while committing
  must_wait,          // a one-shot met another transaction's intent lock or a relation's gate:
                      // wait_for_intent(), run again
  // Ends of waiting.
  deadlock,            // 40P01: this transaction is the victim
  lock_timeout,        // 55P03: lock_timeout passed
  lock_not_available,  // 55P03: NOWAIT (or SKIP LOCKED: skip the row)
  cancelled,           // 57014: the wait was cancelled
  // Limits.
  no_log_space,   // 53100
  out_of_memory,  // 53200
  key_too_long,   // 54000: index row size exceeds the maximum
  row_too_long,   // 54000
};

inline constexpr size_t transaction_status_count =
    static_cast<size_t>(TransactionStatus::row_too_long) + 1;

// The enumerator's name.
std::string_view name_of(TransactionStatus status);

// True for outcomes that running the same one-shot again may cure.
constexpr bool is_conflict(TransactionStatus status) {
  return (status >= TransactionStatus::conflict_record && status <= TransactionStatus::must_wait) ||
         status == TransactionStatus::deadlock;
}

// True for outcomes after which the transaction cannot commit any more.
constexpr bool ends_transaction(TransactionStatus status) {
  switch (status) {
    case TransactionStatus::ok:
    case TransactionStatus::not_found:
    case TransactionStatus::duplicate_key:
    case TransactionStatus::self_modified:
    case TransactionStatus::row_changed:
    case TransactionStatus::lock_not_available:
    case TransactionStatus::key_too_long:
    case TransactionStatus::row_too_long:
      return false;
    default:
      return true;
  }
}

// Aborts by reason, one per worker: that worker adds, anybody reads.
class AbortCounts {
 public:
  void add(TransactionStatus status) {
    std::atomic<uint64_t>& count = counts_[static_cast<size_t>(status)];
    count.store(count.load(std::memory_order_relaxed) + 1,
                std::memory_order_relaxed);  // one writer
  }
  uint64_t of(TransactionStatus status) const {
    return counts_[static_cast<size_t>(status)].load(std::memory_order_relaxed);
  }

 private:
  std::array<std::atomic<uint64_t>, transaction_status_count> counts_{};
};

}  // namespace pgsilo
