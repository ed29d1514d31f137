#include "storage/transaction/snapshot.h"

#include "base/backoff.h"
#include "base/clock.h"
#include "base/parker.h"

namespace pgsilo {

namespace {
constexpr int patient_rounds = 128;  // a commit takes some microseconds
constexpr int64_t poll_interval_us = 50;
}  // namespace

TransactionStatus Snapshot::open(SnapshotRegistry& registry, const WaitSettings& settings,
                                 std::shared_ptr<const Snapshot>* snapshot) {
  auto opened = std::make_shared<const Snapshot>(registry);
  snapshot->reset();
  Backoff backoff;
  for (int round = 0; !registry.is_complete(opened->boundary()); ++round) {
    if (settings.cancelled != nullptr && settings.cancelled->load(std::memory_order_acquire))
      return TransactionStatus::cancelled;
    if (round < patient_rounds || settings.parker == nullptr) {
      backoff.pause();
    } else {
      settings.parker->park(monotonic_us() + poll_interval_us);
    }
  }
  *snapshot = std::move(opened);
  return TransactionStatus::ok;
}

}  // namespace pgsilo
