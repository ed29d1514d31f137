#include "base/server_log.h"

#include <atomic>
#include <cstdio>

namespace pgsilo {
namespace {

constexpr int64_t last_words_us = 2'000'000;

std::atomic<ServerLogDoor*> installed{nullptr};

void print_field(std::string_view name, std::string_view text) noexcept {
  if (text.empty()) return;
  std::fprintf(stderr, "%.*s:  %.*s\n", static_cast<int>(name.size()), name.data(),
               static_cast<int>(text.size()), text.data());
}

}  // namespace

std::string_view log_level_name(LogLevel level) {
  static constexpr std::string_view names[] = {"DEBUG", "DEBUG", "DEBUG",  "DEBUG",
                                               "DEBUG", "INFO",  "NOTICE", "WARNING",
                                               "ERROR", "LOG",   "FATAL",  "PANIC"};
  return names[static_cast<size_t>(level)];
}

void set_server_log(ServerLogDoor* door) noexcept {
  // Release: who finds the door finds it whole.
  installed.store(door, std::memory_order_release);
}

void write_server_log(LogLevel level, std::string_view message, std::string_view detail,
                      std::string_view hint) noexcept {
  if (ServerLogDoor* door = installed.load(std::memory_order_acquire)) {
    door->write(level, message, detail, hint);
    return;
  }
  print_field(log_level_name(level), message);
  print_field("DETAIL", detail);
  print_field("HINT", hint);
}

void flush_server_log(int64_t limit_us) noexcept {
  if (ServerLogDoor* door = installed.load(std::memory_order_acquire)) door->flush(limit_us);
}

void log_last_words(std::string_view message, std::string_view detail) noexcept {
  write_server_log(LogLevel::panic, message, detail);
  flush_server_log(last_words_us);
}

}  // namespace pgsilo
