// The door through which everybody says something to whoever runs the server: the server's log, as
// opposed to the log of commits. Who speaks knows neither where lines go nor how they look; the
// server says that (server/log). Until it has, and in programs that are no server, plain lines go
// to standard error.
// Thread safety: any thread, also before main() and after it. Nothing here waits for whoever reads
// the lines, but flush_server_log().
#pragma once

#include <cstdint>
#include <string_view>

namespace pgsilo {

// As PostgreSQL orders them for log_min_messages: LOG interests more than an error does.
enum class LogLevel : uint8_t {
  debug5,
  debug4,
  debug3,
  debug2,
  debug1,
  info,
  notice,
  warning,
  error,
  log,
  fatal,
  panic
};
// "DEBUG", ..., "PANIC".
std::string_view log_level_name(LogLevel level);

class ServerLogDoor {
 public:
  virtual void write(LogLevel level, std::string_view message, std::string_view detail,
                     std::string_view hint) noexcept = 0;
  // Until all that was said has been written, but not for much longer than `limit_us`.
  virtual void flush(int64_t limit_us) noexcept = 0;

 protected:
  ~ServerLogDoor() = default;
};

// It must outlive all who speak, or be taken away again with nullptr.
void set_server_log(ServerLogDoor* door) noexcept;

void write_server_log(LogLevel level, std::string_view message, std::string_view detail = {},
                      std::string_view hint = {}) noexcept;
void flush_server_log(int64_t limit_us) noexcept;

// The process is about to end by its own decision: the words are written, with all before them, for
// as long as that does not take too long.
void log_last_words(std::string_view message, std::string_view detail = {}) noexcept;

}  // namespace pgsilo
