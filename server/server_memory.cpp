#include "server/server_memory.h"

#include <algorithm>

#include "base/limits.h"
#include "base/process_memory.h"
#include "server/limits.h"
#include "server/session/session_registry.h"
#include "storage/epoch/reclaimer.h"
#include "storage/transaction/snapshot_registry.h"

namespace pgsilo {

ServerMemory::ServerMemory(size_t limit_bytes, unsigned workers, const Reclaimer& reclaimer,
                           const SnapshotRegistry& snapshots, SessionRegistry& sessions,
                           LockTable& locks)
    : ceiling_(limit_bytes, workers + limits::parser_threads, measure_process_memory),
      reclaimer_(reclaimer),
      snapshots_(snapshots),
      sessions_(sessions),
      locks_(locks) {
  ceiling_.set_relief(this);
}

size_t ServerMemory::default_limit_bytes(unsigned workers) {
  constexpr size_t megabyte = size_t{1} << 20;
  size_t memory = memory_for_process(workers * limits::large_stack_bytes);
  return std::max(memory / 3 * 2 / megabyte, size_t{1}) * megabyte;
}

size_t ServerMemory::held_back_bytes() const {
  return reclaimer_.pending_bytes() + snapshots_.versions().bytes();
}

// Ending a transaction that holds back next to nothing would help nobody.
void ServerMemory::relieve() {
  if (held_back_bytes() < ceiling_.limit_bytes() / limits::held_back_fraction) return;
  if (sessions_.end_oldest_idle_pin(locks_))
    sessions_ended_.fetch_add(1, std::memory_order_relaxed);
}

MemoryInfo ServerMemory::info() const {
  MemoryUsage usage = ceiling_.usage();
  MemoryInfo info;
  info.limit = static_cast<int64_t>(ceiling_.limit_bytes());
  info.reserve = static_cast<int64_t>(ceiling_.reserve_bytes());
  info.used = static_cast<int64_t>(usage.used);
  info.mapped = static_cast<int64_t>(usage.mapped);
  info.promised = static_cast<int64_t>(ceiling_.promised_bytes());
  info.to_reclaim = static_cast<int64_t>(reclaimer_.pending_bytes());
  info.old_versions = static_cast<int64_t>(snapshots_.versions().bytes());
  info.refusals = static_cast<int64_t>(ceiling_.refusals());
  info.sessions_ended = sessions_ended_.load(std::memory_order_relaxed);
  return info;
}

}  // namespace pgsilo
