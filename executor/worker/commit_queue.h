// Replies that wait for the log: each rests on an epoch and leaves when the durable epoch D has
// reached it. A worker has one; its connections register in it. Silo calls these the worker's
// buffered results (section 4.10). Thread safety: none; the worker's own thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pgsilo {

// What a worker asks of the log; the composition root supplies it.
class DurabilityService {
 public:
  virtual ~DurabilityService() = default;
  // D: everything of this epoch and below is on disk. Thread-safe, wait-free.
  virtual uint64_t durable_epoch() const = 0;
  // Somebody waits for `epoch`; the log need not be woken yet: try_step() or wake_log() follows.
  // Cheap when it was asked for before.
  virtual void request(uint64_t epoch) = 0;
  // Runs the log's next step (write and sync) on the calling thread if it is due and nobody else
  // does. True if it ran. False also if the worker must not be inside of the device now; then the
  // logger thread has been told.
  virtual bool try_step() = 0;
  // This worker has other things to do: the logger thread is to take the step.
  virtual void wake_log() = 0;
  // This worker has been woken, maybe for an epoch that others wait for as well: who else is to be
  // told by it. Cheap when nobody is.
  virtual void pass_on() = 0;
};

// Somebody whose next reply rests on an epoch that was not durable yet.
class DurableWaiter {
 public:
  // D has reached the epoch it waited for. Runs on the worker's thread outside of fibers.
  virtual void on_durable(uint64_t durable_epoch) = 0;

 protected:
  ~DurableWaiter() = default;

 private:
  friend class CommitQueue;
  bool queued_ = false;
};

class CommitQueue {
 public:
  // Null: everything is durable at once (no log).
  void set_service(DurabilityService* service) { service_ = service; }

  // True when replies that rest on `epoch` may leave now.
  bool is_durable(uint64_t epoch) const {
    return service_ == nullptr || service_->durable_epoch() >= epoch;
  }
  uint64_t durable_epoch() const;

  // `waiter` will be told once D >= epoch. It waits for one epoch at a time.
  void wait(DurableWaiter& waiter, uint64_t epoch);
  // The waiter goes away; it may be waiting or not.
  void forget(DurableWaiter& waiter);
  // Tells everybody whose epoch is durable.
  void release();
  bool empty() const { return waiting_.empty(); }
  size_t size() const { return waiting_.size(); }
  // The worker has been woken: first of all it lets others know that it is to wake.
  void pass_on() {
    if (service_ != nullptr) service_->pass_on();
  }
  // A worker all of whose sessions wait: runs the log's step. True if that did something.
  bool step_log();
  // A worker some of whose sessions wait, with nothing to do: the logger is to take the step.
  void hand_over();
  // A busy worker with waiting replies: wakes the logger when they have waited for a while.
  void hurry();

  // A busy worker leaves the step to itself for so long before it wakes the logger, which costs it
  // a system call and the machine a thread switch.
  static constexpr int64_t patience_us = 100;

 private:
  struct Entry {
    uint64_t epoch;
    DurableWaiter* waiter;
  };
  DurabilityService* service_ = nullptr;
  std::vector<Entry> waiting_;  // a heap: the smallest epoch first
  bool unannounced_ = false;    // requested since the logger last had reason to know
  int64_t requested_at_us_ = 0;
};

}  // namespace pgsilo
