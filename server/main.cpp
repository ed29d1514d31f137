// The server process: command line, signals, one line when it is ready.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>

#include "base/crash_report.h"
#include "base/sanitizers.h"
#include "server/database.h"
#include "server/options.h"
#include "server/version.h"

// Of jemalloc; null where something else allocates.
extern "C" int mallctl(const char* name, void* old_value, size_t* old_bytes, void* new_value,
                       size_t new_bytes) __attribute__((weak));

namespace {

using namespace pgsilo;

int fail(const std::string& why) {
  size_t line = why.find('\n');
  std::fprintf(stderr, "pgsilo: FATAL:  %s\n", why.substr(0, line).c_str());
  if (line != std::string::npos) std::fprintf(stderr, "pgsilo: %s\n", why.substr(line + 1).c_str());
  return 1;
}

// Blocked in every thread, so that only wait_for_end() takes them.
sigset_t block_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (int number : {SIGTERM, SIGINT, SIGQUIT, SIGHUP}) sigaddset(&signals, number);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  // A file that RLIMIT_FSIZE lets grow no further is an error of the write, as a full disk is.
  std::signal(SIGXFSZ, SIG_IGN);
  return signals;
}

void wait_for_end(const sigset_t& signals) {
  for (;;) {
    int number = 0;
    if (sigwait(&signals, &number) != 0 || number == SIGHUP) continue;
    // Immediate shutdown: what is durable is recovered at the next start.
    if (number == SIGQUIT) std::_Exit(2);
    return;
  }
}

// Also while nothing is allocated. Not in malloc_conf: jemalloc says that there it may end in a
// deadlock. Why: docs/decisions/memory-retention.md.
void let_freed_memory_go_back() {
  if (mallctl == nullptr) return;
  size_t threads = 1;
  mallctl("max_background_threads", nullptr, nullptr, &threads, sizeof threads);
  bool enabled = true;
  mallctl("background_thread", nullptr, nullptr, &enabled, sizeof enabled);
}

int serve(const Options& options, ServerSettings settings) {
  install_crash_reports();
  CrashStack crash_stack;
  sigset_t signals = block_signals();
  let_freed_memory_go_back();
  Database database(std::move(settings), options.data_directory);
  std::string why;
  if (!database.open(&why)) return fail(why);
  database.start();
  std::printf("pgsilo ready: %s (%zu workers)\n", database.address().c_str(),
              database.worker_count());
  std::fflush(stdout);
  wait_for_end(signals);
  database.stop();
#if !defined(PGSILO_ASAN) && !defined(PGSILO_TSAN)
  // The system frees a database faster than destructors do.
  std::_Exit(0);
#endif
  return 0;
}

}  // namespace

int main(int argument_count, char** arguments) {
  ServerSettings settings;
  Options options = read_options(argument_count, arguments, &settings);
  switch (options.action) {
    case Options::Action::print_version:
      std::printf("%s (PostgreSQL %s compatible)\n", std::string(product_version).c_str(),
                  std::string(server_version.substr(0, server_version.find(' '))).c_str());
      return 0;
    case Options::Action::print_help:
      std::fputs(help_text, stdout);
      return 0;
    case Options::Action::fail:
      return fail(options.problem);
    case Options::Action::run:
      break;
  }
  try {
    return serve(options, std::move(settings));
  } catch (const std::bad_alloc&) {
    return fail("out of memory");
  } catch (const std::exception& error) {
    return fail(error.what());
  }
}
