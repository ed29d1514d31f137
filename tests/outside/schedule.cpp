#include "tests/outside/schedule.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bit>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace outside {
namespace {

void sleep_us(uint64_t us) {
  timespec time{.tv_sec = static_cast<time_t>(us / 1'000'000),
                .tv_nsec = static_cast<long>(us % 1'000'000 * 1000)};
  while (nanosleep(&time, &time) != 0) {
  }
}

void stall(Rule& rule) {
  rule.waiting.fetch_add(1);
  while (rule.armed.load(std::memory_order_acquire) != 0) sleep_us(1000);
  rule.waiting.fetch_sub(1);
}

// Whether this call is one of those that the rule is for; counts it.
bool applies(Rule& rule, CallKind kind, const std::string& path) {
  if (rule.armed.load(std::memory_order_acquire) == 0) return false;
  if ((rule.kinds & static_cast<uint32_t>(kind)) == 0) return false;
  if (fnmatch(rule.pattern, path.c_str(), 0) != 0) return false;
  uint64_t number = rule.seen.fetch_add(1) + 1;
  if (number < rule.first || (rule.count != 0 && number >= rule.first + rule.count)) return false;
  rule.fired.fetch_add(1);
  return true;
}

}  // namespace

void die_now() {
  syscall(SYS_kill, getpid(), SIGKILL);
  for (;;) pause();
}

ScheduleMemory* map_schedule(const char* path) {
  auto file = static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC));
  void* bytes =
      file < 0 ? MAP_FAILED
               : mmap(nullptr, sizeof(ScheduleMemory), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (file >= 0) syscall(SYS_close, file);
  auto* memory = static_cast<ScheduleMemory*>(bytes);
  if (bytes == MAP_FAILED || memory->magic != schedule_magic) {
    std::fprintf(stderr, "fault library: \"%s\" is no schedule\n", path);
    std::abort();
  }
  return memory;
}

Verdict judge_call(ScheduleMemory* memory, CallKind kind, const std::string& path) {
  if (memory == nullptr) return {};
  memory->calls[std::countr_zero(static_cast<uint32_t>(kind))].fetch_add(1);
  for (Rule& rule : memory->rules) {
    if (!applies(rule, kind, path)) continue;
    switch (rule.action) {
      case Action::die:
        die_now();
      case Action::stall:
        stall(rule);
        return {};
      case Action::delay:
        sleep_us(rule.amount);
        return {};
      case Action::die_during:
        if (kind != CallKind::write) die_now();
        [[fallthrough]];
      default:
        return {.action = rule.action, .error = rule.error, .amount = rule.amount};
    }
  }
  return {};
}

}  // namespace outside
