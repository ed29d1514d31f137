#include "server/session/session_interrupts.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "executor/worker/worker.h"
#include "storage/transaction/record_lock.h"

namespace pgsilo {

// One that comes beside end() takes itself back: of the two, in the one order that all see, the
// later one sees what the earlier has stored.
void SessionInterrupts::request_cancel() {
  if (!over_.load()) {
    cancelled_.store(true);
    if (over_.load()) cancelled_.store(false);
  }
  fiber_.unpark();
}

void SessionInterrupts::end() {
  over_.store(true);
  cancelled_.store(false);
  statement_deadline_us_ = transaction_deadline_us_ = no_deadline;
  connection_ = nullptr;  // it need not be there to be worked for
}

void SessionInterrupts::request_termination() {
  terminating_.store(true, std::memory_order_release);
  request_cancel();
}

bool SessionInterrupts::request_end_of_idling() {
  if (idling_ends_.exchange(true, std::memory_order_release)) return false;
  fiber_.unpark();
  return true;
}

void SessionInterrupts::begin_command() {
  if (expired_ == Expired::transaction) return;
  expired_ = Expired::nothing;
  if (std::exchange(cancels_next_, false)) return;
  if (cancelled_.load(std::memory_order_relaxed) && !is_terminating()) {
    cancelled_.store(false, std::memory_order_relaxed);
  }
}

void SessionInterrupts::start_clock(int64_t statement_timeout_ms) {
  bool limited = statement_deadline_us_ != no_deadline && statement_timeout_ms != 0;
  if (clock_ == Clock::runs && limited) return;
  several_timed_ |= clock_ == Clock::ended;
  clock_ = Clock::runs;
  statement_deadline_us_ =
      statement_timeout_ms == 0 ? no_deadline : monotonic_us() + statement_timeout_ms * 1000;
}

void SessionInterrupts::restart_clock() {
  bool counts_on = !several_timed_ && statement_deadline_us_ != no_deadline;
  clock_ = counts_on ? Clock::runs : Clock::stands;
}

void SessionInterrupts::check_clock() {
  if (clock_ != Clock::runs) return;
  check_deadline();
  if (expired_ == Expired::statement) check();
}

void SessionInterrupts::end_command() {
  clock_ = Clock::stands;
  several_timed_ = false;
  statement_deadline_us_ = no_deadline;
}

void SessionInterrupts::set_transaction_limit(int64_t limit_ms) {
  transaction_limit_ms_ = limit_ms;
  if (limit_ms == 0) {
    transaction_deadline_us_ = no_deadline;
  } else if (in_transaction_ && transaction_deadline_us_ == no_deadline) {
    transaction_deadline_us_ = monotonic_us() + limit_ms * 1000;
  }
}

void SessionInterrupts::begin_transaction() {
  if (in_transaction_) return;
  in_transaction_ = true;
  if (transaction_limit_ms_ != 0)
    transaction_deadline_us_ = monotonic_us() + transaction_limit_ms_ * 1000;
}

void SessionInterrupts::end_transaction() {
  in_transaction_ = false;
  transaction_deadline_us_ = no_deadline;
}

void SessionInterrupts::check() {
  check_deadline();
  if (!cancelled_.load(std::memory_order_acquire)) return;
  throw SqlError(sqlstate::query_canceled, "canceling statement due to user request");
}

void SessionInterrupts::check_client_wait() {
  check();
  if (idling_ends()) throw memory_error();
}

SqlError SessionInterrupts::explain(const SqlError& error) const {
  if (error.state() != sqlstate::query_canceled) return error;
  if (is_terminating()) return termination_error();
  switch (expired_) {
    case Expired::nothing:
      break;
    case Expired::statement:
      return SqlError(sqlstate::query_canceled, "canceling statement due to statement timeout");
    case Expired::transaction:
      return transaction_timeout_error();
  }
  return error;
}

SqlError SessionInterrupts::termination_error() {
  return SqlError(Severity::fatal, sqlstate::admin_shutdown,
                  "terminating connection due to administrator command");
}

SqlError SessionInterrupts::transaction_timeout_error() {
  return SqlError(Severity::fatal, sqlstate::transaction_timeout,
                  "terminating connection due to transaction timeout");
}

SqlError SessionInterrupts::memory_error() {
  SqlError error(Severity::fatal, sqlstate::out_of_memory,
                 "terminating connection because the server is short of memory");
  error.amend().detail =
      "The session waited for its client in a transaction that kept memory from being freed.";
  return error;
}

void SessionInterrupts::check_deadline() {
  int64_t first_us = std::min(statement_deadline_us_, transaction_deadline_us_);
  if (first_us == no_deadline || monotonic_us() < first_us) return;
  // Of two limits that end together the transaction's counts, as in PostgreSQL.
  bool whole = transaction_deadline_us_ == first_us;
  expired_ = whole ? Expired::transaction : Expired::statement;
  (whole ? transaction_deadline_us_ : statement_deadline_us_) = no_deadline;
  cancelled_.store(true, std::memory_order_relaxed);
}

// Waits for which nobody has noted a reason are storage's.
WaitEvent SessionInterrupts::storage_wait() {
  switch (locks_->waits_for()) {
    case LockOwner::WaitsFor::nothing:
      break;
    case LockOwner::WaitsFor::record:
      return WaitEvent::record_lock;
    case LockOwner::WaitsFor::relation:
      return WaitEvent::relation_lock;
    case LockOwner::WaitsFor::advisory:
      return WaitEvent::advisory_lock;
  }
  return WaitEvent::log_buffer;
}

void SessionInterrupts::park(int64_t deadline_us) {
  bool storage =
      report_ != nullptr && report_->event.load(std::memory_order_relaxed) == WaitEvent::none;
  WaitScope waits(storage ? report_ : nullptr, storage ? storage_wait() : WaitEvent::none);
  fiber_.park(std::min({deadline_us, statement_deadline_us_, transaction_deadline_us_}));
  check_deadline();
}

void SessionInterrupts::park_for(WaitEvent event) {
  WaitScope waits(report_, event);
  park();
}

void SessionInterrupts::park_for_commit(int64_t deadline_us) {
  WaitScope waits(report_, WaitEvent::commit);
  park(deadline_us);
}

bool SessionInterrupts::yield_if_spent() {
  if (!fiber_.worker().slice_spent()) return false;
  check_deadline();
  fiber_.yield();
  return true;
}

void SessionInterrupts::pause_work() {
  yield_if_spent();
  check();
}

void SessionInterrupts::sleep(int64_t duration_us) {
  WaitScope waits(report_, WaitEvent::retry_delay);
  int64_t until_us = monotonic_us() + duration_us;
  while (monotonic_us() < until_us && !cancelled_.load(std::memory_order_acquire)) park(until_us);
}

}  // namespace pgsilo
