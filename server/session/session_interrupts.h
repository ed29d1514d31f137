// What may come between a session and its statement: a cancel request, the time limits of the
// statement and of the transaction, an order to end. Also the session's Parker (every wait ends
// when the statement must) and its time budget (long statements give way). Time limits are
// deadlines that waits and yields look at: nobody keeps a timer. Thread safety: request_cancel(),
// request_termination(), request_end_of_idling() and unpark() from any thread while the session
// lives; the rest in its fiber.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/long_work.h"
#include "base/parker.h"
#include "executor/execution_context.h"
#include "executor/wait_report.h"
#include "executor/worker/worker_fiber.h"
#include "server/net/connection.h"
#include "sql/sql_error.h"

namespace pgsilo {

class LockOwner;

class SessionInterrupts final : public Parker, public TimeBudget, WorkPause {
 public:
  explicit SessionInterrupts(WorkerFiber& fiber) : fiber_(fiber) { fiber.set_work_pause(this); }
  ~SessionInterrupts() override { fiber_.set_work_pause(nullptr); }
  SessionInterrupts(const SessionInterrupts&) = delete;
  SessionInterrupts& operator=(const SessionInterrupts&) = delete;
  // Whose client it is that answers are for.
  void watch(const Connection& connection) { connection_ = &connection; }
  // Waits for which nobody has noted a reason are storage's: for a lock if `locks` waits for one.
  void report_to(WaitReport& report, LockOwner& locks) {
    report_ = &report;
    locks_ = &locks;
  }

  void request_cancel();
  void request_termination();
  // Somebody cancelled what is about to begin: it had been sent, and did not begin meanwhile.
  void cancel_next_command() {
    cancels_next_ = true;
    request_cancel();
  }
  // Ends the session if it waits for its client in a transaction: others need the memory that it
  // holds back. False: it has been asked before.
  bool request_end_of_idling();

  // The flag that running statements poll.
  const std::atomic<bool>& cancelled() const { return cancelled_; }
  const std::atomic<bool>& terminating() const { return terminating_; }
  // A wait for the client begins, in a transaction or not: the flag that ends it. Who was asked to
  // end before has done something since.
  StopFlags begin_idling(bool in_transaction) {
    if (idling_ends_.load(std::memory_order_relaxed))
      idling_ends_.store(false, std::memory_order_relaxed);
    return in_transaction ? &idling_ends_ : nullptr;
  }
  // The session is over: nothing comes between what it has left to do.
  void end();
  bool idling_ends() const { return idling_ends_.load(std::memory_order_acquire); }
  // The same in the midst of a statement, which may be cancelled.
  StopFlags begin_client_wait() {
    begin_idling(true);
    return {&idling_ends_, &cancelled_};
  }
  // Such a wait has come to nothing: throws as check(), or FATAL 53200.
  void check_client_wait();
  bool is_terminating() const { return terminating_.load(std::memory_order_relaxed); }

  // A message from the client is about to be handled: older cancel requests came too late.
  void begin_command();
  // The clock of statement_timeout (0: no limit) runs from here, unless it does already: a
  // statement's Parse, Bind and Execute are timed together, as in PostgreSQL.
  void start_clock(int64_t statement_timeout_ms);
  // A statement has ended. Its limit still holds for its commit, until the next one begins.
  void stop_clock() { clock_ = Clock::ended; }
  // All since end_command() runs again. A statement alone has one limit for all of its runs; of
  // several each is timed anew.
  void restart_clock();
  // The client has time to think. Behind the end of a statement nothing counts that.
  void begin_pause() {
    if (clock_ != Clock::runs) statement_deadline_us_ = no_deadline;
  }
  // Throws 57014 when the limit ran out while the client did nothing.
  void check_clock();
  // All that the client has asked for is answered.
  void end_command();
  // transaction_timeout as it is set now; it counts from begin_transaction(), or from here when the
  // open transaction had no limit. 0: none.
  void set_transaction_limit(int64_t limit_ms);
  // Begun already: the transaction runs again, its limit counts on.
  void begin_transaction();
  void end_transaction();
  // It has had its time.
  bool transaction_expired() {
    check_deadline();
    return expired_ == Expired::transaction;
  }
  int64_t transaction_deadline_us() const { return transaction_deadline_us_; }

  // Throws 57014 when the command was cancelled.
  void check();
  // An error that ended a command: 57014 gets the words for what really happened; FATAL when the
  // session must end (57P01, 25P04).
  SqlError explain(const SqlError& error) const;
  // FATAL: what a session that waited for its client ends with, if terminated or out of time.
  static SqlError termination_error();
  static SqlError transaction_timeout_error();
  static SqlError memory_error();

  void park(int64_t deadline_us = no_deadline) override;
  void park_for(WaitEvent event);
  void park_for_commit(int64_t deadline_us) override;
  void unpark() override { fiber_.unpark(); }
  void give_way() override { yield_if_spent(); }
  bool yield_if_spent() override;
  bool is_abandoned() const override {
    return connection_ != nullptr && connection_->peer_closed();
  }
  // Before another run: waits at least this long, but not past a cancel request.
  void sleep(int64_t duration_us);

 private:
  // WorkPause: gives way, and throws 57014 as check() does.
  void pause_work() override;
  void check_deadline();
  WaitEvent storage_wait();

  WorkerFiber& fiber_;
  const Connection* connection_ = nullptr;
  WaitReport* report_ = nullptr;
  LockOwner* locks_ = nullptr;
  std::atomic<bool> cancelled_{false};
  std::atomic<bool> terminating_{false};
  std::atomic<bool> idling_ends_{false};
  std::atomic<bool> over_{false};
  // Why cancelled_ is up, unless somebody asked.
  bool cancels_next_ = false;  // the next command is not too late for what was asked
  enum class Expired : uint8_t { nothing, statement, transaction };
  Expired expired_ = Expired::nothing;
  bool in_transaction_ = false;
  int64_t transaction_limit_ms_ = 0;
  enum class Clock : uint8_t { stands, runs, ended };
  Clock clock_ = Clock::stands;
  bool several_timed_ = false;  // since end_command()
  int64_t statement_deadline_us_ = no_deadline;
  int64_t transaction_deadline_us_ = no_deadline;
};

}  // namespace pgsilo
