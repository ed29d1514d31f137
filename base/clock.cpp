#include "base/clock.h"

#include <time.h>

namespace pgsilo {

int64_t MonotonicClock::now_us() const {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1000000 + now.tv_nsec / 1000;
}

}  // namespace pgsilo
