// The server's log on standard error: what the parts of the server say through base/server_log.h,
// and what sessions say (server/session/session_log.h). Entries are formatted where they arise and
// written by a thread of their own (base/log_writer.h).
// Thread safety: any thread. While it lives it is the door of base/server_log.h.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/log_writer.h"
#include "base/server_log.h"
#include "server/log/log_line.h"

namespace pgsilo {

class ServerSettings;

class ServerLog final : public ServerLogDoor {
 public:
  explicit ServerLog(const ServerSettings& settings);
  ~ServerLog();
  ServerLog(const ServerLog&) = delete;
  ServerLog& operator=(const ServerLog&) = delete;

  // What the server itself says, if log_min_messages wants it.
  void write(LogLevel level, std::string_view message, std::string_view detail,
             std::string_view hint) noexcept override;
  // Whether it is wanted the speaker has seen to.
  void write(const LogEntry& entry, const LogSpeaker& speaker, LogVerbosity verbosity) noexcept;
  void flush(int64_t limit_us) noexcept override { writer_.drain(limit_us); }

 private:
  LogSpeaker server() const;
  std::string describe_loss(uint64_t entries) const;

  const std::string prefix_;
  const LogLevel least_;
  const LogVerbosity verbosity_;
  const int64_t start_us_;
  mutable std::atomic<uint64_t> lines_{0};
  LogWriter writer_;
};

}  // namespace pgsilo
