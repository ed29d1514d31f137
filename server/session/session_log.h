// What one session says in the server's log: its errors and warnings with the statement they came
// from, its statements, how long they took, its beginning and its end, in PostgreSQL's words and by
// its settings (log_*). While nothing is to be logged a message costs a look at the settings'
// generation.
//
// A one-shot that runs again is one run here, which took as long as all of them.
//
// Thread safety: none; the session's fiber.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "server/log/server_log.h"
#include "server/session/portal.h"
#include "server/session/statement_class.h"
#include "server/settings/settings.h"
#include "sql/sql_error.h"

namespace pgsilo {

struct TypeContext;

// "unnamed portal", `portal "p"`.
std::string portal_title(std::string_view name);
// In quotes, and cut off behind `limit` bytes if that is not negative: 'it''s...'.
std::string quoted_parameter(std::string_view value, int64_t limit);

class SessionLog {
 public:
  SessionLog(ServerLog& log, const Settings& settings);

  // --- the session ---
  void connection_received(std::string host, int32_t port);
  void introduce(std::string_view user, std::string_view database, int32_t process);
  // The session goes on on another worker: who it is.
  struct Speaker {
    std::string host = "[local]";
    int32_t port = -1;
    std::string user;
    std::string database;
    int32_t process = 0;
    int64_t start_us = 0;
    uint64_t lines = 0;
  };
  const Speaker& speaker() const { return speaker_; }
  void set_speaker(Speaker speaker) { speaker_ = std::move(speaker); }
  void connection_authorized();
  void disconnection();

  // --- whose fault it is ---
  // `text` is run from here on; it lives until forget_statement().
  void set_statement(std::string_view text) { statement_ = text; }
  std::string_view statement() const { return statement_; }
  void forget_statement() { statement_ = {}; }
  // An error, a warning or the like: what the client is told, if log_min_messages wants it here.
  void report(const SqlDiagnostic& diagnostic);
  // `what` ends before how long it took.
  void lock_wait(std::string_view what, int64_t waited_us, std::string_view detail);

  // --- statements ---
  // A message that runs something has come, not for the second time; when (since 1970).
  void begin_message(int64_t now_us) {
    logged_ = false;
    pending_ = true;
    started_us_ = now_us;
  }
  // The statements of a simple query are about to run, of which one is of this class. `prepared`:
  // the text that an EXECUTE among them runs.
  bool wants_statements() {
    refresh();
    return statements_ != StatementClass::none;
  }
  void query(std::string_view text, StatementClass type, std::string_view prepared);
  void execute(const Portal& portal, std::string_view name, const TypeContext& types);
  // What a message ran is done.
  bool wants_durations() {
    refresh();
    return pending_ && (log_duration_ || min_duration_ms_ >= 0);
  }
  void query_done(std::string_view text);
  void parse_done(std::string_view name, std::string_view text);
  void bind_done(const Portal& portal, std::string_view name, const TypeContext& types);
  void execute_done(const Portal& portal, std::string_view name, const TypeContext& types);

  // For CONTEXT: "unnamed portal with parameters: $1 = '5'"; empty:
  // log_parameter_max_length_on_error wants none.
  std::string parameter_context(const Portal& portal, std::string_view name,
                                const TypeContext& types) const;

  int64_t parameter_length_on_error() const;

 private:
  void refresh() {
    if (generation_ != settings_.generation()) [[unlikely]]
      read_settings();
  }
  void read_settings();
  bool wants(LogLevel level) const { return level >= least_; }
  void write(LogEntry entry);
  void say(std::string_view message, std::string_view detail = {});
  // "execute <unnamed>", "bind name/portal".
  static std::string title(std::string_view verb, std::string_view statement,
                           std::string_view portal);
  std::string parameters(const Portal& portal, const TypeContext& types, int64_t limit) const;
  std::string parameter_detail(const Portal& portal, const TypeContext& types) const;
  enum class Duration : uint8_t { no, bare, with_statement };
  Duration duration(std::string* text);
  void done(const std::string& what, std::string_view statement, std::string_view detail);

  ServerLog& log_;
  const Settings& settings_;
  // By the server's settings: what its client says comes too late.
  const bool log_connections_;
  uint64_t generation_ = 0;
  LogLevel least_ = LogLevel::warning;
  LogLevel least_with_statement_ = LogLevel::error;
  LogVerbosity verbosity_ = LogVerbosity::standard;
  StatementClass statements_ = StatementClass::none;
  bool log_duration_ = false;
  int64_t min_duration_ms_ = -1;

  Speaker speaker_;
  std::string_view statement_;
  int64_t started_us_ = 0;
  bool pending_ = false;  // the message that runs has not been said to be done
  bool logged_ = false;   // what it runs was told
};

}  // namespace pgsilo
