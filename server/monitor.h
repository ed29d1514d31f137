// What statements may ask about the server, answered from its parts. Thread safety: as
// ServerMonitor; set_snapshots() and set_workers() before the first session.
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

class Monitor final : public ServerMonitor {
 public:
  Monitor(SessionRegistry& sessions, LockTable& locks);
  void set_snapshots(const SnapshotRegistry& snapshots) { snapshots_ = &snapshots; }
  // What memory() asks; before the first session.
  void set_memory(const ServerMemory& memory) { memory_ = &memory; }
  void set_workers(std::vector<WorkerStatistics*> workers) { workers_ = std::move(workers); }

  bool cancel(int32_t process) override;
  bool terminate(int32_t process) override;
  bool has_session(int32_t process) const override;
  std::vector<SessionInfo> sessions() const override;
  DatabaseStatistics database_statistics() const override;
  std::vector<StatementStatistics> statement_statistics() const override;
  void reset_statistics() override;
  MemoryInfo memory() const override;
  std::vector<LockInfo> locks() const override;
  std::vector<SnapshotInfo> snapshots() const override;
  std::vector<int32_t> blockers(int32_t process) const override;

 private:
  DatabaseStatistics counted() const;

  SessionRegistry& sessions_;
  LockTable& locks_;
  const SnapshotRegistry* snapshots_ = nullptr;
  const ServerMemory* memory_ = nullptr;
  std::vector<WorkerStatistics*> workers_;
  mutable std::mutex reset_mutex_;  // guards before_reset_
  DatabaseStatistics before_reset_;
};

}  // namespace pgsilo
