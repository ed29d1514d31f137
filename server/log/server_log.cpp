#include "server/log/server_log.h"

#include <unistd.h>

#include <new>

#include "base/clock.h"
#include "server/limits.h"
#include "server/settings/settings.h"

namespace pgsilo {

ServerLog::ServerLog(const ServerSettings& settings)
    : prefix_(settings.value("log_line_prefix").text),
      least_(static_cast<LogLevel>(settings.value("log_min_messages").integer)),
      verbosity_(static_cast<LogVerbosity>(settings.value("log_error_verbosity").integer)),
      start_us_(unix_time_us()),
      writer_(STDERR_FILENO, limits::queued_log_bytes,
              [this](uint64_t entries) { return describe_loss(entries); }) {
  set_server_log(this);
}

ServerLog::~ServerLog() { set_server_log(nullptr); }

LogSpeaker ServerLog::server() const {
  LogSpeaker speaker;
  speaker.process = getpid();
  speaker.start_us = start_us_;
  speaker.line = lines_.fetch_add(1, std::memory_order_relaxed) + 1;
  return speaker;
}

void ServerLog::write(LogLevel level, std::string_view message, std::string_view detail,
                      std::string_view hint) noexcept {
  if (level < least_) return;
  LogEntry entry;
  entry.level = level;
  entry.message = message;
  entry.detail = detail;
  entry.hint = hint;
  write(entry, server(), verbosity_);
}

void ServerLog::write(const LogEntry& entry, const LogSpeaker& speaker,
                      LogVerbosity verbosity) noexcept {
  try {
    writer_.write(format_log_entry(entry, speaker, prefix_, verbosity, unix_time_us()));
  } catch (const std::bad_alloc&) {
    // Better a plain line than none, and the writer counts it if not even that is possible.
    writer_.write("LOG:  out of memory while writing to the server's log\n");
  }
}

std::string ServerLog::describe_loss(uint64_t entries) const {
  LogEntry entry;
  entry.level = LogLevel::warning;
  std::string message = std::to_string(entries) +
                        " entries of the server's log were dropped, because they came faster than "
                        "they were written";
  entry.message = message;
  return format_log_entry(entry, server(), prefix_, verbosity_, unix_time_us());
}

}  // namespace pgsilo
