// Which session a worker gives to another one (executor/worker/balance_rule.h).
#include <algorithm>
#include <climits>

#include "base/clock.h"
#include "executor/worker/balance_rule.h"
#include "executor/worker/worker.h"

namespace pgsilo {

// Who asks is one of the session's messages that has come: the session does nothing yet.
int Worker::destination_of(const WorkerFiber& fiber) const {
  if (options_.session_moves != SessionMoves::always) {
    int destination = fiber.destination_;
    // What has been decided in this window may be so no longer.
    bool goes = destination >= 0 &&
                peers_[static_cast<size_t>(destination)]->takes_sessions(monotonic_us());
    return goes ? destination : -1;
  }
  if (peers_.size() < 2) return -1;
  int next = (index() + 1) % static_cast<int>(peers_.size());
  return peers_[static_cast<size_t>(next)]->stopping() ? -1 : next;
}

// A session that came back, for nobody took it, has done so before.
void Worker::offer_to_move(WorkerFiber& fiber) {
  if (!fiber.movable_hook_.is_linked()) movable_.push_back(fiber);
}

void Worker::begin_window(int64_t now_us) {
  load_.begin_window(now_us);
  if (options_.session_moves != SessionMoves::by_load) return;
  if (asked_ != nullptr) {
    // It was in a block, or in a long statement: another one may go, if that is worth it.
    asked_->load_.stayed(load_.window());
    forget_asked();
  }
  const Worker* lightest = find_lightest(now_us);
  if (lightest == nullptr) return;
  int mine = load_.permille(now_us);
  int other = lightest->load_permille(now_us);
  if (!balance_rule::is_uneven(mine, other)) return;
  int best = 0;
  for (WorkerFiber& fiber : movable_) {
    if (fiber.load_.rests(load_.window())) continue;
    int gain = balance_rule::gain(mine, other, fiber.load_.permille(load_.window()));
    if (gain <= best) continue;
    best = gain;
    asked_ = &fiber;
  }
  if (asked_ != nullptr) asked_->destination_ = lightest->index();
}

const Worker* Worker::find_lightest(int64_t now_us) const {
  const Worker* lightest = nullptr;
  int least = INT_MAX;
  for (const Worker* peer : peers_) {
    if (peer == this || !peer->takes_sessions(now_us)) continue;
    int load = peer->load_permille(now_us);
    if (load >= least) continue;
    least = load;
    lightest = peer;
  }
  return lightest;
}

// Who is awake and has begun no round for a window is in the midst of something, or has no CPU: one
// is runnable at least, and what was so before is no less.
int Worker::load_permille(int64_t now_us) const {
  bool is_silent = !asleep_.load(std::memory_order_relaxed) &&
                   now_us - round_at_us_.load(std::memory_order_relaxed) >= load::window_us;
  return is_silent ? std::max(load_.published_permille(), 1000) : load_.permille(now_us);
}

// One that is awake and has not begun a round lately is in the midst of something that does not
// give way: who came now would wait for that, and for what it does next.
bool Worker::takes_sessions(int64_t now_us) const {
  constexpr int64_t longest_round_us = 10'000;
  if (stopping()) return false;
  return asleep_.load(std::memory_order_relaxed) ||
         now_us - round_at_us_.load(std::memory_order_relaxed) < longest_round_us;
}

void Worker::forget_asked() {
  asked_->destination_ = -1;
  asked_ = nullptr;
}

SessionLoad Worker::let_go(WorkerFiber& fiber) {
  if (asked_ == &fiber) forget_asked();
  SessionLoad load = fiber.load_;
  fiber.load_ = {};
  load_.leave(load, monotonic_us());
  load.moved(load_.window());
  return load;
}

void Worker::take_over(WorkerFiber& fiber, const SessionLoad& load) {
  fiber.load_ = load;
  load_.join(load, monotonic_us());
}

}  // namespace pgsilo
