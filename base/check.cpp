#include "base/check.h"

#include <array>
#include <cstdio>

#include "base/crash_report.h"

namespace pgsilo {
void check_failed(const char* expression, const char* file, int line) noexcept {
  std::array<char, 1024> why{};
  std::snprintf(why.data(), why.size(), "check failed: %s at %s:%d", expression, file, line);
  stop_process(why.data());
}
}  // namespace pgsilo
