// A session leaves its worker and goes on on another one (docs/session_moves.md).
#include <new>
#include <utility>

#include "server/session/session.h"
#include "server/session/session_handoff.h"
#include "server/session/session_registry.h"

namespace pgsilo {

// A message has come and nothing of it was done. What is of this worker or of this object alone
// must not be there: an open transaction, an answer that is under way, locks.
bool Session::may_move() const {
  const SessionState& state = state_;
  return state.transactions.state() == TransactionControl::State::idle && answered_ &&
         !skips_to_sync_ && !state.running_again && state.portals.empty() &&
         state.connection.may_be_replaced() && !state.interrupts.is_terminating() &&
         !state.transactions.advisory_locks().held_before() && !state.slots.has_temporary() &&
         !state.backup.is_used();
}

bool Session::leaves_worker() {
  // With the message that it came with it goes no further.
  bool has_come = std::exchange(has_come_, false);
  int destination = fiber_.destination();
  if (destination < 0 || has_come || !may_move()) return false;
  try {
    handoff_ = pack();
  } catch (const std::bad_alloc&) {
    return false;  // it stays
  }
  handoff_->destination = destination;
  // From here on nobody finds this object.
  state_.services.sessions.begin_move(process_, state_.activity);
  registered_ = false;
  handoff_->input = state_.connection.take_input();
  handoff_->sequences = state_.sequences.leave();
  handoff_->statements = std::move(state_.statements);
  handoff_->temporary_schema = std::move(state_.temporary_schema);
  return true;
}

// Copies: nothing is taken away before there is memory for all of it. What moves without any is
// taken behind that.
std::unique_ptr<SessionHandoff> Session::pack() const {
  auto handoff = std::make_unique<SessionHandoff>();
  handoff->process = process_;
  handoff->activity = state_.shared_activity;
  handoff->settings = state_.settings.copy();
  handoff->speaker = state_.log.speaker();
  handoff->user_name = state_.context.user_name;
  handoff->session_user_name = state_.context.session_user_name;
  handoff->settings_key = state_.settings_key;
  handoff->settings_number = state_.settings_number;
  handoff->random = state_.context.random;
  handoff->caution = state_.transactions.block_caution();
  handoff->reported = reported_;
  handoff->reported_generation = reported_generation_;
  return handoff;
}

// The session's first act here. Throws std::bad_alloc; it is registered in any case.
void Session::unpack(std::unique_ptr<SessionHandoff> handoff) {
  has_come_ = true;
  state_.services.sessions.end_move(process_, state_.interrupts, state_.activity,
                                    state_.transactions.storage().lock_owner(),
                                    state_.services.worker.index());
  state_.connection.begin_with(std::move(handoff->input));
  state_.settings.become(*handoff->settings);
  state_.settings_key = std::move(handoff->settings_key);
  state_.settings_number = handoff->settings_number;
  state_.log.set_speaker(std::move(handoff->speaker));
  state_.context.user_name = std::move(handoff->user_name);
  state_.context.session_user_name = std::move(handoff->session_user_name);
  state_.context.backend_pid = process_;
  state_.context.random = handoff->random;
  state_.transactions.set_block_caution(handoff->caution);
  state_.temporary_schema = std::move(handoff->temporary_schema);
  state_.sequences = std::move(handoff->sequences);
  state_.statements = std::move(handoff->statements);
  state_.statements.arrive();
  reported_ = std::move(handoff->reported);
  reported_generation_ = handoff->reported_generation;
  state_.apply_settings();
}

std::unique_ptr<SessionHandoff> Session::take_handoff() { return std::move(handoff_); }

}  // namespace pgsilo
