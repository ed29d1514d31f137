// A fiber that a worker schedules: it can wait (Parker), give way to others, and be woken from any
// thread. Thread safety: unpark() from any thread while the fiber has not ended (whoever keeps a
// Parker must forget it before the fiber's body returns); everything else on its worker only.
#pragma once

#include <atomic>
#include <boost/intrusive/list_hook.hpp>
#include <boost/intrusive/set_hook.hpp>
#include <cstdint>

#include "base/fiber.h"
#include "base/parker.h"
#include "executor/worker/load.h"

namespace pgsilo {

class Worker;

class WorkerFiber final : public Parker {
 public:
  WorkerFiber(Worker& worker, StackPool& stacks, Fiber::Body body, void* argument);

  void park(int64_t deadline_us = no_deadline) override;
  void unpark() override;

  // Lets other fibers of the worker run first. Called inside the fiber.
  void yield();
  // Who is asked during its long work (base/long_work.h).
  void set_work_pause(WorkPause* pause) { fiber_.set_work_pause(pause); }

  // A session's, which can go on with another fiber on another worker whenever it is between
  // transactions: from here on it asks destination() there. A worker's index; -1: it stays.
  void offer_to_move();
  int destination() const;

  Worker& worker() { return worker_; }

 private:
  friend class Worker;
  friend class FiberQueue;
  friend class TimerQueue;
  enum class State : uint8_t {
    running,   // runs, or is queued to run
    notified,  // the same, and the next park() returns at once
    parked,
  };

  Worker& worker_;
  Fiber fiber_;
  std::atomic<State> state_{State::running};
  WorkerFiber* next_ = nullptr;  // in one of: the run queues, the worker's inbox
  // While it is parked with a deadline, in Worker::sleepers_. Intrusive: park() must not fail.
  int64_t deadline_us_ = no_deadline;
  boost::intrusive::set_member_hook<> sleep_hook_;
  // Since when it runs without having waited; a long run makes it background work.
  int64_t busy_us_ = 0;
  SessionLoad load_;
  int64_t queued_us_ = 0;  // as background work; when
  int destination_ = -1;
  boost::intrusive::list_member_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>>
      movable_hook_;      // in Worker::movable_
  bool assists_ = false;  // background work that is a part of a foreground statement
};

// First in, first out; links through WorkerFiber::next_.
class FiberQueue {
 public:
  bool empty() const { return first_ == nullptr; }
  void push(WorkerFiber* fiber) {
    fiber->next_ = nullptr;
    if (first_ == nullptr) {
      first_ = fiber;
    } else {
      last_->next_ = fiber;
    }
    last_ = fiber;
  }
  WorkerFiber* first() const { return first_; }
  WorkerFiber* pop() {
    WorkerFiber* fiber = first_;
    first_ = fiber->next_;
    return fiber;
  }
  // Everything that is queued now, for a round that must end.
  FiberQueue take_all() {
    FiberQueue all = *this;
    first_ = nullptr;
    return all;
  }

 private:
  WorkerFiber* first_ = nullptr;
  WorkerFiber* last_ = nullptr;
};

}  // namespace pgsilo
