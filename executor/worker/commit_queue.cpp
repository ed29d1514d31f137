#include "executor/worker/commit_queue.h"

#include <algorithm>

#include "base/check.h"
#include "base/clock.h"

namespace pgsilo {
namespace {
constexpr auto later = [](const auto& left, const auto& right) { return left.epoch > right.epoch; };
}  // namespace

uint64_t CommitQueue::durable_epoch() const {
  return service_ == nullptr ? UINT64_MAX : service_->durable_epoch();
}

void CommitQueue::wait(DurableWaiter& waiter, uint64_t epoch) {
  PGSILO_DCHECK(!waiter.queued_);
  waiter.queued_ = true;
  waiting_.push_back({epoch, &waiter});
  std::push_heap(waiting_.begin(), waiting_.end(), later);
  if (service_ == nullptr) return;
  service_->request(epoch);
  if (unannounced_) return;
  unannounced_ = true;
  requested_at_us_ = monotonic_us();
}

void CommitQueue::forget(DurableWaiter& waiter) {
  if (!waiter.queued_) return;
  waiter.queued_ = false;
  std::erase_if(waiting_, [&](const Entry& entry) { return entry.waiter == &waiter; });
  std::make_heap(waiting_.begin(), waiting_.end(), later);
}

void CommitQueue::release() {
  // D is read anew each time: a waiter may register again, and an epoch that became durable before
  // it did so is told to nobody.
  while (!waiting_.empty()) {
    uint64_t durable = durable_epoch();
    if (waiting_.front().epoch > durable) return;
    DurableWaiter* waiter = waiting_.front().waiter;
    std::pop_heap(waiting_.begin(), waiting_.end(), later);
    waiting_.pop_back();
    waiter->queued_ = false;
    waiter->on_durable(durable);
  }
}

bool CommitQueue::step_log() {
  if (service_ == nullptr || waiting_.empty()) return false;
  unannounced_ = false;
  return service_->try_step();
}

void CommitQueue::hand_over() {
  if (!unannounced_) return;
  unannounced_ = false;
  service_->wake_log();
}

void CommitQueue::hurry() {
  if (unannounced_ && monotonic_us() - requested_at_us_ >= patience_us) hand_over();
}

}  // namespace pgsilo
