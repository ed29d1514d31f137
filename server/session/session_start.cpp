#include <array>

#include "base/byte_order.h"
#include "base/clock.h"
#include "server/limits.h"
#include "server/pgwire/startup.h"
#include "server/session/session.h"
#include "server/session/session_registry.h"
#include "server/statistics/worker_statistics.h"
#include "server/version.h"

namespace pgsilo {
namespace {

constexpr int64_t authentication_timeout_us = 60'000'000;

}  // namespace

// The first packets, up to ReadyForQuery. False: no session came of it.
bool Session::start() {
  std::optional<SqlError> error;
  try {
    uint32_t version = 0;
    std::string_view body;
    if (!read_startup_packet(&version, &body)) return false;
    if (version == cancel_request_code) {
      if (body.size() == 8) {
        state_.services.sessions.cancel(static_cast<int32_t>(load_be32(body.data())),
                                        static_cast<int32_t>(load_be32(body.data() + 4)));
      }
      return false;
    }
    begin_session(parse_startup(version, body));
  } catch (const SqlError& caught) {
    error = caught;
  }
  if (!error) return true;
  error->amend().severity = Severity::fatal;
  say_goodbye(*error);
  return false;
}

// Answers requests for encryption with "no" on the way.
bool Session::read_startup_packet(uint32_t* version, std::string_view* body) {
  Connection& connection = state_.connection;
  int64_t deadline_us = monotonic_us() + authentication_timeout_us;
  for (int requests = 0;; ++requests) {
    if (!connection.fill(4, deadline_us)) return false;
    uint32_t length = load_be32(connection.unread().data());
    if (length < 8 || length > limits::max_startup_bytes) {
      throw SqlError(sqlstate::protocol_violation, "invalid length of startup packet");
    }
    if (!connection.fill(length, deadline_us)) return false;
    std::string_view packet = connection.unread().substr(0, length);
    *version = load_be32(packet.data() + 4);
    *body = packet.substr(8);
    connection.consume(length);
    bool encryption = *version == ssl_request_code || *version == gssenc_request_code;
    // Each of the two may be asked for once.
    if (!encryption || requests == 2) return true;
    state_.reply.buffer().append('N');
    state_.reply.release();
  }
}

void Session::begin_session(const StartupParameters& parameters) {
  auto limit = static_cast<size_t>(state_.services.settings.value("max_connections").integer);
  int32_t secret = 0;
  introduce(parameters.user);
  if (!state_.services.sessions.add(state_.interrupts, state_.activity, limit, &process_,
                                    &secret)) {
    throw SqlError(sqlstate::too_many_connections, "sorry, too many clients already");
  }
  registered_ = true;
  state_.services.statistics.sessions.add();
  MessageWriter& messages = state_.reply.messages();
  if (parameters.minor_version > 0 || !parameters.unknown_protocol_options.empty()) {
    messages.negotiate_protocol_version(0, parameters.unknown_protocol_options);
  }
  // Any user is who he says he is.
  messages.authentication_ok();
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

  send_parameters();
  messages.backend_key_data(process_, secret);
  messages.ready_for_query(ReadyState::idle);
  state_.reply.release();
}

// What pg_stat_activity says of the session for good.
void Session::introduce(std::string_view user) {
  std::string address;
  int32_t port = -1;
  state_.connection.peer(&address, &port);
  state_.transactions.set_clock();
  state_.activity.introduce(user, &state_.transactions.storage().lock_owner(), std::move(address),
                            port, state_.context.statement_timestamp_us);
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
