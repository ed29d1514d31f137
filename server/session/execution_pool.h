// Executions of a session that have ended, to be run again without being built: one for a plan.
// Empty while no plan was run. Thread safety: none; the session's fiber.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "executor/execution.h"
#include "server/limits.h"
#include "sql/types/datum.h"

namespace pgsilo {

class ExecutionPool {
 public:
  explicit ExecutionPool(size_t most_bytes = limits::kept_executions_bytes)
      : most_bytes_(most_bytes) {}
  std::unique_ptr<Execution> take(const std::shared_ptr<const ExecutablePlan>& plan,
                                  ExecutionContext& context, std::span<const Datum> parameters);
  // It ran to its end. `bytes`: what it keeps alive, its plan and the syntax of the plan's text.
  // Those that were not used for longest make room.
  void give_back(const ExecutablePlan* plan, size_t bytes, std::unique_ptr<Execution> execution);
  void clear();

 private:
  // Its execution is null while that runs: so it comes back to where it was, and nothing is moved.
  struct Place {
    const ExecutablePlan* plan = nullptr;  // only compared: it may be gone where nothing is kept
    std::unique_ptr<Execution> execution;
    size_t bytes = 0;
    uint64_t used_at = 0;
  };

  Place& place_of(const ExecutablePlan* plan);
  Place* least_used();
  void empty(Place& place);

  const size_t most_bytes_;
  size_t bytes_ = 0;
  uint64_t uses_ = 0;
  std::vector<Place> places_;
};

}  // namespace pgsilo
