// Bulk work of one worker's transaction offered to another worker, which does it in a fiber of its
// own beside its sessions. Thread safety: set_workers() before the workers run; offer() from any
// worker's thread.
#pragma once

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "storage/transaction/work_sharing.h"

namespace pgsilo {

class WorkerHome;

class HelpingWorkers final : public WorkSharing {
 public:
  // At least two; they outlive this object's use.
  void set_workers(std::vector<WorkerHome*> workers) { workers_ = std::move(workers); }
  void offer(std::shared_ptr<SharedWork> work) override;

 private:
  std::vector<WorkerHome*> workers_;
  std::atomic<size_t> next_{0};  // in turn; where exactly does not matter
};

}  // namespace pgsilo
