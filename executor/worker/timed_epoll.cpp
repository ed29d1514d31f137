#include "executor/worker/timed_epoll.h"

#include <poll.h>

#include <cerrno>

namespace pgsilo {
namespace {

// Per thread, as a sandbox may be.
thread_local bool kernel_takes_nanoseconds = true;

// What the kernel says to a call that it does not know, and a sandbox to one it does not allow.
bool is_refused(int error) { return error == ENOSYS || error == EPERM; }

// epoll_wait() counts in milliseconds, which would stretch pauses of microseconds: the descriptor
// of the epoll itself is waited for, with ppoll().
int wait_in_two_steps(int epoll, std::span<epoll_event> events, const timespec& timeout) {
  pollfd readable{.fd = epoll, .events = POLLIN, .revents = 0};
  int ready = ppoll(&readable, 1, &timeout, nullptr);
  if (ready <= 0) return ready;
  return epoll_wait(epoll, events.data(), static_cast<int>(events.size()), 0);
}

}  // namespace

int timed_epoll_wait(int epoll, std::span<epoll_event> events, int64_t timeout_us) {
  auto room = static_cast<int>(events.size());
  timespec timeout{.tv_sec = timeout_us / 1000000, .tv_nsec = timeout_us % 1000000 * 1000};
  if (kernel_takes_nanoseconds) {
    int count =
        epoll_pwait2(epoll, events.data(), room, timeout_us < 0 ? nullptr : &timeout, nullptr);
    if (count >= 0 || !is_refused(errno)) return count;
    kernel_takes_nanoseconds = false;
  }
  if (timeout_us <= 0) return epoll_wait(epoll, events.data(), room, timeout_us < 0 ? -1 : 0);
  return wait_in_two_steps(epoll, events, timeout);
}

}  // namespace pgsilo
