// A one-shot whose answer begins to leave, or that locks rows, becomes interactive: what it only
// registered until then it locks now.
#include "storage/relation/relation.h"
#include "storage/transaction/transaction.h"
#include "storage/transaction/transaction_guard.h"

namespace pgsilo {

TransactionStatus Transaction::become_interactive() {
  if (mode_ != TransactionMode::one_shot) return TransactionStatus::ok;
  TransactionStatus status = validate();
  if (status != TransactionStatus::ok) return status;  // still what was never found true
  mode_ = TransactionMode::interactive;
  status = take_later_locks();
  if (status == TransactionStatus::ok) status = guarded(worker_, [this] { return take_intents(); });
  // They rest on whole rows from here on.
  partial_reads_.clear();
  // Waiting for a lock may have changed what was read.
  return status == TransactionStatus::ok ? validate() : status;
}

// Those of relations, and behind them what they keep is looked at once more. Late as it is, it does
// not wait with the locks that it has: it waits as a one-shot and runs again.
TransactionStatus Transaction::take_later_locks() {
  for (const LaterLock& lock : later_locks_) {
    TransactionStatus status = lock_relation(*lock.relation, lock.mode, WaitPolicy::no_wait);
    if (status == TransactionStatus::lock_not_available)
      return must_wait_for(LockTag::of(*lock.relation), lock.mode);
    if (status != TransactionStatus::ok) return status;
  }
  later_locks_.clear();
  for (const LaterRead& read : later_reads_) {
    const ReadEntry& row = reads_[read.index];
    TransactionStatus status = check_descriptor(row.record, row.tid());
    if (status != TransactionStatus::ok) return status;
    note_version(read.version.tid);
    reads_.exchange(read.index, read.version.record, TidWord::present(read.version.tid));
  }
  later_reads_.clear();
  return TransactionStatus::ok;
}

TransactionStatus Transaction::take_intents() {
  for (WriteEntry& entry : writes_) {
    if (entry.newest->patched != nullptr) rest_on_base(entry);
    if (entry.held >= entry.needed() || !registers(*entry.relation)) continue;
    TransactionStatus status = lock_record(entry.record, entry.relation->id(), {entry.needed()});
    if (status != TransactionStatus::ok) return status;
    entry.held = entry.needed();
    if (entry.newest->tombstone) worker_.parts().locks.note_removal(owner_, entry.record);
  }
  for (const ReadEntry& read : reads_) {
    if (read.kind() != ReadKind::reference) continue;
    TransactionStatus status =
        lock_record(read.record, referenced_relation_of(read.record), {LockMode::key_share});
    if (status != TransactionStatus::ok) return status;
  }
  return TransactionStatus::ok;
}

}  // namespace pgsilo
