#include <array>

#include "base/byte_order.h"
#include "base/clock.h"
#include "catalog/builtin_rows.h"
#include "server/limits.h"
#include "server/not_serving.h"
#include "server/pgwire/startup.h"
#include "server/session/session.h"
#include "server/session/session_handoff.h"
#include "server/session/session_registry.h"
#include "server/statistics/worker_statistics.h"
#include "server/version.h"

namespace pgsilo {

bool Session::begin() {
  fiber_.offer_to_move();
  if (handoff_ == nullptr) return start();
  unpack(std::move(handoff_));
  return true;
}

// The first packets, up to ReadyForQuery. False: no session came of it.
bool Session::start() {
  std::optional<SqlError> error;
  greet();
  SessionRegistry::Arrival arrival(state_.services.sessions, state_.interrupts);
  try {
    std::optional<StartupPacket> packet = read_startup_packet();
    if (!packet) {
      if (!state_.interrupts.is_terminating()) return false;
      throw shutting_down();
    }
    std::string_view body = packet->body;
    if (packet->version == cancel_request_code) {
      if (body.size() == 8) {
        state_.services.sessions.cancel(static_cast<int32_t>(load_be32(body.data())),
                                        static_cast<int32_t>(load_be32(body.data() + 4)));
      }
      return false;
    }
    begin_session(parse_startup(packet->version, body));
  } catch (const SqlError& caught) {
    error = caught;
  }
  if (!error) return true;
  error->amend().severity = Severity::fatal;
  say_goodbye(*error);
  return false;
}

// Answers requests for encryption with "no" on the way. None: the client went, stayed silent for
// too long, or the session is to end.
std::optional<StartupPacket> Session::read_startup_packet() {
  Connection& connection = state_.connection;
  int64_t deadline_us = monotonic_us() + limits::authentication_timeout_us;
  for (int requests = 0;; ++requests) {
    std::optional<StartupPacket> packet;
    while (!(packet = find_startup_packet(connection.unread()))) {
      if (!connection.fill(connection.unread().size() + 1, deadline_us)) return std::nullopt;
    }
    connection.consume(packet->total_bytes);
    if (!packet->asks_for_encryption() || requests == max_encryption_requests) return packet;
    state_.reply.buffer().append('N');
    state_.reply.release();
  }
}

void Session::begin_session(const StartupParameters& parameters) {
  auto limit = static_cast<size_t>(state_.services.settings.value("max_connections").integer);
  int32_t secret = 0;
  introduce(parameters.user);
  switch (
      state_.services.sessions.add(state_.interrupts, state_.activity, limit, &process_, &secret)) {
    case SessionRegistry::Admission::admitted:
      break;
    case SessionRegistry::Admission::full:
      throw too_many_clients();
    case SessionRegistry::Admission::closing:
      throw shutting_down();
  }
  registered_ = true;
  state_.log.introduce(parameters.user, parameters.database, process_);
  state_.services.statistics.sessions.add();
  MessageWriter& messages = state_.reply.messages();
  if (parameters.minor_version > 0 || !parameters.unknown_protocol_options.empty()) {
    messages.negotiate_protocol_version(protocol_version_3, parameters.unknown_protocol_options);
  }
  // Any user is who he says he is.
  messages.authentication_ok();
  if (parameters.user != bootstrap_role_name) {
    throw SqlError(sqlstate::invalid_authorization_specification,
                   concat("role \"", parameters.user, "\" does not exist"));
  }
  if (parameters.database != "postgres") {
    throw SqlError(sqlstate::invalid_catalog_name,
                   concat("database \"", parameters.database, "\" does not exist"));
  }
  state_.context.user_name = parameters.user;
  state_.context.session_user_name = parameters.user;
  state_.context.backend_pid = process_;
  state_.settings.set_user(parameters.user);
  for (const auto& [name, value] : parameters.settings) state_.settings.set_at_start(name, value);
  state_.apply_settings();

  state_.log.connection_authorized();
  send_parameters();
  messages.backend_key_data(process_, secret);
  messages.ready_for_query(ReadyState::idle);
  state_.reply.release();
}

// In the server's log, whoever it will turn out to be.
void Session::greet() {
  std::string address;
  int32_t port = -1;
  state_.connection.peer(&address, &port);
  state_.log.connection_received(std::move(address), port);
}

// What pg_stat_activity says of the session for good.
void Session::introduce(std::string_view user) {
  std::string address;
  int32_t port = -1;
  state_.connection.peer(&address, &port);
  state_.transactions.set_clock();
  state_.activity.introduce(user, &state_.transactions.storage().lock_owner(), std::move(address),
                            port, state_.context.statement_timestamp_us);
  state_.activity.set_worker(state_.services.worker.index());
}

void Session::send_parameters() {
  for (int index : state_.settings.reported_settings()) {
    const std::string& value = state_.settings.value(index).text;
    state_.reply.messages().parameter_status(setting_definitions()[static_cast<size_t>(index)].name,
                                             value);
    reported_.push_back(value);
  }
  reported_generation_ = state_.settings.generation();
}

}  // namespace pgsilo
