// Assertions. PGSILO_CHECK stays on in every build: it guards data and stops the process when an
// invariant whose breach could lose data is broken. PGSILO_DCHECK is for everything else and exists
// in debug builds only.
#pragma once

namespace pgsilo {
[[noreturn]] void check_failed(const char* expression, const char* file, int line) noexcept;
}  // namespace pgsilo

#define PGSILO_CHECK(expression)                      \
  (__builtin_expect(static_cast<bool>(expression), 1) \
       ? static_cast<void>(0)                         \
       : ::pgsilo::check_failed(#expression, __FILE__, __LINE__))

#ifdef NDEBUG
#define PGSILO_DCHECK(expression) static_cast<void>(sizeof(static_cast<bool>(expression)))
#else
#define PGSILO_DCHECK(expression) PGSILO_CHECK(expression)
#endif
