// Where new clients go. It has a seat for each socket that the server can afford, clients who have
// not said who they are included, and gives each client to a worker.
//
// It also says which workers may be inside of a device call (the log's step, which a worker runs
// itself when all its sessions wait for the log). A device may take its time; so one that is inside
// gets no client, and never are all of them: whoever comes while the log's device stalls is served.
//
// Thread safety: any thread; set_*() before the first client. Invariant: a worker that is inside
// has no client on its way to it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
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

  // False: there is no seat.
  bool take_in(int descriptor) override;
  void cancel(int32_t process, int32_t secret) override;

  // The worker wants to make a device call. False: it must not, for somebody has called it, or it
  // is the last one that is here.
  bool may_leave(unsigned worker);
  void is_back(unsigned worker);

 private:
  void give_back() override { taken_.fetch_sub(1, std::memory_order_relaxed); }
  WorkerHome& next_worker();  // with mutex_

  SessionRegistry& sessions_;
  size_t seats_ = SIZE_MAX;
  std::atomic<size_t> taken_{0};

  std::mutex mutex_;
  std::vector<WorkerHome*> workers_;
  std::vector<bool> is_away_;  // by worker
  size_t away_ = 0;
  size_t next_ = 0;
};

}  // namespace pgsilo
