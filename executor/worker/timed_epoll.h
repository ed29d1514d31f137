// epoll_wait() with a timeout in microseconds, on kernels and in sandboxes without epoll_pwait2(),
// too (Linux before 5.11, seccomp profiles that do not know it, valgrind).
// Thread safety: any thread.
#pragma once

#include <sys/epoll.h>

#include <cstdint>
#include <span>

namespace pgsilo {

// Negative timeout: no limit. The number of events, or -1 and errno.
int timed_epoll_wait(int epoll, std::span<epoll_event> events, int64_t timeout_us);

}  // namespace pgsilo
