// The two clocks of the machine. Thread-safe.
#pragma once

#include <cstdint>
#include <ctime>

namespace pgsilo {

// Never goes back; its zero means nothing. The clock of deadlines (base/parker.h) and of time
// budgets.
inline int64_t monotonic_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1000000000 + now.tv_nsec;
}
inline int64_t monotonic_us() { return monotonic_ns() / 1000; }

// Microseconds since 1970-01-01 00:00 UTC; jumps when somebody sets the clock.
inline int64_t unix_time_us() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return int64_t{now.tv_sec} * 1000000 + now.tv_nsec / 1000;
}

}  // namespace pgsilo
