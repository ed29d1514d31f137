#include "server/session/session_log.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/byte_buffer.h"
#include "base/clock.h"
#include "base/long_work.h"
#include "server/settings/settings.h"
#include "sql/types/text.h"
#include "sql/types/type.h"

namespace pgsilo {
namespace {

struct Indexes {
  int min_messages = find_setting("log_min_messages");
  int min_error_statement = find_setting("log_min_error_statement");
  int verbosity = find_setting("log_error_verbosity");
  int statement = find_setting("log_statement");
  int duration = find_setting("log_duration");
  int min_duration = find_setting("log_min_duration_statement");
  int connections = find_setting("log_connections");
  int disconnections = find_setting("log_disconnections");
  int parameter_length = find_setting("log_parameter_max_length");
  int parameter_length_on_error = find_setting("log_parameter_max_length_on_error");
  int application_name = find_setting("application_name");
};
const Indexes& indexes() {
  static const Indexes found;
  return found;
}

LogLevel level_of(Severity severity) {
  static constexpr LogLevel levels[] = {LogLevel::debug1, LogLevel::log,     LogLevel::info,
                                        LogLevel::notice, LogLevel::warning, LogLevel::error,
                                        LogLevel::fatal,  LogLevel::panic};
  return levels[static_cast<size_t>(severity)];
}

std::string milliseconds(int64_t us) {
  std::array<char, 40> text;
  std::snprintf(text.data(), text.size(), "%lld.%03d ms", static_cast<long long>(us / 1000),
                static_cast<int>(us % 1000));
  return text.data();
}

std::string hours(int64_t us) {
  int64_t milliseconds = us / 1000;
  std::array<char, 40> text;
  std::snprintf(text.data(), text.size(), "%lld:%02d:%02d.%03d",
                static_cast<long long>(milliseconds / 3'600'000),
                static_cast<int>(milliseconds / 60'000 % 60),
                static_cast<int>(milliseconds / 1000 % 60), static_cast<int>(milliseconds % 1000));
  return text.data();
}

}  // namespace

std::string portal_title(std::string_view name) {
  return name.empty() ? std::string("unnamed portal") : concat("portal \"", name, "\"");
}

std::string quoted_parameter(std::string_view value, int64_t limit) {
  bool cut = limit >= 0 && value.size() > static_cast<size_t>(limit);
  if (cut) value = text_clip(value, static_cast<size_t>(limit));
  std::string quoted = "'";
  for (char c : value) {
    if (c == '\'') quoted += '\'';
    quoted += c;
  }
  return quoted + (cut ? "...'" : "'");
}

SessionLog::SessionLog(ServerLog& log, const Settings& settings)
    : log_(log),
      settings_(settings),
      log_connections_(settings.value(indexes().connections).integer != 0) {
  speaker_.start_us = unix_time_us();
  refresh();
}

void SessionLog::read_settings() {
  generation_ = settings_.generation();
  const Indexes& at = indexes();
  auto number = [&](int index) { return settings_.value(index).integer; };
  least_ = static_cast<LogLevel>(number(at.min_messages));
  least_with_statement_ = static_cast<LogLevel>(number(at.min_error_statement));
  verbosity_ = static_cast<LogVerbosity>(number(at.verbosity));
  statements_ = static_cast<StatementClass>(number(at.statement));
  log_duration_ = number(at.duration) != 0;
  min_duration_ms_ = number(at.min_duration);
}

void SessionLog::write(LogEntry entry) {
  LogSpeaker speaker{
      .is_session = true,
      .process = speaker_.process,
      .user = speaker_.user,
      .database = speaker_.database,
      .application = settings_.value(indexes().application_name).text,
      .host = speaker_.host,
      .port = speaker_.port,
      .start_us = speaker_.start_us,
      .line = ++speaker_.lines,
      .command = {},
  };
  log_.write(entry, speaker, verbosity_);
}

void SessionLog::say(std::string_view message, std::string_view detail) {
  if (!wants(LogLevel::log)) return;
  LogEntry entry;
  entry.message = message;
  entry.detail = detail;
  write(entry);
}

// --- the session ---

void SessionLog::connection_received(std::string host, int32_t port) {
  if (!host.empty()) speaker_.host = std::move(host);
  speaker_.port = port;
  if (!log_connections_) return;
  say(speaker_.port < 0
          ? concat("connection received: host=", speaker_.host)
          : concat("connection received: host=", speaker_.host, " port=", speaker_.port));
}

void SessionLog::introduce(std::string_view user, std::string_view database, int32_t process) {
  speaker_.user = user;
  speaker_.database = database;
  speaker_.process = process;
}

void SessionLog::connection_authorized() {
  if (!log_connections_) return;
  const std::string& application = settings_.value(indexes().application_name).text;
  std::string text =
      concat("connection authorized: user=", speaker_.user, " database=", speaker_.database);
  if (!application.empty()) text += concat(" application_name=", application);
  say(text);
}

void SessionLog::disconnection() {
  if (settings_.value(indexes().disconnections).integer == 0) return;
  std::string text =
      concat("disconnection: session time: ", hours(unix_time_us() - speaker_.start_us),
             " user=", speaker_.user, " database=", speaker_.database, " host=", speaker_.host);
  if (speaker_.port >= 0) text += concat(" port=", speaker_.port);
  say(text);
}

void SessionLog::report(const SqlDiagnostic& d) {
  refresh();
  LogLevel level = level_of(d.severity);
  if (!wants(level)) return;
  LogEntry entry;
  entry.level = level;
  entry.state = d.state.text();
  entry.message = d.message;
  entry.detail = d.detail;
  entry.hint = d.hint;
  entry.query = d.internal_query;
  entry.context = d.context;
  entry.position = d.position;
  entry.file = source_file(d);
  entry.routine = source_routine(d);
  entry.source_line = d.place.line();
  if (level >= least_with_statement_) entry.statement = statement_;
  write(entry);
}

void SessionLog::lock_wait(std::string_view what, int64_t waited_us, std::string_view detail) {
  refresh();
  if (!wants(LogLevel::log)) return;
  std::string message = concat(what, milliseconds(waited_us));
  LogEntry entry;
  entry.message = message;
  entry.detail = detail;
  if (LogLevel::log >= least_with_statement_) entry.statement = statement_;
  write(entry);
}

// --- statements ---

void SessionLog::query(std::string_view text, StatementClass type, std::string_view prepared) {
  if (type > statements_ || logged_) return;
  logged_ = true;
  say(concat("statement: ", text),
      prepared.empty() ? std::string() : concat("prepare: ", prepared));
}

std::string SessionLog::title(std::string_view verb, std::string_view statement,
                              std::string_view portal) {
  std::string text = concat(verb, " ", statement.empty() ? "<unnamed>" : statement);
  if (!portal.empty()) text += concat("/", portal);
  return text;
}

std::string SessionLog::parameters(const Portal& portal, const TypeContext& types,
                                   int64_t limit) const {
  // An error may be what is being told.
  UnpausedWork unpaused;
  std::string text;
  ByteBuffer value;
  value.set_asks(false);
  for (size_t i = 0; i < portal.parameters.size(); ++i) {
    if (i != 0) text += ", ";
    text += concat("$", i + 1, " = ");
    const Datum& parameter = portal.parameters[i];
    if (parameter.null) {
      text += "NULL";
      continue;
    }
    value.clear();
    type_info(portal.statement->parameter_types[i]).print(parameter, value, types);
    text += quoted_parameter(value.view(), limit);
  }
  return text;
}

std::string SessionLog::parameter_detail(const Portal& portal, const TypeContext& types) const {
  int64_t limit = settings_.value(indexes().parameter_length).integer;
  if (limit == 0 || portal.parameters.empty()) return {};
  return concat("parameters: ", parameters(portal, types, limit));
}

int64_t SessionLog::parameter_length_on_error() const {
  return settings_.value(indexes().parameter_length_on_error).integer;
}

std::string SessionLog::parameter_context(const Portal& portal, std::string_view name,
                                          const TypeContext& types) const {
  int64_t limit = parameter_length_on_error();
  if (limit == 0 || portal.parameters.empty()) return {};
  return concat(portal_title(name), " with parameters: ", parameters(portal, types, limit));
}

void SessionLog::execute(const Portal& portal, std::string_view name, const TypeContext& types) {
  const PreparedStatement& statement = *portal.statement;
  StatementClass type = statement_class(*statement.node);
  if (type > statements_ || logged_) return;
  logged_ = true;
  std::string verb = portal.state == Portal::State::suspended ? "execute fetch from" : "execute";
  say(concat(title(verb, portal.statement_name, name), ": ", statement.text->syntax->text),
      parameter_detail(portal, types));
}

SessionLog::Duration SessionLog::duration(std::string* text) {
  if (!pending_) return Duration::no;
  pending_ = false;
  int64_t took_us = unix_time_us() - started_us_;
  bool exceeded =
      min_duration_ms_ == 0 || (min_duration_ms_ > 0 && took_us >= min_duration_ms_ * 1000);
  if (!exceeded && !log_duration_) return Duration::no;
  *text = concat("duration: ", milliseconds(std::max<int64_t>(took_us, 0)));
  return exceeded && !logged_ ? Duration::with_statement : Duration::bare;
}

void SessionLog::done(const std::string& what, std::string_view statement,
                      std::string_view detail) {
  std::string text;
  switch (duration(&text)) {
    case Duration::no:
      return;
    case Duration::bare:
      return say(text);
    case Duration::with_statement:
      return say(concat(text, "  ", what, ": ", statement), detail);
  }
}

void SessionLog::query_done(std::string_view text) { done("statement", text, {}); }

void SessionLog::parse_done(std::string_view name, std::string_view text) {
  done(title("parse", name, {}), text, {});
}

void SessionLog::bind_done(const Portal& portal, std::string_view name, const TypeContext& types) {
  done(title("bind", portal.statement_name, name), portal.statement->text->syntax->text,
       parameter_detail(portal, types));
}

void SessionLog::execute_done(const Portal& portal, std::string_view name,
                              const TypeContext& types) {
  done(title("execute", portal.statement_name, name), portal.statement->text->syntax->text,
       parameter_detail(portal, types));
}

}  // namespace pgsilo
