// What statements may ask about the server, answered from its parts. Thread safety: as
// ServerMonitor; the setters before the first session.
#pragma once

#include <mutex>
#include <vector>

#include "executor/server_monitor.h"
#include "server/statistics/worker_statistics.h"

namespace pgsilo {

class LockTable;
class ServerMemory;
class SessionRegistry;
class SnapshotRegistry;
class Wal;
struct RecoveryResult;

class Monitor final : public ServerMonitor {
 public:
  Monitor(SessionRegistry& sessions, LockTable& locks);
  void set_snapshots(const SnapshotRegistry& snapshots) { snapshots_ = &snapshots; }
  // What memory() asks; before the first session.
  void set_memory(const ServerMemory& memory) { memory_ = &memory; }
  // What logs() and their kin ask, and what they found; before the first session.
  void set_log(const Wal& wal, const RecoveryResult& recovered);
  void set_workers(std::vector<WorkerStatistics*> workers) { workers_ = std::move(workers); }

  bool cancel(int32_t process) override;
  bool terminate(int32_t process) override;
  bool has_session(int32_t process) const override;
  std::vector<SessionInfo> sessions() const override;
  DatabaseStatistics database_statistics() const override;
  std::vector<StatementStatistics> statement_statistics() const override;
  void reset_statistics() override;
  MemoryInfo memory() const override;
  LogStatistics log_statistics() const override;
  void reset_log_statistics() override;
  std::vector<LogInfo> logs() const override;
  RecoveryInfo recovery() const override { return recovery_; }
  CheckpointStatistics checkpoint_statistics() const override;
  void reset_checkpoint_statistics() override;
  std::vector<CheckpointRow> checkpoints() const override;
  ScrubInfo scrub() const override;
  std::vector<SlotInfo> slots() const override;
  std::vector<LockInfo> locks() const override;
  std::vector<SnapshotInfo> snapshots() const override;
  std::vector<int32_t> blockers(int32_t process) const override;

 private:
  DatabaseStatistics counted() const;
  LogStatistics logged() const;
  CheckpointStatistics checkpointed() const;

  SessionRegistry& sessions_;
  LockTable& locks_;
  const SnapshotRegistry* snapshots_ = nullptr;
  const ServerMemory* memory_ = nullptr;
  const Wal* wal_ = nullptr;
  RecoveryInfo recovery_;
  std::vector<WorkerStatistics*> workers_;
  mutable std::mutex reset_mutex_;  // guards what follows
  DatabaseStatistics before_reset_;
  LogStatistics log_before_reset_;
  CheckpointStatistics checkpoints_before_reset_;
};

}  // namespace pgsilo
