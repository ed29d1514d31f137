// The server's memory: its ceiling, and what is done when that is reached. Sessions that idle in a
// transaction and keep others' memory from being freed are ended then, the oldest first, one for
// each measurement that refuses somebody (docs/memory.md).
//
// Thread safety: any thread. Everything given to the constructor outlives the object.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/memory_budget.h"
#include "executor/server_monitor.h"

namespace pgsilo {

class LockTable;
class Reclaimer;
class SessionRegistry;
class SnapshotRegistry;

class ServerMemory final : MemoryRelief {
 public:
  ServerMemory(size_t limit_bytes, unsigned workers, const Reclaimer& reclaimer,
               const SnapshotRegistry& snapshots, SessionRegistry& sessions, LockTable& locks);

  MemoryCeiling& ceiling() { return ceiling_; }
  MemoryInfo info() const;

  // memory_limit where none is set, in bytes: whole megabytes. Before workers have their stacks.
  static size_t default_limit_bytes(unsigned workers);

 private:
  void relieve() override;
  size_t held_back_bytes() const;

  MemoryCeiling ceiling_;
  const Reclaimer& reclaimer_;
  const SnapshotRegistry& snapshots_;
  SessionRegistry& sessions_;
  LockTable& locks_;
  std::atomic<int64_t> sessions_ended_{0};
};

}  // namespace pgsilo
