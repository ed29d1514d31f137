// What goes on beside the clients of a stress test: cancelled statements and ended sessions,
// indexes and columns that come and go. Thread safety: each runs in a thread of its own until
// `running` is 0; SessionProcesses: any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/stress/server/server_support.h"

namespace pgsilo::server_stress {

// The process ids of the sessions that may be ended, published by their clients.
class SessionProcesses {
 public:
  explicit SessionProcesses(size_t sessions) : ids_(sessions) {}
  size_t size() const { return ids_.size(); }
  int get(size_t session) const { return ids_[session].load(std::memory_order_relaxed); }
  // After each connect.
  void publish(size_t session, const Client& client) {
    ids_[session].store(client.process(), std::memory_order_relaxed);
  }

 private:
  std::vector<std::atomic<int>> ids_;
};

void end_sessions(const InProcessServer& server, const SessionProcesses& sessions,
                  const std::atomic<int>& running, uint64_t seed);

// `indexed` names a table and columns of it, "table (column, ...)"; `altered` a table.
void change_definitions(const InProcessServer& server, const std::string& indexed,
                        const std::string& altered, const std::atomic<int>& running);

}  // namespace pgsilo::server_stress
