#include "server/session/execution_pool.h"

#include <algorithm>
#include <utility>

namespace pgsilo {

std::unique_ptr<Execution> ExecutionPool::take(const std::shared_ptr<const ExecutablePlan>& plan,
                                               ExecutionContext& context,
                                               std::span<const Datum> parameters) {
  for (Place& place : places_) {
    if (place.plan != plan.get() || place.execution == nullptr) continue;
    bytes_ -= std::exchange(place.bytes, 0);
    std::unique_ptr<Execution> execution = std::move(place.execution);
    execution->restart(parameters);
    return execution;
  }
  return std::make_unique<Execution>(plan, context, parameters);
}

void ExecutionPool::give_back(const ExecutablePlan* plan, size_t bytes,
                              std::unique_ptr<Execution> execution) {
  if (bytes > most_bytes_) return;
  Place& place = place_of(plan);
  empty(place);
  while (bytes_ + bytes > most_bytes_) empty(*least_used());
  place = {.plan = plan, .execution = std::move(execution), .bytes = bytes, .used_at = ++uses_};
  bytes_ += bytes;
}

void ExecutionPool::clear() {
  places_.clear();
  bytes_ = 0;
}

// Where it was before, or one of which nothing is kept.
ExecutionPool::Place& ExecutionPool::place_of(const ExecutablePlan* plan) {
  for (Place& place : places_) {
    if (place.plan == plan) return place;
  }
  if (places_.size() < limits::kept_executions) return places_.emplace_back();
  return *std::ranges::min_element(places_, {}, &Place::used_at);
}

// Of those that keep something.
ExecutionPool::Place* ExecutionPool::least_used() {
  Place* least = nullptr;
  for (Place& place : places_) {
    if (place.execution == nullptr) continue;
    if (least == nullptr || place.used_at < least->used_at) least = &place;
  }
  return least;
}

void ExecutionPool::empty(Place& place) {
  place.execution.reset();
  bytes_ -= std::exchange(place.bytes, 0);
}

}  // namespace pgsilo
