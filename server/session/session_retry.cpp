#include <algorithm>
#include <cstdio>

#include "base/clock.h"
#include "base/memory_budget.h"
#include "executor/transaction_status.h"
#include "server/limits.h"
#include "server/session/session.h"
#include "server/statistics/worker_statistics.h"

namespace pgsilo {
namespace {

bool is_retryable(SqlState state) {
  return state == sqlstate::serialization_failure || state == sqlstate::deadlock_detected;
}

}  // namespace

void Session::set_replay_point() {
  state_.connection.set_replay_point();
  state_.statements.set_replay_point();
  state_.transactions.set_can_replay(true);
  replays_messages_ = false;
  longest_message_ = 0;
  first_statement_ = 0;
}

void Session::give_up_replay() {
  state_.transactions.set_can_replay(false);
  state_.running_again = false;
  state_.connection.drop_replay_point();
}

// Messages that are kept so that they can run again take memory: beside the longest of them, which
// had to be here whole, so much of it and only what memory_limit admits. More runs once.
void Session::limit_replay(size_t message_bytes) {
  longest_message_ = std::max(longest_message_, message_bytes);
  size_t kept = state_.connection.replay_bytes();
  if (kept <= longest_message_ + limits::free_message_bytes) return;
  if (kept > longest_message_ + limits::replayed_input_bytes || !memory_admits(message_bytes))
    answer_begins();
}

// The transaction is a one-shot that only reads, and nothing follows what runs now: a moment of the
// past that is not before its begin will do (docs/snapshots.md).
bool Session::reads_alone() const {
  if (!state_.only_reads || state_.transactions.in_block()) return false;
  if (state_.in_query) return !more_statements_;
  std::string_view next = state_.connection.unread();
  return message_ == FrontendMessage::sync ||
         (!next.empty() && static_cast<FrontendMessage>(next.front()) == FrontendMessage::sync);
}

// The answer has begun to leave, or part of it is committed: it cannot be taken back any more.
void Session::answer_begins() {
  if (!state_.transactions.can_replay()) return;
  state_.transactions.become_interactive();
  give_up_replay();
}

// An act is as good as an answer that has left; and each rests on what was read before it.
void Session::begin_act() {
  state_.transactions.validate();  // before the replay is given up
  answer_begins();
}

// What was said and has not left was not said.
void Session::take_back() {
  state_.reply.take_back();
  state_.statements.rewind();
}

// READ COMMITTED, of statements that may run again alone: the one that runs sees one moment since
// it began, the transaction's own writes included.
bool Session::read_statement_snapshot() {
  Transaction& transaction = state_.transactions.storage();
  if (!state_.context.may_read_past || transaction.snapshot() != nullptr)
    return transaction.snapshot() != nullptr;
  TransactionStatus status = transaction.begin_statement_snapshot();
  if (status != TransactionStatus::ok) raise_transaction_status(status);
  if (transaction.snapshot() == nullptr) return false;
  state_.snapshot_opened(transaction.snapshot()->boundary());
  return true;
}

bool Session::read_snapshot() {
  if (state_.transactions.restarts_statements()) return read_statement_snapshot();
  if (!state_.transactions.can_replay() || !reads_alone()) return false;
  state_.transactions.become_snapshot();
  return state_.transactions.storage().mode() == TransactionMode::snapshot;
}

// READ COMMITTED: who has answered must not be beaten, and a one-shot keeps all that it has read.
// Only who reads a snapshot may go on as that.
bool Session::answers_too_early() {
  const Transaction& transaction = state_.transactions.storage();
  return transaction.is_open() && transaction.mode() == TransactionMode::one_shot &&
         transaction.isolation() == Isolation::read_committed && !reads_alone() &&
         may_run_again(TransactionStatus::conflict_record);
}

void Session::output_is_full() {
  state_.interrupts.check();
  if (answers_too_early()) {
    retry_.want_intents();
    raise_transaction_status(TransactionStatus::conflict_record);
  }
  // What has left cannot be taken back: from here on no conflict may come.
  static_cast<void>(read_snapshot());
  state_.transactions.validate();  // before the replay is given up
  answer_begins();
  state_.transactions.let_go_of_caution();  // others would wait for a client
  let_leave();
  // Each validation looks at all reads so far: pieces that grow keep the sum of them linear.
  if (memory_admits(limits::largest_held_output_bytes)) state_.reply.raise_limit();
}

// Nobody waits for long for a client because of what a block reads with caution.
bool Session::read_patiently(Frame* frame, int64_t deadline_us) {
  if (state_.transactions.is_cautious()) {
    const int64_t patient_us = monotonic_us() + BlockCaution::longest_wait_us;
    if (read_frame(state_.connection, frame, std::min(patient_us, deadline_us), begin_idling()))
      return true;
    if (state_.connection.end_of_input() || state_.connection.broken()) return false;
    state_.transactions.let_go_of_caution();
  }
  return read_frame(state_.connection, frame, deadline_us, begin_idling());
}

// What a one-shot has said rests on reads that nobody has looked at again.
bool Session::answer_is_unvalidated() const {
  return state_.transactions.storage().mode() == TransactionMode::one_shot;
}

bool Session::recover(const SqlError& error, const TransactionStatus* conflict) {
  SqlError reason = state_.interrupts.explain(error);
  bool last_words = reason.diagnostic().severity >= Severity::fatal;
  bool is_unvalidated = answer_is_unvalidated();
  std::optional<TransactionStatus> again;
  if (conflict != nullptr) {
    again = *conflict;
  } else {
    // An error is an answer, and so is what was said before it: what they rest on must have been
    // true.
    try {
      state_.transactions.validate();
    } catch (const TransactionConflict& caught) {
      if (last_words || rests_on_nothing(reason)) {
        take_back();
      } else {
        again = caught.status();
        reason = caught;
      }
    } catch (const SqlError& caught) {
      // A cancelled wait for somebody's commit: nobody knows what was true, and nobody is told.
      take_back();
      if (!rests_on_nothing(reason)) reason = state_.interrupts.explain(caught);
    }
  }
  if (again) count_abort(*again);
  runner_.end_piece(/*took_place=*/!again);
  if (again && !last_words && may_run_again(*again)) {
    std::optional<SqlError> ended = try_again(*again);
    if (!ended) return true;
    reason = *ended;
    is_unvalidated = true;
  }
  // What was said so far did not happen, and may never have been true.
  if (again && is_unvalidated) take_back();
  log_internal_error(reason);
  if (is_retryable(reason.state()) && state_.counted != nullptr) state_.counted->failures.add();
  if (reason.diagnostic().severity >= Severity::fatal) {
    say_goodbye(reason);
  } else {
    fail(reason);
  }
  return false;
}

// Back to the replay point; or what has ended that.
std::optional<SqlError> Session::try_again(TransactionStatus conflict) {
  try {
    run_again(conflict);
  } catch (const TransactionConflict& caught) {
    count_abort(caught.status());
    return caught;
  } catch (const SqlError& caught) {
    return state_.interrupts.explain(caught);
  }
  return std::nullopt;
}

bool Session::may_run_again(TransactionStatus conflict) {
  if (!state_.transactions.may_run_again() || state_.transactions.in_block()) return false;
  const AdvisoryLocks& locks = state_.transactions.advisory_locks();
  if (!locks.can_undo() || locks.stands()) return false;
  // The victim of a deadlock must let go of what others wait for.
  return conflict != TransactionStatus::deadlock || !locks.held_before();
}

// Back to the replay point. The waits come first: when one of them fails, its error is the answer.
void Session::run_again(TransactionStatus conflict) {
  bool only_reads = reads_alone();
  retry_.note_lost(state_.transactions.storage().written_records());
  state_.transactions.abandon_for_retry(conflict);
  int64_t delay_us = retry_.next_delay_us(conflict);
  if (retry_.is_exhausted()) raise_transaction_status(conflict);
  state_.transactions.set_careful(retry_.takes_intents());
  state_.keep_writers_out(retry_.keeps_writers_out());
  if (delay_us > 0) state_.interrupts.sleep(delay_us);
  state_.interrupts.check();
  state_.context.check_client();
  state_.transactions.advisory_locks().undo();
  if (conflict == TransactionStatus::deadlock) state_.transactions.advisory_locks().settle();
  state_.transactions.set_reads_snapshot(only_reads && retry_.failures() >=
                                                           limits::read_failures_before_snapshot);
  take_back();
  state_.connection.rewind();
  skips_to_sync_ = false;
  state_.interrupts.restart_clock();
  state_.running_again = true;
  if (state_.counted != nullptr) state_.counted->retries.add();
}

// A conflict is laid to the statement that ran last: it met it, or the commit behind it did.
void Session::count_abort(TransactionStatus status) {
  if (status == TransactionStatus::deadlock) state_.services.statistics.deadlocks.add();
  if (state_.counted != nullptr) state_.counted->aborts[static_cast<size_t>(status)].add();
}

// A mistake of ours: what is needed to find it.
void Session::log_internal_error(const SqlError& error) const {
  const SqlDiagnostic& said = error.diagnostic();
  if (said.log_detail.empty()) return;
  std::fprintf(stderr, "pgsilo: ERROR:  %.*s: %s\npgsilo: DETAIL:  %s\npgsilo: STATEMENT:  %s\n",
               static_cast<int>(said.state.text().size()), said.state.text().data(),
               said.message.c_str(), said.log_detail.c_str(), state_.activity.query().c_str());
}

void Session::fail(const SqlError& error) {
  state_.transactions.fail(error.diagnostic().state);
  state_.slots.drop_temporary();  // as in PostgreSQL
  state_.reply.rest_on(state_.transactions.awaited_epoch());
  state_.reply.error(error);
  skips_to_sync_ = !ends_answer_;
  if (ends_answer_) return ready();
  state_.interrupts.end_command();
  // As in PostgreSQL an error leaves at once, and all that was said before it: its client may read
  // on before it sends Sync.
  give_up_replay();
  release();
}

// What was said before it is told too, if it was true.
void Session::say_goodbye(const SqlError& error) {
  if (answer_is_unvalidated()) {
    try {
      state_.transactions.validate();
    } catch (const SqlError&) {
      take_back();
    }
  }
  ended_ = true;
  end_ = error.state() == sqlstate::admin_shutdown ? End::killed : End::fatal;
  state_.transactions.abandon();
  state_.reply.farewell(error);
  state_.reply.rest_on(state_.transactions.awaited_epoch());
  state_.reply.release();
}

}  // namespace pgsilo
