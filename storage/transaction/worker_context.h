// What all transactions of one worker share: its commit slot, its memory-reclamation handle, its
// log sink, its last TID and the queue of absent records it will unhook. One per thread that runs
// transactions; sessions (fibers) of the worker share it. Thread safety: the worker's thread only.
#pragma once

#include <cstdint>

#include "storage/epoch/durable_epoch.h"
#include "storage/epoch/epoch_manager.h"
#include "storage/epoch/reclaimer.h"
#include "storage/record/tid_word.h"
#include "storage/transaction/abort_reason.h"
#include "storage/transaction/record_lock.h"
#include "storage/transaction/redo_sink.h"
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

  // Between requests: unhooks absent records whose epoch is durable and frees memory that no pin
  // protects. Cheap when there is nothing to do. Returns true if it did something.
  bool housekeep();

 private:
  EngineParts parts_;
  RedoSink& sink_;
  ReclaimerHandle reclaimer_;
  CommitSlot slot_;
  UnhookQueue unhooks_;
  Tid last_tid_;
  AbortCounts aborts_;
};

}  // namespace pgsilo
