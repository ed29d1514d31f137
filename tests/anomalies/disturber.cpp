#include "tests/anomalies/disturber.h"

#include <chrono>
#include <thread>

#include "tests/protocol/wire_messages.h"

namespace pgsilo::anomalies {
namespace wire = protocol_test;

Disturber::Disturber(Load& load, sessions::ServerProcess& server, long kill_pause, uint64_t seed)
    : load_(load), server_(server), kill_pause_(kill_pause), random_(seed) {}

bool Disturber::ask(const std::string& sql) {
  sessions::Connection connection(load_.address);
  connection.send_startup({{"user", "postgres"}, {"database", "postgres"}});
  connection.send(wire::query(sql));
  return connection.is_connected() && connection.finish(20000) && connection.take_errors().empty();
}

void Disturber::restart_if_gone() {
  if (server_.is_running()) return;
  ++counts_.deaths;
  deaths_ +=
      "the server ended by itself: " + server_.ended_as() + " " + server_.cause_of_death() + "\n";
  if (!server_.start()) load_.gives_up = true;
}

void Disturber::define() {
  std::string column = "extra" + std::to_string(columns_);
  switch (random_.below(6)) {
    case 0:
      column = "extra" + std::to_string(++columns_);
      counts_.definitions += ask("alter table keys add column " + column +
                                 (random_.one_in(2) ? " int default 7" : " text default 'filled'"));
      break;
    case 1:
      counts_.definitions += ask("alter table keys drop column if exists " + column);
      break;
    case 2:
      counts_.definitions += ask("create index keys_g on keys (g)");
      break;
    case 3:
      counts_.definitions += ask("create index concurrently keys_g on keys (g)");
      break;
    case 4:
      counts_.definitions += ask("drop index if exists keys_g");
      break;
    default:
      counts_.definitions += ask("checkpoint");
  }
}

void Disturber::disturb_one() {
  const Load::Backend& backend = load_.backends[random_.below(load_.backends.size())];
  int32_t process = backend.process;
  if (process == 0) return;
  if (random_.one_in(4)) {
    counts_.ends += ask("select pg_terminate_backend(" + std::to_string(process) + ")");
  } else {
    sessions::send_cancel(load_.address, process, backend.secret);
    ++counts_.cancels;
  }
}

void Disturber::run() {
  using Clock = std::chrono::steady_clock;
  auto next_kill = Clock::now() + std::chrono::seconds(kill_pause_);
  while (!load_.is_done()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20 + random_.below(150)));
    restart_if_gone();
    if (kill_pause_ > 0 && Clock::now() > next_kill) {
      server_.kill();
      ++counts_.kills;
      if (!server_.start()) load_.gives_up = true;
      next_kill = Clock::now() + std::chrono::seconds(kill_pause_);
    }
    if (random_.one_in(2)) {
      disturb_one();
    } else {
      define();
    }
  }
  restart_if_gone();
}

}  // namespace pgsilo::anomalies
