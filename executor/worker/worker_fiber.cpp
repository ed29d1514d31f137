#include "executor/worker/worker_fiber.h"

#include "base/check.h"
#include "executor/worker/worker.h"

namespace pgsilo {

WorkerFiber::WorkerFiber(Worker& worker, StackPool& stacks, Fiber::Body body, void* argument)
    : worker_(worker), fiber_(stacks, body, argument) {}

void WorkerFiber::park(int64_t deadline_us) {
  PGSILO_DCHECK(Fiber::current() == &fiber_);
  State expected = State::running;
  // Acquire (either way) pairs with unpark()'s release: what the waker did is visible after park().
  if (!state_.compare_exchange_strong(expected, State::parked, std::memory_order_acq_rel,
                                      std::memory_order_acquire)) {
    // No plain store: it could wait in the store buffer, behind which the caller looks for its work
    // too early, and then wipe out a later unpark().
    state_.exchange(State::running, std::memory_order_acquire);
    return;
  }
  if (deadline_us != no_deadline) worker_.sleep_until(*this, deadline_us);
  fiber_.suspend();
  if (deadline_us != no_deadline) worker_.cancel_sleep(*this);
  state_.exchange(State::running, std::memory_order_acquire);
}

void WorkerFiber::unpark() {
  // Only the one who finds it parked queues it.
  if (state_.exchange(State::notified, std::memory_order_acq_rel) == State::parked)
    worker_.make_runnable(*this);
}

void WorkerFiber::offer_to_move() { worker_.offer_to_move(*this); }

int WorkerFiber::destination() const { return worker_.destination_of(*this); }

void WorkerFiber::yield() {
  worker_.requeue(*this);
  fiber_.suspend();
}

}  // namespace pgsilo
