// One client's session: a fiber that reads messages, runs them and answers, from the start-up
// packet to the end.
//
// A one-shot (docs/commit_protocol.md) is everything from a replay point to the next time the
// transaction ends. While nothing of its answer has left, a conflict takes the answer back, rolls
// back, and goes back to the replay point in the input: the same messages run again. From the first
// byte that leaves, conflicts are the client's (40001). So they are behind what is committed while
// the answer goes on in a transaction: AND CHAIN, an index built CONCURRENTLY. That leaves at once.
//
// Thread safety: none; the session's fiber.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "executor/transaction_status.h"
#include "executor/worker/retry_policy.h"
#include "server/pgwire/frame.h"
#include "server/pgwire/protocol.h"
#include "server/session/extended_query.h"
#include "server/session/normalized_query.h"
#include "server/session/session_commands.h"
#include "server/session/session_state.h"
#include "server/session/statement_runner.h"

namespace pgsilo {

struct StartupPacket;
struct StartupParameters;
struct SessionHandoff;

class Session final : public OutputValve, public LongReader, public OutsideActs {
 public:
  // `handoff`: of the session that goes on here; null: a new one begins.
  Session(const SessionServices& services, WorkerFiber& fiber, int descriptor,
          std::unique_ptr<SessionHandoff> handoff);
  ~Session() override;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void run();
  // run() has returned: with what the session goes on elsewhere; null: it has ended.
  std::unique_ptr<SessionHandoff> take_handoff();

 private:
  bool begin();

  // session_start.cpp
  bool start();
  std::optional<StartupPacket> read_startup_packet();
  void greet();
  void begin_session(const StartupParameters& parameters);
  void introduce(std::string_view user);
  void send_parameters();

  // session_move.cpp
  bool leaves_worker();
  bool may_move() const;
  std::unique_ptr<SessionHandoff> pack() const;
  void unpack(std::unique_ptr<SessionHandoff> handoff);

  // session.cpp
  void serve();
  bool serve_message();
  bool await_frame(Frame* frame);
  bool read_patiently(Frame* frame, int64_t deadline_us);
  int64_t idle_deadline_us() const;
  void end_by_timeout();
  void wait_for_reader();
  bool discard(const Frame& frame);
  StopFlags begin_idling() {
    bool in_transaction = state_.transactions.state() != TransactionControl::State::idle;
    return state_.interrupts.begin_idling(in_transaction);
  }
  bool refuse(const Frame& frame);
  void dispatch(const Frame& frame);
  void start_clock();
  void run_query(std::string_view text);
  void log_query(std::string_view text, std::span<const ast::RawStatement> statements);
  bool run_normalized(std::string_view text);
  void run_statement(const std::shared_ptr<CachedText>& text, size_t index);
  void run_portal(const std::shared_ptr<Portal>& portal);
  void end_query();
  void sync();
  void flush();
  void release() override;
  void let_leave();
  void ready();
  void count_end() const;
  void leave();
  void report_settings();

  // session_retry.cpp: what happens when a message failed, or must not be run again
  void set_replay_point();
  // What ran so far does not run again; the next message begins what may.
  void give_up_replay();
  void take_back();
  void let_part_leave();
  void limit_replay(size_t message_bytes);
  bool reads_alone() const;
  void answer_begins() override;
  bool answers_too_early();
  void output_is_full() override;
  bool read_snapshot() override;
  bool read_statement_snapshot();
  void begin_act() override;
  // The failure of the message that was dispatched last. True: it runs again, from the replay
  // point.
  bool recover(const SqlError& error, const TransactionStatus* conflict);
  bool answer_is_unvalidated() const;
  bool may_run_again(TransactionStatus conflict);
  std::optional<SqlError> try_again(TransactionStatus conflict);
  void run_again(TransactionStatus conflict);
  void count_abort(TransactionStatus status);
  void fail(const SqlError& error);
  void say_goodbye(const SqlError& error);
  void end_by_failure(const SqlError& error);
  void log_internal_error(const SqlError& error) const;

  WorkerFiber& fiber_;
  std::unique_ptr<SessionHandoff> handoff_;  // with which it came, or goes
  bool has_come_ = false;                    // and has done nothing yet
  SessionState state_;
  SessionCommands commands_;
  StatementRunner runner_;
  ExtendedQuery extended_;
  NormalizedQuery normalized_;
  RetryPolicy retry_;
  int32_t process_ = 0;
  bool registered_ = false;
  bool ended_ = false;
  // How it ended, for pg_stat_database.
  enum class End : uint8_t { client_lost, asked_for, fatal, killed };
  End end_ = End::client_lost;
  bool replays_messages_ = false;  // the replay point lies before messages that are no Query
  size_t longest_message_ = 0;     // since the replay point
  bool skips_to_sync_ = false;
  bool executed_ = false;     // a portal was run since the last Sync
  bool answered_ = true;      // all that the client has asked for: it may idle
  bool ends_answer_ = false;  // it is answered with ReadyForQuery, also when it fails
  FrontendMessage message_ = FrontendMessage::sync;  // that was dispatched last
  bool more_statements_ = false;                     // of the query follow the one that runs
  size_t first_statement_ = 0;  // of the query at the replay point: those before it are committed
  std::shared_ptr<const CachedText::Syntax> query_syntax_;  // of the query that was parsed last
  Reply::Position before_tag_;         // of the statement of a query that ran last
  std::vector<std::string> reported_;  // values last told, by index into reported_settings()
  uint64_t reported_generation_ = 0;
};

}  // namespace pgsilo
