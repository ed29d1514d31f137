#include "server/session/session.h"

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include "base/clock.h"
#include "server/limits.h"
#include "server/net/client_socket.h"
#include "server/pgwire/message_reader.h"
#include "server/session/session_handoff.h"
#include "sql/internal_error.h"
#include "sql/memory_error.h"
#include "sql/types/date_time.h"
#include "sql/types/text.h"

namespace pgsilo {
namespace {

SqlError fatal(SqlState state, std::string_view message) {
  return SqlError(Severity::fatal, state, std::string(message));
}

SessionActivity::State idle_state(TransactionControl::State state) {
  switch (state) {
    case TransactionControl::State::block:
      return SessionActivity::State::idle_in_transaction;
    case TransactionControl::State::failed:
      return SessionActivity::State::idle_in_failed_transaction;
    default:
      return SessionActivity::State::idle;
  }
}

int64_t coarse_now_us() {
  return coarse_unix_time_us() - postgres_epoch_unix_seconds * usecs_per_second;
}

struct TimeoutIndexes {
  int statement = find_setting("statement_timeout");
  int idle = find_setting("idle_session_timeout");
  int idle_in_transaction = find_setting("idle_in_transaction_session_timeout");
};
const TimeoutIndexes& timeouts() {
  static const TimeoutIndexes found;
  return found;
}

}  // namespace

Session::Session(const SessionServices& services, WorkerFiber& fiber, int descriptor,
                 std::unique_ptr<SessionHandoff> handoff)
    : fiber_(fiber),
      handoff_(std::move(handoff)),
      state_(services, fiber, descriptor, *this, handoff_.get()),
      commands_(state_),
      runner_(state_, commands_),
      extended_(state_, runner_),
      normalized_(state_, runner_),
      retry_(static_cast<uint64_t>(monotonic_ns())) {
  commands_.set_runner(runner_);
  state_.runner = &runner_;
  state_.context.long_reader = this;
  state_.context.outside_acts = this;
  if (handoff_ == nullptr) return;
  process_ = handoff_->process;
  registered_ = true;
}

Session::~Session() { leave(); }

void Session::run() {
  std::optional<SqlError> failure;
  try {
    if (begin()) serve();
  } catch (const std::bad_alloc&) {
    // Not even an error could be told for want of memory. What follows is outside of the handler,
    // for it may park.
    state_.connection.give_up(out_of_memory_farewell());
  } catch (...) {
    failure = error_of_current_exception();
  }
  if (failure) end_by_failure(*failure);
  leave();
  constexpr int64_t farewell_us = 5000000;
  state_.connection.drain(monotonic_us() + farewell_us);
}

void Session::serve() {
  while (!ended_ && serve_message()) {
  }
}

// Within an answer only the transaction's own limit: the client's next message may be long in
// coming, as in PostgreSQL.
int64_t Session::idle_deadline_us() const {
  if (!answered_) return state_.interrupts.transaction_deadline_us();
  bool in_transaction = state_.transactions.state() != TransactionControl::State::idle;
  int64_t limit_ms =
      state_.settings.value(in_transaction ? timeouts().idle_in_transaction : timeouts().idle)
          .integer;
  int64_t deadline_us = limit_ms == 0 ? Parker::no_deadline : monotonic_us() + limit_ms * 1000;
  return std::min(deadline_us, state_.interrupts.transaction_deadline_us());
}

// A wait for the client ended before it did anything, though the connection is whole.
void Session::end_by_timeout() {
  if (state_.interrupts.is_terminating())
    return say_goodbye(SessionInterrupts::termination_error());
  if (state_.interrupts.transaction_expired())
    return say_goodbye(SessionInterrupts::transaction_timeout_error());
  bool in_transaction = state_.transactions.state() != TransactionControl::State::idle;
  if (in_transaction && state_.interrupts.idling_ends())
    return say_goodbye(SessionInterrupts::memory_error());
  say_goodbye(in_transaction ? fatal(sqlstate::idle_in_transaction_session_timeout,
                                     "terminating connection due to idle-in-transaction timeout")
                             : fatal(sqlstate::idle_session_timeout,
                                     "terminating connection due to idle-session timeout"));
}

// The client has sent no whole message more. False: the session is over.
bool Session::await_frame(Frame* frame) {
  state_.transactions.let_writers_in();
  state_.transactions.begin_client_wait();
  state_.interrupts.begin_pause();
  if (!read_patiently(frame, idle_deadline_us())) {
    if (!state_.connection.end_of_input() && !state_.connection.broken()) end_by_timeout();
    return false;
  }
  state_.transactions.end_client_wait();
  return true;
}

// Reads one message and runs it; false when the session is over. Handlers of exceptions only note
// what happened: a fiber must not be suspended inside of one.
bool Session::serve_message() {
  if (state_.transactions.state() == TransactionControl::State::idle &&
      !state_.reply.holds_output() && !state_.running_again) {
    set_replay_point();
  }
  std::optional<SqlError> error;
  std::optional<TransactionStatus> conflict;
  Frame frame;
  bool is_unread = false;  // the message is still to come
  try {
    state_.log.forget_statement();
    if (!find_frame(state_.connection, &frame) && !await_frame(&frame)) return false;
    if (answered_ && leaves_worker()) return false;
    answered_ = false;
    state_.in_query = static_cast<FrontendMessage>(frame.type) == FrontendMessage::query;
    ends_answer_ =
        state_.in_query || static_cast<FrontendMessage>(frame.type) == FrontendMessage::sync;
    state_.one_of_several = false;
    replays_messages_ |= !state_.in_query;
    if (frame.refused) {
      is_unread = true;
      answer_begins();  // what is thrown away cannot run again
      is_unread = false;
      if (!refuse(frame)) return false;
    } else {
      state_.connection.consume(frame.total_bytes);
      limit_replay(frame.total_bytes);
      dispatch(frame);
    }
    // The block ended inside of a pipeline: what follows is another transaction.
    if (state_.transactions.state() == TransactionControl::State::idle &&
        state_.reply.holds_output()) {
      let_leave();
      state_.running_again = false;  // of what ended; the next message begins what may run again
    } else if (state_.transactions.take_part_committed()) {
      let_part_leave();
    } else {
      state_.reply.limit_held();
    }
  } catch (const TransactionConflict& caught) {
    error = caught;
    conflict = caught.status();
  } catch (...) {
    error = error_of_current_exception();
  }
  bool goes_back = error && recover(*error, conflict ? &*conflict : nullptr);
  if (is_unread && !goes_back && !ended_) return discard(frame);
  return !ended_;
}

// The message is thrown away as it comes. False: the session is over.
bool Session::discard(const Frame& frame) {
  give_up_replay();
  int64_t deadline_us = state_.interrupts.transaction_deadline_us();
  if (state_.connection.discard(frame.total_bytes, deadline_us, begin_idling())) return true;
  if (!state_.connection.end_of_input() && !state_.connection.broken()) end_by_timeout();
  return false;
}

// It is too long for the memory there is.
bool Session::refuse(const Frame& frame) {
  if (!discard(frame)) return false;
  // What is left of a COPY that failed has been told already.
  if (!skips_to_sync_ && static_cast<FrontendMessage>(frame.type) != FrontendMessage::copy_data)
    throw memory_limit_error();
  return true;
}

void Session::start_clock() {
  state_.interrupts.start_clock(state_.settings.value(timeouts().statement).integer);
}

void Session::dispatch(const Frame& frame) {
  auto type = static_cast<FrontendMessage>(frame.type);
  message_ = type;
  if (skips_to_sync_ && type != FrontendMessage::sync && type != FrontendMessage::terminate) return;
  if (type != FrontendMessage::terminate) state_.interrupts.check_clock();
  bool runs = state_.in_query || type == FrontendMessage::execute ||
              type == FrontendMessage::parse || type == FrontendMessage::bind;
  if (runs || state_.transactions.state() == TransactionControl::State::idle)
    state_.transactions.set_clock();
  if (runs && !state_.running_again)
    state_.log.begin_message(state_.context.statement_timestamp_us +
                             postgres_epoch_unix_seconds * usecs_per_second);
  if (runs || type == FrontendMessage::describe) {
    if (!state_.running_again) state_.interrupts.begin_command();
    start_clock();
  }
  switch (type) {
    case FrontendMessage::query: {
      MessageReader reader(frame.body);
      std::string_view text = reader.cstring();
      reader.end();
      run_query(text);
      return;
    }
    case FrontendMessage::parse:
      return extended_.parse(frame.body);
    case FrontendMessage::bind:
      return extended_.bind(frame.body);
    case FrontendMessage::describe:
      return extended_.describe(frame.body);
    case FrontendMessage::execute:
      executed_ = true;
      return extended_.execute(frame.body);
    case FrontendMessage::close:
      return extended_.close(frame.body);
    case FrontendMessage::sync:
      return sync();
    case FrontendMessage::flush:
      return flush();
    case FrontendMessage::terminate:
      ended_ = true;
      end_ = End::asked_for;
      return;
    case FrontendMessage::function_call:
      ends_answer_ = true;
      throw_unsupported("the function call protocol");
    case FrontendMessage::copy_data:
    case FrontendMessage::copy_done:
    case FrontendMessage::copy_fail:
      // Left over from a COPY that failed.
      return;
    case FrontendMessage::password:
      break;
  }
}

void Session::run_query(std::string_view text) {
  state_.statements.remove({});
  state_.portals.remove({});
  more_statements_ = false;
  validate_text(text);  // before anybody else is shown it
  state_.log.set_statement(text);
  if (!state_.running_again) state_.activity.begin(text, state_.context.statement_timestamp_us);
  if (run_normalized(text)) return end_query();
  std::shared_ptr<CachedText> parsed = runner_.parse(text, {}, false);
  // The message does not last when COPY reads on.
  query_syntax_ = parsed->syntax;
  state_.log.set_statement(query_syntax_->text);
  if (state_.log.wants_statements()) log_query(text, parsed->syntax->statements);
  if (normalized_.entry() == nullptr) state_.run_counted(*parsed, parsed->syntax->text);
  size_t count = parsed->syntax->statements.size();
  state_.one_of_several = count > 1;
  if (count == 0) state_.reply.messages().bare(BackendMessage::empty_query_response);
  if (!state_.running_again) first_statement_ = 0;
  for (size_t i = first_statement_; i < count; ++i) {
    more_statements_ = i + 1 < count;
    run_statement(parsed, i);
    if (!more_statements_) break;
    state_.interrupts.stop_clock();
    start_clock();
    if (state_.transactions.take_part_committed()) let_part_leave();
    if (state_.transactions.state() != TransactionControl::State::idle) continue;
    let_leave();
    if (state_.transactions.can_replay()) {
      // What has ended must not run again: the next run begins behind it.
      state_.transactions.set_can_replay(true);
      first_statement_ = i + 1;
      // Behind messages before this one: there is no way back to the middle of it alone.
      if (replays_messages_) give_up_replay();
    }
  }
  end_query();
}

// What cannot be committed is not told to be complete.
void Session::end_query() {
  try {
    state_.transactions.commit_implicit();
  } catch (const SqlError&) {
    if (state_.reply.can_return_to(before_tag_)) state_.reply.return_to(before_tag_);
    throw;
  }
  if (state_.log.wants_durations()) state_.log.query_done(state_.log.statement());
  sync();
}

// EXECUTE counts as what it runs.
void Session::log_query(std::string_view text, std::span<const ast::RawStatement> statements) {
  StatementClass least = StatementClass::all;
  std::string_view prepared;
  for (const ast::RawStatement& each : statements) {
    StatementClass type = statement_class(*each.statement);
    if (const auto* execute = ast::try_as<ast::ExecuteStmt>(each.statement)) {
      std::shared_ptr<PreparedStatement> found = state_.statements.find(execute->name);
      if (found != nullptr && found->node != nullptr) {
        type = statement_class(*found->node);
        prepared = found->text->syntax->text;
      }
    }
    least = std::min(least, type);
  }
  state_.log.query(text, least, prepared);
}

void Session::run_statement(const std::shared_ptr<CachedText>& text, size_t index) {
  runner_.begin(text->syntax->statements[index].statement);
  state_.interrupts.give_way();  // a text may have many
  state_.interrupts.check();
  run_portal(normalized_.bind_statement(text, index));
}

void Session::run_portal(const std::shared_ptr<Portal>& portal) {
  if (portal->statement->returns_rows) {
    state_.reply.messages().row_description(portal->statement->result_columns,
                                            portal->result_formats);
  }
  StatementRunner::Outcome outcome = runner_.run(portal, 0);
  before_tag_ = state_.reply.position();
  state_.reply.messages().command_complete(outcome.tag);
}

// The text is one statement that came before with other literals.
bool Session::run_normalized(std::string_view text) {
  if (state_.transactions.state() == TransactionControl::State::failed) {
    normalized_.forget();
    return false;
  }
  state_.transactions.begin_statement();
  std::shared_ptr<Portal> portal = normalized_.bind(text);
  if (normalized_.entry() != nullptr) state_.run_counted(*normalized_.entry(), normalized_.text());
  if (portal == nullptr) return false;
  if (state_.log.wants_statements())
    state_.log.query(text, statement_class(*portal->statement->node), {});
  state_.interrupts.check();
  run_portal(portal);
  return true;
}

void Session::sync() {
  state_.transactions.commit_implicit();
  skips_to_sync_ = false;
  ready();
}

// What is held leaves now. Parse and Describe alone are no reason to lose the right to run again:
// they end here.
void Session::flush() {
  if (!state_.reply.holds_output()) return;
  if (state_.portals.empty() && !state_.transactions.storage().has_writes() && !executed_) {
    state_.transactions.commit_implicit();
  } else {
    answer_begins();
  }
  let_leave();
  // Of what ended; the next message begins what may run again.
  if (state_.transactions.state() == TransactionControl::State::idle) state_.running_again = false;
}

void Session::release() {
  state_.reply.rest_on(state_.transactions.awaited_epoch());
  state_.reply.release();
  state_.statements.set_replay_point();
}

// Part of the answer is committed, and the transaction goes on.
void Session::let_part_leave() {
  state_.transactions.validate();
  give_up_replay();
  let_leave();
}

// The answer goes on: not before its reader has kept up.
void Session::let_leave() {
  release();
  if (state_.connection.backlog_bytes() <= limits::output_backlog_bytes ||
      state_.connection.wait_for_backlog(limits::output_backlog_bytes, Parker::no_deadline,
                                         state_.interrupts.begin_client_wait()))
    return;
  state_.interrupts.check_client_wait();
  throw SqlError(Severity::fatal, sqlstate::connection_failure, "connection to client lost");
}

// The end of an answer.
void Session::ready() {
  state_.interrupts.end_command();
  answered_ = true;
  report_settings();
  state_.reply.messages().ready_for_query(state_.transactions.ready_state());
  release();
  if (state_.transactions.state() != TransactionControl::State::idle) {
    // The block's answers so far have left: nothing of it runs again, whatever its COMMIT meets.
    give_up_replay();
  }
  static_cast<void>(state_.transactions.take_part_committed());  // it has left
  state_.reply.reset_limit();
  state_.log.forget_statement();
  query_syntax_.reset();
  executed_ = false;
  if (state_.running_again || retry_.failures() != 0) {
    state_.running_again = false;
    retry_.reset();
    state_.transactions.set_careful(false);
    state_.transactions.set_keeps_writers_out(false);
    state_.transactions.set_reads_snapshot(false);
  }
  if (state_.portals.empty()) state_.statement_memory.reset();
  state_.activity.end(idle_state(state_.transactions.state()), coarse_now_us());
  if (state_.connection.backlog_bytes() > limits::output_backlog_bytes) wait_for_reader();
}

// A client that does not read the end of its answer is as idle as one that sends nothing.
void Session::wait_for_reader() {
  if (!state_.connection.wait_for_backlog(limits::output_backlog_bytes, idle_deadline_us(),
                                          begin_idling()) &&
      !state_.connection.broken()) {
    end_by_timeout();
  }
}

void Session::report_settings() {
  if (reported_generation_ == state_.settings.generation()) return;
  reported_generation_ = state_.settings.generation();
  state_.apply_settings();
  auto reported = state_.settings.reported_settings();
  for (size_t i = 0; i < reported.size(); ++i) {
    const std::string& value = state_.settings.value(reported[i]).text;
    if (reported_[i] == value) continue;
    reported_[i] = value;
    state_.reply.messages().parameter_status(
        setting_definitions()[static_cast<size_t>(reported[i])].name, value);
  }
}

}  // namespace pgsilo
