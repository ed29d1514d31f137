// Random transactions over lists or registers against a server of its own, beside cancels, ends of
// sessions, changes of definitions and kills; then the check whether what the clients were told is
// strictly serializable. Usage:
//   observe PGSILO DIRECTORY lists|registers [--transactions N] [--clients N] [--seed N] [--port N]
//           [--kill-pause SECONDS] [--setting NAME=VALUE]...
//   observe --check FILE lists|registers
// DIRECTORY: empty: a new one, which is kept if something was found. What the clients were told
// lies in DIRECTORY/history.edn, and it is that file that is checked.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <thread>

#include "tests/anomalies/anomaly_checker.h"
#include "tests/anomalies/disturber.h"
#include "tests/anomalies/observing_client.h"
#include "tests/protocol/wire_messages.h"
#include "tests/sessions/scratch_directory.h"

namespace {

using namespace pgsilo::anomalies;
using pgsilo::sessions::Connection;
using pgsilo::sessions::ScratchDirectory;
using pgsilo::sessions::ServerProcess;

struct Wishes {
  std::string binary, directory;
  bool lists = true;
  std::map<std::string, long> numbers = {{"--transactions", 20000},
                                         {"--clients", 16},
                                         {"--seed", 1},
                                         {"--port", 6760},
                                         {"--kill-pause", 10}};
  std::vector<std::string> flags = {"-c", "deadlock_timeout=20", "-c", "worker_threads=2"};
};

int check(const std::string& file, bool lists) {
  std::ifstream stream(file);
  auto begin = std::chrono::steady_clock::now();
  ObservedHistory history = read_history(stream);
  Judgement judgement = (lists ? check_lists : check_registers)(history);
  for (const Anomaly& each : judgement.anomalies)
    std::printf("%s: %s\n", each.name.c_str(), each.text.c_str());
  std::printf(
      "%s: %zu transactions, %zu committed, %zu without an answer of which %zu were seen, %zu "
      "dependencies, checked in %.1f s: %s\n",
      lists ? "lists" : "registers", history.size(), judgement.committed, judgement.indeterminate,
      judgement.seen, judgement.edges,
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(),
      judgement.is_valid() ? "valid at strict serializability" : "INVALID");
  return judgement.is_valid() && !history.empty() ? 0 : 1;
}

bool read_wishes(int count, char** words, Wishes* wishes) {
  if (count < 4) return false;
  wishes->binary = words[1];
  wishes->directory = words[2];
  wishes->lists = std::strcmp(words[3], "lists") == 0;
  for (int i = 4; i + 1 < count; i += 2) {
    if (std::strcmp(words[i], "--setting") == 0) {
      wishes->flags.insert(wishes->flags.end(), {"-c", words[i + 1]});
      continue;
    }
    if (!wishes->numbers.contains(words[i])) return false;
    wishes->numbers[words[i]] = std::stol(words[i + 1]);
  }
  return true;
}

// Runs the load; what all clients noted.
bool observe(const Wishes& wishes, ServerProcess& server, ObservedHistory* history) {
  auto clients_wanted = static_cast<size_t>(wishes.numbers.at("--clients"));
  auto seed = static_cast<uint64_t>(wishes.numbers.at("--seed")) * 1000;
  Load load{.address = server.address(),
            .lists = wishes.lists,
            .wanted = static_cast<size_t>(wishes.numbers.at("--transactions")),
            .backends = std::vector<Load::Backend>(clients_wanted)};
  {
    Connection connection(load.address);
    connection.send_startup({{"user", "postgres"}, {"database", "postgres"}});
    connection.send(pgsilo::protocol_test::query(Load::create(load.lists)));
    if (!connection.finish(60000)) return false;
  }
  std::vector<std::unique_ptr<ObservingClient>> clients;
  for (size_t i = 0; i <= clients_wanted; ++i)
    clients.push_back(std::make_unique<ObservingClient>(load, static_cast<int>(i), seed + i));
  std::vector<std::thread> threads;
  for (size_t i = 0; i < clients_wanted; ++i)
    threads.emplace_back([&client = *clients[i]] { client.run(); });
  Disturber disturber(load, server, wishes.numbers.at("--kill-pause"), seed + 999);
  disturber.run();
  for (std::thread& each : threads) each.join();
  clients.back()->read_everything();
  bool is_clean = !load.gives_up && disturber.counts().deaths == 0;
  for (const auto& each : clients) {
    history->insert(history->end(), each->history().begin(), each->history().end());
    if (!each->violation().empty()) std::printf("protocol broken: %s\n", each->violation().c_str());
    is_clean &= each->violation().empty();
  }
  std::printf("%s%zu cancels, %zu sessions ended, %zu definitions, %zu kills\n",
              disturber.deaths().c_str(), disturber.counts().cancels, disturber.counts().ends,
              disturber.counts().definitions, disturber.counts().kills);
  return is_clean;
}

}  // namespace

int main(int count, char** words) {
  if (count == 4 && std::strcmp(words[1], "--check") == 0)
    return check(words[2], std::strcmp(words[3], "lists") == 0);
  Wishes wishes;
  if (!read_wishes(count, words, &wishes)) {
    std::fprintf(stderr,
                 "usage: observe PGSILO DIRECTORY lists|registers [--transactions N] ...\n");
    return 2;
  }
  std::signal(SIGPIPE, SIG_IGN);
  ScratchDirectory directory(wishes.directory);
  wishes.directory = directory.path();
  ServerProcess server(wishes.binary, wishes.directory,
                       static_cast<int>(wishes.numbers.at("--port")), wishes.flags);
  if (!server.start()) {
    std::printf("the server does not start:\n%s\n", server.last_words().c_str());
    return 1;
  }
  ObservedHistory history;
  bool is_clean = observe(wishes, server, &history);
  std::string file = wishes.directory + "/history.edn";
  std::ofstream stream(file);
  write_history(history, stream);
  stream.close();
  bool is_good = check(file, wishes.lists) == 0 && is_clean;
  if (!is_good) directory.keep();
  return is_good ? 0 : 1;
}
