// Silo's commit protocol with our changes; docs/commit_protocol.md argues each step. One Commit per
// call of Transaction::commit(); its phases are named after the paper's. Internal to
// storage/transaction. Thread safety: the transaction's fiber. No phase after prepare() suspends,
// allocates or makes a system call.
#pragma once

#include <cstddef>
#include <vector>

#include "storage/epoch/epoch.h"
#include "storage/record/tid_word.h"
#include "storage/transaction/transaction.h"
#include "storage/transaction/version_preserver.h"

namespace pgsilo {

class Commit {
 public:
  explicit Commit(Transaction& transaction)
      : transaction_(transaction),
        worker_(transaction.worker_),
        preserver_(worker_.parts().snapshots.versions(), transaction.writes_, worker_.index()) {}

  // ok: installed and handed to the log. Otherwise nothing is locked or changed.
  TransactionStatus run();

 private:
  enum class Attempt : uint8_t { done, failed, epoch_exhausted, lacks_room };

  TransactionStatus prepare();
  bool prepare_payload(WriteEntry& entry);
  Attempt attempt();
  TransactionStatus lock_writes();
  TransactionStatus lock(WriteEntry& entry);
  static bool renew(const WriteEntry& entry);
  TransactionStatus check_gates();
  TransactionStatus check_gate(Relation& relation, LockMode mode);
  Tid newest_tid() const;
  void install(Tid tid);
  void install(WriteEntry& entry, Tid tid);
  void log(const RedoEntry& entry, Tid tid);
  void unlock_all();
  // Of LoadedRows (transaction_load.cpp).
  TransactionStatus lock_loaded();
  void install_loaded(Tid tid);
  void unlock_loaded();
  void dispose_of_payloads();

  Transaction& transaction_;
  WorkerContext& worker_;
  const std::vector<uint32_t>* order_ = nullptr;  // write entries by address of their records
  size_t loaded_locked_ = 0;                      // the first ones
  bool is_logged_ = false;
  Tid newest_locked_;
  VersionPreserver preserver_;
  Epoch newest_snapshot_;  // Epoch(0): none is open
  TransactionStatus failure_ = TransactionStatus::ok;
};

}  // namespace pgsilo
