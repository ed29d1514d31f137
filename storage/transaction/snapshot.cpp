#include "storage/transaction/snapshot.h"

#include "storage/transaction/commit_wait.h"

namespace pgsilo {

TransactionStatus Snapshot::open(SnapshotRegistry& registry, const WaitSettings& settings,
                                 std::shared_ptr<const Snapshot>* snapshot) {
  auto opened = std::make_shared<const Snapshot>(registry);
  snapshot->reset();
  for (CommitWait wait(settings, /*spin_us=*/0); !registry.is_complete(opened->boundary());) {
    TransactionStatus status = wait.pause();
    if (status != TransactionStatus::ok) return status;
  }
  *snapshot = std::move(opened);
  return TransactionStatus::ok;
}

}  // namespace pgsilo
