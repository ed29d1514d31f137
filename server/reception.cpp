#include "server/reception.h"

#include <algorithm>
#include <new>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "executor/worker/load.h"
#include "server/limits.h"
#include "server/session/session_registry.h"
#include "server/worker_home.h"

namespace pgsilo {

void Reception::set_workers(std::vector<WorkerHome*> workers) {
  for (WorkerHome* worker : workers) desks_.push_back({worker});
}

bool Reception::take_in(int descriptor) {
  // Its only caller is the doorkeeper, so the seat that is seen free stays so.
  if (taken_.load(std::memory_order_relaxed) >= seats_) return false;
  taken_.fetch_add(1, std::memory_order_relaxed);
  ClientSocket client(descriptor, *this);
  int64_t now_us = monotonic_us();
  std::lock_guard lock(mutex_);
  try {
    waiting_.push_back({std::move(client), now_us});
    call(next_desk(now_us), now_us);
  } catch (const std::bad_alloc&) {
    say_farewell(descriptor, out_of_memory_farewell());
    if (client.descriptor() < 0) waiting_.pop_back();
  }
  return true;
}

int64_t Reception::look_after_waiting() {
  std::lock_guard lock(mutex_);
  if (waiting_.empty()) return INT64_MAX;
  int64_t now_us = monotonic_us();
  int64_t next_us = INT64_MAX;
  for (Waiting& each : waiting_) {
    if (now_us - each.called_us >= limits::called_worker_patience_us) {
      each.called_us = now_us;
      Desk& desk = next_desk(now_us);
      if (!desk.is_late(now_us)) call(desk, now_us);
    }
    next_us = std::min(next_us, each.called_us + limits::called_worker_patience_us);
  }
  return next_us;
}

std::optional<ClientSocket> Reception::next_client(unsigned worker) {
  std::lock_guard lock(mutex_);
  Desk& desk = desks_[worker];
  --desk.calls;
  desk.since_us = monotonic_us();
  if (waiting_.empty()) return std::nullopt;
  std::optional<ClientSocket> client(std::move(waiting_.front().client));
  waiting_.pop_front();
  return client;
}

void Reception::cancel(int32_t process, int32_t secret) { sessions_.cancel(process, secret); }

bool Reception::Desk::is_late(int64_t now_us) const {
  return calls != 0 && now_us - since_us >= limits::called_worker_patience_us;
}

// Until a client's session is measured it counts for so much: many may come at once.
void Reception::Desk::expect_one(int64_t now_us) {
  constexpr int of_one = 250;
  expected = expected_load(now_us) + of_one;
  expected_window = load::window_at(now_us);
}

int Reception::Desk::expected_load(int64_t now_us) const {
  return expected >> std::min<int64_t>(load::window_at(now_us) - expected_window, 31);
}

size_t Reception::Desk::sessions() const { return worker->worker().fiber_count() + calls; }

// The one of which least is asked, of those about equal the one with fewest sessions, of these in
// turn.
Reception::Desk* Reception::lightest_desk(int64_t now_us, bool may_be_late) {
  constexpr int step = 250;  // of loads that are about equal
  Desk* lightest = nullptr;
  std::pair<int, size_t> least;
  for (size_t i = 0; i < desks_.size(); ++i) {
    Desk& desk = desks_[(next_ + i) % desks_.size()];
    if (desk.is_away || (!may_be_late && desk.is_late(now_us))) continue;
    int load = desk.worker->worker().load_permille(now_us) + desk.expected_load(now_us);
    std::pair<int, size_t> asked(load / step, desk.sessions());
    if (lightest != nullptr && asked >= least) continue;
    lightest = &desk;
    least = asked;
  }
  return lightest;
}

// If all that are here are late, one of them.
Reception::Desk& Reception::next_desk(int64_t now_us) {
  Desk* desk = lightest_desk(now_us, false);
  if (desk == nullptr) desk = lightest_desk(now_us, true);
  PGSILO_CHECK(desk != nullptr);  // a worker is here
  next_ = (static_cast<size_t>(desk - desks_.data()) + 1) % desks_.size();
  return *desk;
}

void Reception::call(Desk& desk, int64_t now_us) {
  desk.worker->call_for_client();
  desk.expect_one(now_us);
  if (desk.calls++ == 0) desk.since_us = now_us;
}

bool Reception::may_leave(unsigned worker) {
  std::lock_guard lock(mutex_);
  Desk& desk = desks_[worker];
  if (away_ + 1 == desks_.size() || desk.worker->worker().is_called()) return false;
  desk.is_away = true;
  ++away_;
  return true;
}

void Reception::is_back(unsigned worker) {
  std::lock_guard lock(mutex_);
  desks_[worker].is_away = false;
  --away_;
}

}  // namespace pgsilo
