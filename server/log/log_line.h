// What an entry of the server's log looks like: PostgreSQL's, with log_line_prefix before each of
// its fields. Thread safety: pure functions of their arguments.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/server_log.h"

namespace pgsilo {

enum class LogVerbosity : uint8_t { terse, standard, verbose };

// Who speaks, for log_line_prefix.
struct LogSpeaker {
  bool is_session = false;
  int32_t process = 0;  // of a session: what pg_backend_pid() says
  std::string_view user;
  std::string_view database;
  std::string_view application;
  std::string_view host;  // "[local]" for Unix sockets
  int32_t port = -1;
  int64_t start_us = 0;  // since 1970
  uint64_t line = 0;     // its number among those of this speaker
  std::string_view command;
  uint64_t query_id = 0;
};

struct LogEntry {
  LogLevel level = LogLevel::log;
  std::string_view state = "00000";
  std::string_view message;
  std::string_view detail;
  std::string_view hint;
  std::string_view query;  // that the system made itself
  std::string_view context;
  std::string_view statement;  // empty: not told
  int position = -1;
  std::string_view routine;
  std::string_view file;
  uint32_t source_line = 0;
};

// PostgreSQL's escapes (%a %b %c %d %e %h %i %l %m %n %p %P %q %Q %r %s %t %u %v %x %%), padded
// where a number stands behind the percent sign. Others are left out, as there.
std::string format_log_prefix(std::string_view format, const LogSpeaker& speaker,
                              std::string_view state, int64_t now_us);

// Whole lines; those of one field that follow its first one begin with a tab.
std::string format_log_entry(const LogEntry& entry, const LogSpeaker& speaker,
                             std::string_view prefix_format, LogVerbosity verbosity,
                             int64_t now_us);

}  // namespace pgsilo
