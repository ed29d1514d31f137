// Counts per statement text, with parameters in the places of its literals where the plan cache
// shares such texts: how often it was run, how often that came to nothing, and why. Each worker has
// a table of its own. Bounded: when it is full, the texts with the fewest calls make room.
//
// Thread safety: list() and the counters' add() in the worker; add_to() and clear() from any
// thread. The lock is taken when a text comes for the first time, not when it runs again.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/counter.h"
#include "executor/server_monitor.h"
#include "storage/transaction/abort_reason.h"

namespace pgsilo {

struct StatementCounters {
  StatementCounters(uint64_t statement, std::string_view shown) : id(statement), text(shown) {}

  const uint64_t id;
  const std::string text;
  Counter calls;
  Counter retries;
  Counter failures;
  Counter exclusive_runs;
  std::array<Counter, transaction_status_count> aborts;
  // False: the table has forgotten it, what is counted here is not seen.
  std::atomic<bool> listed{true};
};

class StatementTable {
 public:
  // The counters of `text`, which its owner keeps in `kept` between runs.
  StatementCounters& list(std::shared_ptr<StatementCounters>& kept, std::string_view text) {
    if (kept == nullptr || !kept->listed.load(std::memory_order_relaxed)) [[unlikely]]
      kept = find_or_add(text);
    return *kept;
  }

  using Sums = std::unordered_map<uint64_t, StatementStatistics>;  // by id
  void add_to(Sums& sums) const;
  void clear();
  size_t size() const;

 private:
  std::shared_ptr<StatementCounters> find_or_add(std::string_view text);
  void make_room();

  mutable std::mutex mutex_;  // guards by_id_
  std::unordered_map<uint64_t, std::shared_ptr<StatementCounters>> by_id_;
};

}  // namespace pgsilo
