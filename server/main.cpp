// The server process: command line, signals, one line when it is ready.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include "base/crash_report.h"
#include "base/freed_memory.h"
#include "base/huge_pages.h"
#include "base/product_version.h"
#include "base/sanitizers.h"
#include "base/server_log.h"
#include "server/database.h"
#include "server/options.h"
#include "server/version.h"

namespace {

using namespace pgsilo;

constexpr int64_t last_words_us = 1'000'000;

// Lines of `why` behind the first are a detail, a hint, or first the one and then the other. They
// say which; one that does not is a hint.
int fail(std::string_view why) {
  constexpr std::string_view detail_mark = "DETAIL:  ", hint_mark = "HINT:  ";
  auto line_at = [&](size_t at) { return why.substr(at, why.find('\n', at) - at); };
  std::string_view message = line_at(0), detail, hint;
  for (size_t at = message.size() + 1; at < why.size(); at += line_at(at).size() + 1) {
    std::string_view line = line_at(at);
    if (line.starts_with(detail_mark)) {
      detail = line.substr(detail_mark.size());
    } else {
      hint = line.starts_with(hint_mark) ? line.substr(hint_mark.size()) : line;
    }
  }
  write_server_log(LogLevel::fatal, message, detail, hint);
  flush_server_log(last_words_us);
  return 1;
}

// Blocked in every thread, so that only wait_for_end() takes them. Those that mean nothing here are
// among them, for left alone they end a process: PostgreSQL's postmaster has a use for both users'
// signals, and alarms and sockets' ends may come from anywhere.
sigset_t block_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (int number : {SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM,
                     SIGPROF, SIGIO, SIGPWR, SIGTTIN, SIGTTOU}) {
    sigaddset(&signals, number);
  }
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  // A shell that starts it in the background has these ignored.
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGQUIT, SIG_DFL);
  std::signal(SIGPIPE, SIG_IGN);
  // A file that RLIMIT_FSIZE lets grow no further is an error of the write, as a full disk is.
  std::signal(SIGXFSZ, SIG_IGN);
  return signals;
}

constexpr timespec look_after = {.tv_sec = 0, .tv_nsec = 20'000'000};

// What is durable is recovered at the next start.
[[noreturn]] void end_at_once() {
  write_server_log(LogLevel::log, "received immediate shutdown request");
  flush_server_log(last_words_us);
  std::_Exit(2);
}

// PostgreSQL's: TERM lets clients end by themselves and refuses others, INT ends them, QUIT ends
// the process. One that asks for less than what is under way changes nothing.
void wait_for_end(const sigset_t& signals, Database& database) {
  bool is_closed = false;  // and the last client's leave is the end
  while (!is_closed || database.has_clients()) {
    int number =
        is_closed ? sigtimedwait(&signals, nullptr, &look_after) : sigwaitinfo(&signals, nullptr);
    switch (number) {
      case SIGHUP:
        write_server_log(LogLevel::log,
                         "received SIGHUP: there is no configuration file to reload");
        break;
      case SIGTERM:
        if (is_closed) break;
        write_server_log(LogLevel::log, "received smart shutdown request");
        database.refuse_clients();
        is_closed = true;
        break;
      case SIGINT:
        write_server_log(LogLevel::log, "received fast shutdown request");
        return;
      case SIGQUIT:
        end_at_once();
      default:
        break;
    }
  }
}

// A stop waits for what cannot be interrupted, QUIT does not.
void stop(Database& database) {
  std::jthread watch([](const std::stop_token& is_stopped) {
    sigset_t quit;
    sigemptyset(&quit);
    sigaddset(&quit, SIGQUIT);
    do {  // looks once at least: it may have come before this began
      if (sigtimedwait(&quit, nullptr, &look_after) == SIGQUIT) end_at_once();
    } while (!is_stopped.stop_requested());
  });
  database.stop();
}

constexpr std::string_view no_huge_pages =
    "huge_pages is on, but the system gives none (/sys/kernel/mm/transparent_hugepage/enabled)";

// False if they are a must and there are none.
bool settle_huge_pages(std::string_view setting) {
  if (setting == "off") refuse_huge_pages();
  return setting != "on" || system_gives_huge_pages();
}

int serve(const Options& options, ServerSettings settings) {
  install_crash_reports();
  CrashStack crash_stack;
  sigset_t signals = block_signals();
  if (!settle_huge_pages(settings.value("huge_pages").text)) return fail(no_huge_pages);
  let_freed_memory_go_back();
  Database database(std::move(settings), options.data_directory);
  std::string why;
  if (!database.open(&why)) return fail(why);
  database.start();
  std::printf("pgsilo ready: %s (%zu workers)\n", database.address().c_str(),
              database.worker_count());
  std::fflush(stdout);
  write_server_log(LogLevel::log, "database system is ready to accept connections");
  wait_for_end(signals, database);
  stop(database);
  write_server_log(LogLevel::log, "database system is shut down");
  flush_server_log(last_words_us);
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
    case Options::Action::describe_config:
      std::fputs(describe_config().c_str(), stdout);
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
