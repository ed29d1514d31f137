// The engine for benchmarks of the storage/ interface: in memory alone, or with its log. Thread
// safety: built and destroyed by one thread; the parts are the engine's.
#pragma once

#include <atomic>
#include <memory>
#include <thread>

#include "base/clock.h"
#include "bench/engine_log_options.h"
#include "bench/fatal_file_system.h"
#include "storage/relation/relation_directory.h"
#include "storage/transaction/transaction.h"
#include "wal/durable_parker.h"
#include "wal/wal.h"

namespace pgsilo {

class EngineDatabase {
 public:
  // Without a log every epoch is taken for durable as soon as it is complete. A directory that
  // holds a database is recovered. A failure ends the process with a message.
  // `listener` is told of recovery's progress; it may be null.
  EngineDatabase(const EngineLogOptions& log, unsigned workers,
                 RecoveryListener* listener = nullptr);
  ~EngineDatabase();  // with a log: everything is durable, shut down cleanly

  EngineParts parts() { return {*epochs_, *durable_, reclaimer_, relations_, locks_, *snapshots_}; }
  RelationDirectory& relations() { return relations_; }
  DurableEpoch& durable() { return *durable_; }
  Wal* wal() { return wal_.get(); }  // null: no log
  RedoSink& sink(unsigned worker);
  bool is_new() const { return recovered_.entries == 0 && recovered_.checkpoint == 0; }
  const RecoveryResult& recovered() const { return recovered_; }

  // With a log: the process is killed when it is about to complete the `checkpoints`th from now on.
  void die_in_checkpoint(uint64_t checkpoints) { files_.arm(checkpoints); }

  // Without a log: begins the next epoch. By one thread at a time: that of start_clock(), or a
  // worker that counts its transactions.
  void advance_epoch();
  // Without a log: calls advance_epoch() every 40 ms, Silo's epoch period, from a thread of its
  // own.
  void start_clock();
  void stop_clock();

 private:
  FatalFileSystem files_{posix_file_system()};
  MonotonicClock clock_;
  RelationDirectory relations_;
  Reclaimer reclaimer_;
  LockTable locks_;
  RecoveryResult recovered_;
  std::unique_ptr<EpochManager> epochs_;
  std::unique_ptr<SnapshotRegistry> snapshots_;
  std::unique_ptr<DurableEpoch> durable_;
  std::unique_ptr<Wal> wal_;
  NullRedoSink null_sink_;
  DurableParker end_of_clock_;
  std::atomic<bool> stopping_{false};
  std::thread clock_thread_;
};

// A worker of the database: one session on one thread.
struct EngineWorker {
  EngineWorker(EngineDatabase& database, unsigned index);
  ~EngineWorker();

  EngineDatabase& database;
  const unsigned index;
  DurableParker parker;
  WaitSettings settings;
  WorkerContext context;
  Transaction transaction;
};

}  // namespace pgsilo
