#include "tests/sessions/server_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

namespace pgsilo::sessions {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

template <typename Condition>
bool within(std::chrono::seconds limit, Condition condition) {
  auto until = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

}  // namespace

ServerProcess::ServerProcess(std::string binary, std::string directory, int port,
                             std::vector<std::string> flags)
    : binary_(std::move(binary)),
      directory_(std::move(directory)),
      flags_(std::move(flags)),
      address_{directory_, port} {
  std::filesystem::create_directories(directory_);
}

ServerProcess::~ServerProcess() { kill(); }

bool ServerProcess::start() {
  std::string log = directory_ + "/log";
  std::vector<std::string> words = {binary_,    "-D", directory_ + "/data",          "-k",
                                    directory_, "-p", std::to_string(address_.port), "-h",
                                    ""};
  words.insert(words.end(), flags_.begin(), flags_.end());
  std::vector<char*> arguments;
  for (std::string& each : words) arguments.push_back(each.data());
  arguments.push_back(nullptr);
  std::filesystem::remove(log);  // an older start's readiness is none
  process_ = fork();
  if (process_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int file = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
    dup2(file, 1);
    dup2(file, 2);
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  bool is_ready = within(std::chrono::seconds(120), [&] {
    return text_of(log).find("pgsilo ready") != std::string::npos || !is_running();
  });
  return is_ready && is_running();
}

void ServerProcess::note_end(int status) {
  if (WIFSIGNALED(status)) {
    ended_as_ = "signal " + std::to_string(WTERMSIG(status));
  } else {
    ended_as_ = "status " + std::to_string(WEXITSTATUS(status));
  }
  process_ = -1;
}

bool ServerProcess::is_running() {
  if (process_ < 0) return false;
  int status = 0;
  if (waitpid(process_, &status, WNOHANG) == process_) note_end(status);
  return process_ >= 0;
}

bool ServerProcess::goes_on() {
  return !within(std::chrono::seconds(1), [&] { return !is_running(); });
}

bool ServerProcess::stop() {
  if (!is_running()) return false;
  ::kill(process_, SIGINT);
  if (!within(std::chrono::seconds(120), [&] { return !is_running(); })) return false;
  return ended_as_ == "status 0";
}

void ServerProcess::kill() {
  if (process_ < 0) return;
  ::kill(process_, SIGKILL);
  int status = 0;
  waitpid(process_, &status, 0);
  note_end(status);
}

std::string ServerProcess::stacks() const {
  std::string command = "timeout 60 gdb -p " + std::to_string(process_) +
                        " -batch -ex 'thread apply all bt 25' 2>/dev/null";
  std::string text;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return text;
  char buffer[4096];
  while (size_t count = fread(buffer, 1, sizeof buffer, pipe)) text.append(buffer, count);
  pclose(pipe);
  return text;
}

std::string ServerProcess::last_words(size_t bytes) const {
  std::string text = text_of(directory_ + "/log");
  return text.size() <= bytes ? text : text.substr(text.size() - bytes);
}

std::string ServerProcess::cause_of_death() const {
  std::istringstream words(last_words(100000));
  for (std::string line; std::getline(words, line);) {
    for (const char* sign :
         {"check failed", "runtime error:", "ERROR: AddressSanitizer", "LeakSanitizer"}) {
      if (line.find(sign) != std::string::npos) return line;
    }
  }
  return "";
}

long ServerProcess::resident_kilobytes() const {
  std::istringstream status(text_of("/proc/" + std::to_string(process_) + "/status"));
  for (std::string word; status >> word;) {
    if (word != "VmRSS:") continue;
    long kilobytes = 0;
    status >> kilobytes;
    return kilobytes;
  }
  return 0;
}

size_t ServerProcess::descriptors() const {
  std::error_code error;
  std::filesystem::directory_iterator files("/proc/" + std::to_string(process_) + "/fd", error);
  return static_cast<size_t>(std::distance(begin(files), end(files)));
}

}  // namespace pgsilo::sessions
