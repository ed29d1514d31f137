// Where new clients go. It has a seat for each socket that the server can afford, clients who have
// not said who they are included, and has each client served by a worker.
//
// Clients wait in one queue. For each a worker is called, the one of which least is asked, and
// takes whoever is first in the queue when it comes. One that is in the midst of something may take
// its time: when a client has waited for a while, another worker is called, and who is late is not
// called again before he has come.
//
// It also says which workers may be inside of a device call (the log's step, which a worker runs
// itself when all its sessions wait for the log). A device may take its time; so one that is inside
// gets no client, and never are all of them: whoever comes while the log's device stalls is served.
//
// Thread safety: any thread; set_*() before the first client. Invariants: a worker that is inside
// is not called; at least as many calls are unanswered as clients wait, so that each is served even
// if nobody looks after them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

#include "server/net/client_socket.h"
#include "server/net/doorkeeper.h"

namespace pgsilo {

class SessionRegistry;
class WorkerHome;

class Reception final : public ClientHost, Seats {
 public:
  explicit Reception(SessionRegistry& sessions) : sessions_(sessions) {}

  void set_workers(std::vector<WorkerHome*> workers);
  void set_seats(size_t seats) { seats_ = seats; }

  // Whether any client is there that has not left yet.
  bool has_clients() const { return taken_.load(std::memory_order_relaxed) != 0; }

  // False: there is no seat.
  bool take_in(int descriptor) override;
  int64_t look_after_waiting() override;
  void cancel(int32_t process, int32_t secret) override;

  // The worker has come. None: others have taken whoever it was called for.
  std::optional<ClientSocket> next_client(unsigned worker);

  // The worker wants to make a device call. False: it must not, for somebody has called it, or it
  // is the last one that is here.
  bool may_leave(unsigned worker);
  void is_back(unsigned worker);

 private:
  struct Waiting {
    ClientSocket client;
    int64_t called_us;  // when a worker was last called for him
  };
  struct Desk {
    WorkerHome* worker;
    bool is_away = false;
    size_t calls = 0;  // unanswered
    int64_t since_us = 0;
    // What was not measured yet of those it was called for, in thousandths of a runnable fiber
    // (executor/worker/load.h); a half of it each window.
    int expected = 0;
    int64_t expected_window = 0;

    bool is_late(int64_t now_us) const;
    void expect_one(int64_t now_us);
    int expected_load(int64_t now_us) const;
    size_t sessions() const;
  };

  void give_back() override { taken_.fetch_sub(1, std::memory_order_relaxed); }
  // With mutex_:
  Desk& next_desk(int64_t now_us);
  Desk* lightest_desk(int64_t now_us, bool may_be_late);
  static void call(Desk& desk, int64_t now_us);

  SessionRegistry& sessions_;
  size_t seats_ = SIZE_MAX;
  std::atomic<size_t> taken_{0};

  std::mutex mutex_;
  std::deque<Waiting> waiting_;
  std::vector<Desk> desks_;  // by worker
  size_t away_ = 0;
  size_t next_ = 0;
};

}  // namespace pgsilo
