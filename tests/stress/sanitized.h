// Stress tests run fewer rounds where a sanitizer makes each of them slower.
#pragma once

#include "base/sanitizers.h"

namespace pgsilo {

#if defined(PGSILO_ASAN) || defined(PGSILO_TSAN)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

}  // namespace pgsilo
