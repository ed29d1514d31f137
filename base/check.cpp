#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace pgsilo {
void check_failed(const char* expression, const char* file, int line) noexcept {
  std::fprintf(stderr, "pgsilo: check failed: %s at %s:%d\n", expression, file, line);
  std::abort();
}
}  // namespace pgsilo
