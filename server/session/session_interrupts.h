// What may come between a session and its statement: a cancel request, the statement's time limit,
// the server's end. Also the session's Parker (every wait ends when the statement must) and its
// time budget (long statements give way). Thread safety: request_cancel(), request_termination()
// and unpark() from any thread while the session lives; the rest in its fiber.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/parker.h"
#include "executor/execution_context.h"
#include "executor/worker/worker_fiber.h"
#include "sql/sql_error.h"

namespace pgsilo {

class SessionInterrupts final : public Parker, public TimeBudget {
 public:
  explicit SessionInterrupts(WorkerFiber& fiber) : fiber_(fiber) {}

  void request_cancel();
  void request_termination();

  // The flag that running statements poll.
  const std::atomic<bool>& cancelled() const { return cancelled_; }
  const std::atomic<bool>& terminating() const { return terminating_; }
  bool is_terminating() const { return terminating_.load(std::memory_order_relaxed); }

  // A message from the client is about to be handled: older cancel requests came too late. 0: no
  // limit.
  void begin_command(int64_t statement_timeout_ms);
  void end_command() { deadline_us_ = no_deadline; }
  // Throws 57014 when the command was cancelled.
  void check();
  // An error that ended a command: 57014 gets the words for what really happened; FATAL 57P01 when
  // the server stops.
  SqlError explain(const SqlError& error) const;

  void park(int64_t deadline_us = no_deadline) override;
  void unpark() override { fiber_.unpark(); }
  bool yield_if_spent() override;
  // Waits at least this long, but not past a cancel request.
  void sleep(int64_t duration_us);

 private:
  void check_deadline();

  WorkerFiber& fiber_;
  std::atomic<bool> cancelled_{false};
  std::atomic<bool> terminating_{false};
  bool timed_out_ = false;
  int64_t deadline_us_ = no_deadline;
};

}  // namespace pgsilo
