#include "server/reception.h"

#include "server/session/session_registry.h"
#include "server/worker_home.h"

namespace pgsilo {

void Reception::set_workers(std::vector<WorkerHome*> workers) {
  is_away_.assign(workers.size(), false);
  workers_ = std::move(workers);
}

bool Reception::take_in(int descriptor) {
  // Its only caller is the doorkeeper, so the seat that is seen free stays so.
  if (taken_.load(std::memory_order_relaxed) >= seats_) return false;
  taken_.fetch_add(1, std::memory_order_relaxed);
  ClientSocket client(descriptor, *this);
  std::lock_guard lock(mutex_);
  next_worker().adopt(std::move(client));
  return true;
}

void Reception::cancel(int32_t process, int32_t secret) { sessions_.cancel(process, secret); }

// Round robin: sessions come and go in numbers too large for anything cleverer to matter.
WorkerHome& Reception::next_worker() {
  while (is_away_[next_]) next_ = (next_ + 1) % workers_.size();
  WorkerHome& worker = *workers_[next_];
  next_ = (next_ + 1) % workers_.size();
  return worker;
}

bool Reception::may_leave(unsigned worker) {
  std::lock_guard lock(mutex_);
  if (away_ + 1 == workers_.size() || workers_[worker]->worker().is_called()) return false;
  is_away_[worker] = true;
  ++away_;
  return true;
}

void Reception::is_back(unsigned worker) {
  std::lock_guard lock(mutex_);
  is_away_[worker] = false;
  --away_;
}

}  // namespace pgsilo
