#include "executor/worker/thread_scheduling.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <charconv>

#include "base/clock.h"

namespace pgsilo {

ThreadScheduling::~ThreadScheduling() {
  if (times_ >= 0) close(times_);
}

void ThreadScheduling::begin() {
  leave_cpu(true);
  times_ = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  ThreadTimes ignored;
  if (times_ < 0 || read_times(&ignored)) return;
  close(times_);
  times_ = -1;
}

void ThreadScheduling::choose(int64_t now_us, uint64_t done) {
  ThreadTimes times;
  if (!read_times(&times)) return;
  bool leave = rule_.leaves_cpu(now_us, times, done);
  if (leave != leaves_) leave_cpu(leave);
  leaves_ = leave;
}

void ThreadScheduling::give_way(int64_t now_us) {
  sched_yield();
  yield_rule_.gave_way(now_us, monotonic_us());
}

// Refused, it only costs speed.
void ThreadScheduling::leave_cpu(bool leave) {
  sched_param no_priority{};
  static_cast<void>(
      pthread_setschedparam(pthread_self(), leave ? SCHED_BATCH : SCHED_OTHER, &no_priority));
}

// Three numbers: nanoseconds run, nanoseconds waited, turns.
bool ThreadScheduling::read_times(ThreadTimes* times) const {
  char text[96];
  ssize_t length = pread(times_, text, sizeof text, 0);
  if (length <= 0) return false;
  const char* at = text;
  const char* end = text + length;
  int64_t numbers[3];
  for (int64_t& number : numbers) {
    while (at < end && *at == ' ') ++at;
    auto [next, error] = std::from_chars(at, end, number);
    if (error != std::errc()) return false;
    at = next;
  }
  *times = {.ran_us = numbers[0] / 1000, .waited_us = numbers[1] / 1000, .turns = numbers[2]};
  return true;
}

}  // namespace pgsilo
