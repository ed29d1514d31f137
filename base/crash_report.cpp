#include "base/crash_report.h"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

#include "base/sanitizers.h"
#include "base/stack_trace.h"

namespace pgsilo {
namespace {

constexpr size_t signal_stack_bytes = size_t{256} << 10;
std::atomic<const CrashWitness*> crash_witness{nullptr};
constexpr unsigned patience_seconds = 10;
std::atomic<pid_t> reporter{0};  // the thread that reports

void put(const char* text) {
  // Nothing is left to be done about a failure.
  static_cast<void>(!write(STDERR_FILENO, text, std::strlen(text)));
}

// Who comes second waits for the end, unless he is the first again: he has failed while he
// reported.
void report(const char* why) noexcept {
  pid_t first = 0;
  if (!reporter.compare_exchange_strong(first, gettid())) {
    if (first != gettid()) sleep(patience_seconds);
    return;
  }
  alarm(patience_seconds);  // a report that gets stuck ends as well
  put("pgsilo: PANIC:  ");
  put(why);
  put("\n");
  if (const CrashWitness* witness = crash_witness.load()) witness->tell(STDERR_FILENO);
  put("pgsilo: the stack:\n");
  print_stack_trace(STDERR_FILENO);
}

[[noreturn]] void uncaught() {
  std::array<char, 512> why{};
  std::snprintf(why.data(), why.size(), "terminated");
  if (std::current_exception() != nullptr) {
    try {
      throw;
    } catch (const std::exception& error) {
      std::snprintf(why.data(), why.size(), "uncaught exception: %s", error.what());
    } catch (...) {
      std::snprintf(why.data(), why.size(), "uncaught exception of an unknown type");
    }
  }
  stop_process(why.data());
}

#if !defined(PGSILO_ASAN) && !defined(PGSILO_TSAN)
constexpr int fatal_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

const char* signal_text(int number) {
  switch (number) {
    case SIGSEGV:
      return "SIGSEGV: an invalid memory access, or a stack that is used up";
    case SIGBUS:
      return "SIGBUS: an invalid memory access";
    case SIGFPE:
      return "SIGFPE: an invalid arithmetic operation";
    case SIGILL:
      return "SIGILL: an invalid instruction";
    default:
      return "SIGABRT";
  }
}

// The default action is back already (SA_RESETHAND): the signal comes again and ends the process.
void on_fatal_signal(int number) {
  report(signal_text(number));
  raise(number);
}
#endif

}  // namespace

void set_crash_witness(const CrashWitness* witness) { crash_witness.store(witness); }

void stop_process(const char* why) noexcept {
  report(why);
  std::abort();
}

void install_crash_reports() {
  prepare_stack_traces();
  std::set_terminate(uncaught);
#if !defined(PGSILO_ASAN) && !defined(PGSILO_TSAN)
  for (int number : fatal_signals) {
    struct sigaction action{};
    action.sa_handler = on_fatal_signal;
    action.sa_flags = static_cast<int>(SA_ONSTACK | SA_RESETHAND);
    sigaction(number, &action, nullptr);
  }
#endif
}

CrashStack::CrashStack() {
#if !defined(PGSILO_ASAN) && !defined(PGSILO_TSAN)
  void* memory = mmap(nullptr, signal_stack_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) return;  // a report less
  memory_ = memory;
  stack_t stack{};
  stack.ss_sp = memory_;
  stack.ss_size = signal_stack_bytes;
  sigaltstack(&stack, nullptr);
#endif
}

CrashStack::~CrashStack() {
  if (memory_ == nullptr) return;
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  sigaltstack(&none, nullptr);
  munmap(memory_, signal_stack_bytes);
}

}  // namespace pgsilo
