// A consistent past of the whole database that stays readable (docs/snapshots.md): what the commits
// of all epochs up to boundary() have left. Opened when somebody asks for it, shared by as many
// transactions as want to read the same moment (Transaction::begin_snapshot), closed with the last.
// While it is open, replaced rows that it sees are kept, and deleted records and dropped relations
// stay.
//
// Thread safety: any thread.
#pragma once

#include <memory>

#include "storage/transaction/abort_reason.h"
#include "storage/transaction/record_lock.h"
#include "storage/transaction/snapshot_registry.h"

namespace pgsilo {

class Snapshot {
 public:
  // Waits until the commits up to the boundary are complete: as long as the slowest commit that is
  // under way. ok, cancelled; then `snapshot` is null. `registry` outlives the snapshot. Throws
  // std::bad_alloc. No lock may be held.
  static TransactionStatus open(SnapshotRegistry& registry, const WaitSettings& settings,
                                std::shared_ptr<const Snapshot>* snapshot);

  explicit Snapshot(SnapshotRegistry& registry) : registry_(registry), boundary_(registry.open()) {}
  ~Snapshot() { registry_.close(boundary_); }
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

  Epoch boundary() const { return boundary_; }
  // Of a record whose present version is of a later epoch; null: the key had no row.
  const OldVersion* find_version(const Record* record) const {
    return registry_.versions().find(record, boundary_);
  }

 private:
  SnapshotRegistry& registry_;
  const Epoch boundary_;
};

}  // namespace pgsilo
