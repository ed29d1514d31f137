#include "base/check.h"

#include <array>
#include <cstdio>

#include "base/crash_report.h"
#include "base/server_log.h"

namespace pgsilo {
namespace {
constexpr int64_t last_lines_patience_us = 2'000'000;
}  // namespace

void check_failed(const char* expression, const char* file, int line) noexcept {
  std::array<char, 1024> why{};
  std::snprintf(why.data(), why.size(), "check failed: %s at %s:%d", expression, file, line);
  // What was said before comes first.
  flush_server_log(last_lines_patience_us);
  stop_process(why.data());
}
}  // namespace pgsilo
