#include "server/session/session_interrupts.h"

#include <algorithm>

#include "base/clock.h"
#include "executor/worker/worker.h"

namespace pgsilo {

void SessionInterrupts::request_cancel() {
  // Release: the waker's side of park(); whoever sees the flag needs nothing else from this thread.
  cancelled_.store(true, std::memory_order_release);
  fiber_.unpark();
}

void SessionInterrupts::request_termination() {
  terminating_.store(true, std::memory_order_release);
  request_cancel();
}

void SessionInterrupts::begin_command(int64_t statement_timeout_ms) {
  timed_out_ = false;
  if (cancelled_.load(std::memory_order_relaxed) && !is_terminating()) {
    cancelled_.store(false, std::memory_order_relaxed);
  }
  deadline_us_ =
      statement_timeout_ms == 0 ? no_deadline : monotonic_us() + statement_timeout_ms * 1000;
}

void SessionInterrupts::check() {
  check_deadline();
  if (!cancelled_.load(std::memory_order_acquire)) return;
  throw SqlError(sqlstate::query_canceled, "canceling statement due to user request");
}

SqlError SessionInterrupts::explain(const SqlError& error) const {
  if (is_terminating() && error.state() == sqlstate::query_canceled) {
    return SqlError(Severity::fatal, sqlstate::admin_shutdown,
                    "terminating connection due to administrator command");
  }
  if (timed_out_ && error.state() == sqlstate::query_canceled) {
    return SqlError(sqlstate::query_canceled, "canceling statement due to statement timeout");
  }
  return error;
}

void SessionInterrupts::check_deadline() {
  if (deadline_us_ == no_deadline || monotonic_us() < deadline_us_) return;
  timed_out_ = true;
  deadline_us_ = no_deadline;
  cancelled_.store(true, std::memory_order_relaxed);
}

void SessionInterrupts::park(int64_t deadline_us) {
  fiber_.park(std::min(deadline_us, deadline_us_));
  check_deadline();
}

bool SessionInterrupts::yield_if_spent() {
  if (!fiber_.worker().slice_spent()) return false;
  check_deadline();
  fiber_.yield();
  return true;
}

void SessionInterrupts::sleep(int64_t duration_us) {
  int64_t until_us = monotonic_us() + duration_us;
  while (monotonic_us() < until_us && !cancelled_.load(std::memory_order_acquire)) park(until_us);
}

}  // namespace pgsilo
