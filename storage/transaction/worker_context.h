// What all transactions of one worker share: its commit slot, its memory-reclamation handle, its
// log sink, its last TID, and the absent records and dropped relations that it will take out. One
// per thread that runs transactions; sessions (fibers) of the worker share it. Thread safety: the
// worker's thread only.
#pragma once

#include <cstdint>
#include <vector>

#include "storage/epoch/durable_epoch.h"
#include "storage/epoch/epoch_manager.h"
#include "storage/epoch/reclaimer.h"
#include "storage/record/tid_word.h"
#include "storage/transaction/abort_reason.h"
#include "storage/transaction/record_lock.h"
#include "storage/transaction/redo_sink.h"
#include "storage/transaction/snapshot_registry.h"
#include "storage/transaction/unhook_queue.h"

namespace pgsilo {

class RelationDirectory;
class WorkSharing;

// The parts of the engine that all workers share; everything outlives the workers.
struct EngineParts {
  EpochManager& epochs;
  DurableEpoch& durable;
  Reclaimer& reclaimer;
  RelationDirectory& relations;
  LockTable& locks;
  SnapshotRegistry& snapshots;
  WorkSharing* sharing = nullptr;  // null: nobody helps
};

class WorkerContext {
 public:
  // `last_tid`: for recovery; every TID found in any log is at or below it.
  WorkerContext(const EngineParts& parts, RedoSink& sink, Tid last_tid = Tid());
  WorkerContext(const WorkerContext&) = delete;
  WorkerContext& operator=(const WorkerContext&) = delete;

  const EngineParts& parts() const { return parts_; }
  CommitSlot& slot() { return slot_; }
  ReclaimerHandle& reclaimer() { return reclaimer_; }
  RedoSink& sink() { return sink_; }
  UnhookQueue& unhooks() { return unhooks_; }
  AbortCounts& aborts() { return aborts_; }
  const AbortCounts& aborts() const { return aborts_; }
  unsigned index() const { return reclaimer_.index(); }

  Tid last_tid() const { return last_tid_; }
  void set_last_tid(Tid tid) { last_tid_ = tid; }

  // Nothing that has been committed names the relation any more: takes it out of the directory, at
  // once or when no snapshot knows it. Throws std::bad_alloc.
  void drop_relation(RelationId id);

  // Between requests: unhooks absent records whose epoch is durable and that no snapshot sees,
  // drops relations likewise, and frees memory that no pin and no snapshot protects. Cheap when
  // there is nothing to do. Returns true if it did something or has to be called again before the
  // worker may sleep.
  bool housekeep();

 private:
  struct DroppedRelation {
    RelationId id;
    Epoch epoch;  // not before that of the commit which dropped it
  };
  bool drop_unseen();
  bool unhook_settled();

  EngineParts parts_;
  RedoSink& sink_;
  ReclaimerHandle reclaimer_;
  CommitSlot slot_;
  UnhookQueue unhooks_;
  std::vector<DroppedRelation> dropped_;  // that some snapshot may know
  Tid last_tid_;
  AbortCounts aborts_;
};

}  // namespace pgsilo
