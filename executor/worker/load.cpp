#include "executor/worker/load.h"

namespace pgsilo {
namespace {

int permille_of(int64_t us) {
  return static_cast<int>(std::min<int64_t>(us * 1000 / load::window_us, INT32_MAX));
}

}  // namespace

void WorkerLoad::begin_window(int64_t now_us) {
  sum_.age_to(load::window_at(now_us));
  window_end_us_ = (load::window_at(now_us) + 1) * load::window_us;
  publish();
}

void WorkerLoad::change(const SessionLoad& session, int64_t now_us, int sign) {
  if (is_new_window(now_us)) begin_window(now_us);
  DecayingTime moved = session.runnable;
  moved.age_to(sum_.window());
  sum_.add(sign * moved.us());
  publish();
}

// Relaxed: it orders nothing.
void WorkerLoad::publish() {
  auto us = static_cast<uint64_t>(std::min<int64_t>(sum_.us(), UINT32_MAX));
  published_.store(static_cast<uint64_t>(sum_.window()) << 32 | us, std::memory_order_relaxed);
}

int WorkerLoad::permille(int64_t now_us) const {
  uint64_t published = published_.load(std::memory_order_relaxed);
  // A window's own part is told at the beginning of the next one.
  int64_t windows = std::max<int64_t>(0, load::window_at(now_us) - window_of(published) - 1);
  return permille_of(us_of(published) >> std::min<int64_t>(windows, 62));
}

int WorkerLoad::published_permille() const {
  return permille_of(us_of(published_.load(std::memory_order_relaxed)));
}

}  // namespace pgsilo
