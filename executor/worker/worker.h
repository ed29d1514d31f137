// A worker: one thread, pinned to a CPU if asked, that runs an event loop over its sockets and
// schedules the fibers of its sessions. A fiber stays on its worker for life, so nothing of a
// session is shared between threads; one that moves goes on in a new fiber (server/worker_home.h).
//
// One round of the loop: fibers that were woken, then (at most a slice of) background work, then
// replies that became durable, then the sockets. Only when nothing is runnable it sleeps, at times
// behind a look for what may come at once (executor/worker/poll_rule.h). If all
// its sessions wait for the log it runs the log's step itself before that, because waking another
// thread costs more than a quarter of a sync; else the logger thread does
// (decisions/worker-scheduling.md).
//
// Thread safety: post(), wake() and request_stop() from any thread; the rest only on the worker's
// own thread. Invariants: a fiber runs at most once a round; handlers never suspend (they run
// outside of fibers).
#pragma once

#include <atomic>
#include <boost/intrusive/list.hpp>
#include <boost/intrusive/set.hpp>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "executor/worker/background_share.h"
#include "executor/worker/commit_queue.h"
#include "executor/worker/load.h"
#include "executor/worker/poll_rule.h"
#include "executor/worker/runnable_threads.h"
#include "executor/worker/thread_scheduling.h"
#include "executor/worker/worker_fiber.h"

namespace pgsilo {

// Told when a watched descriptor may be read or written again (edge-triggered).
class IoHandler {
 public:
  // `closed`: the peer has shut its side down; what it sent before may still be read.
  virtual void on_io(bool readable, bool writable, bool closed) = 0;

 protected:
  ~IoHandler() = default;
};

// A piece of work handed to a worker by another thread.
class WorkerTask {
 public:
  virtual ~WorkerTask() = default;
  virtual void run(Worker& worker) = 0;
};

// What a worker does between rounds for the engine: unhooking, freeing memory.
class WorkerChores {
 public:
  // A bounded piece of it; true when there may be more to do at once.
  virtual bool run() = 0;

 protected:
  ~WorkerChores() = default;
};

// Whether a worker gives sessions to its peers: when more is asked of it; each at the end of each
// transaction (for tests).
enum class SessionMoves : uint8_t { never, by_load, always };

struct WorkerOptions {
  int index = 0;
  int cpu = -1;  // pinned there; -1: not pinned
  // Does not preempt when it wakes, unless it is starved (decisions/worker-scheduling.md).
  bool batch_scheduling = true;
  // Looks for work for so long before it sleeps, where a CPU is free (executor/worker/poll_rule.h).
  int64_t poll_us = 0;
  int cpus = 1;  // of all workers
  // A fiber gives way after this long (Worker::slice_spent).
  int64_t slice_us = 1000;
  // Background work, for which a request that comes meanwhile has to wait, after this long.
  int64_t background_slice_us = 100;
  // A fiber that has been busy for longer than this without waiting is background work...
  int64_t background_after_us = 10000;
  // ...and gets this share of the worker while others are runnable.
  int background_share_percent = 10;
  SessionMoves session_moves = SessionMoves::never;
};

class Worker {
 public:
  explicit Worker(const WorkerOptions& options);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // The loop. Returns after request_stop(), when the last fiber has ended.
  void run();
  void post(std::unique_ptr<WorkerTask> task) { offer(task); }
  // False: the worker has ended, and the task stays the caller's. Throws std::bad_alloc: likewise.
  bool offer(std::unique_ptr<WorkerTask>& task);
  // Makes the loop go round once more: the durable epoch advanced. True: it slept, and comes to
  // CommitQueue::pass_on() before it does anything else.
  bool wake();
  // Somebody did one of these since the loop last looked.
  bool is_called() const { return awakened_.load(std::memory_order_relaxed); }
  void request_stop();
  bool stopping() const { return stopping_.load(std::memory_order_acquire); }

  // Starts a fiber; it runs in the next round and is destroyed after its end.
  WorkerFiber& spawn(Fiber::Body body, void* argument);
  // The same, as background work from its first instruction on.
  WorkerFiber& spawn_background(Fiber::Body body, void* argument);
  void watch(int descriptor, IoHandler& handler);
  void unwatch(int descriptor);
  CommitQueue& commit_queue() { return commit_queue_; }
  // Before run(); null: none.
  void set_chores(WorkerChores* chores) { chores_ = chores; }
  // Before run(): the server's workers. They outlive the loop.
  void set_peers(std::vector<const Worker*> peers) { peers_ = std::move(peers); }
  int index() const { return options_.index; }
  // Any thread.
  size_t fiber_count() const { return fiber_count_.load(std::memory_order_relaxed); }
  // Any thread: how many fibers are runnable lately, in thousandths.
  int load_permille(int64_t now_us) const;

  // A session's fiber is about to end, for the session goes to another worker; and a new one, not
  // run yet, is that of a session that has come.
  SessionLoad let_go(WorkerFiber& fiber);
  void take_over(WorkerFiber& fiber, const SessionLoad& load);

  // True when the running fiber has used up its slice and should yield().
  bool slice_spent() const;

  // The worker that runs on this thread, or null.
  static Worker* current();

  // Somebody who had work for a worker so lately is active.
  static constexpr int64_t active_us = 20'000;

  // For WorkerFiber. Any thread: queues a fiber that was parked and has been woken.
  void make_runnable(WorkerFiber& fiber);
  void sleep_until(WorkerFiber& fiber, int64_t deadline_us);
  void cancel_sleep(WorkerFiber& fiber);
  // Queues the running fiber behind the others (or as background work); it suspends itself next.
  void requeue(WorkerFiber& fiber);
  void offer_to_move(WorkerFiber& fiber);
  int destination_of(const WorkerFiber& fiber) const;

 private:
  struct WakesEarlier {
    bool operator()(const WorkerFiber& a, const WorkerFiber& b) const {
      return a.deadline_us_ < b.deadline_us_;
    }
  };
  using SleepHook = boost::intrusive::member_hook<WorkerFiber, boost::intrusive::set_member_hook<>,
                                                  &WorkerFiber::sleep_hook_>;
  using Sleepers =
      boost::intrusive::multiset<WorkerFiber, SleepHook, boost::intrusive::compare<WakesEarlier>>;

  using MovableHook =
      boost::intrusive::member_hook<WorkerFiber,
                                    boost::intrusive::list_member_hook<
                                        boost::intrusive::link_mode<boost::intrusive::auto_unlink>>,
                                    &WorkerFiber::movable_hook_>;
  using Movable =
      boost::intrusive::list<WorkerFiber, MovableHook, boost::intrusive::constant_time_size<false>>;

  void settle_thread();
  bool may_end();
  void run_round();
  WorkerFiber& add(WorkerFiber* fiber);
  // The turn begins now, or when the one before it ended; when it has ended. The fiber is runnable
  // since `since_us`.
  int64_t run_fiber(WorkerFiber& fiber, int64_t slice_us, int64_t now_us, int64_t since_us);
  void take_background_turn(bool others_runnable);
  bool others_active(int64_t now_us) const;
  uint64_t turns_of_all() const;
  bool background_is_due() const;
  int64_t next_deadline_us() const;

  // worker_balance.cpp
  void begin_window(int64_t now_us);
  const Worker* find_lightest(int64_t now_us) const;
  bool takes_sessions(int64_t now_us) const;
  void forget_asked();

  void take_inbox();
  void wake_sleepers();
  void wait_for_events();
  // True: there may be something to do.
  bool poll_for_events();
  bool is_sent_for() const;
  // Negative: no limit. True: there were some.
  bool handle_events(int64_t timeout_us);
  bool wake_if_asleep();

  const WorkerOptions options_;
  int epoll_ = -1;
  int event_ = -1;  // eventfd: written by other threads when the loop may be asleep
  StackPool stacks_;
  CommitQueue commit_queue_;
  WorkerChores* chores_ = nullptr;

  FiberQueue runnable_;
  FiberQueue background_;
  Sleepers sleepers_;
  Movable movable_;
  WorkerFiber* asked_ = nullptr;  // to go to another worker, in this window
  int64_t slice_started_us_ = 0;
  int64_t slice_us_ = 0;  // of the running fiber
  BackgroundShare background_share_;
  ThreadScheduling scheduling_;
  PollRule poll_rule_;
  RunnableThreads runnable_threads_;
  std::vector<const Worker*> peers_;

  // What peers look at now and then, written by this worker.
  // When a fiber last ran that is not background work; of the peers' the background work of this
  // worker must know.
  alignas(64) std::atomic<int64_t> foreground_at_us_{0};
  std::atomic<int64_t> round_at_us_{0};  // when the last round with anything to do began
  std::atomic<uint64_t> turns_{0};       // of fibers, background work aside
  std::atomic<size_t> fiber_count_{0};
  WorkerLoad load_;

  // Other threads' side, in a line that what the loop itself works with is not in. A sender pushes,
  // then reads asleep_; the loop sets asleep_, then looks at the inbox: with sequentially
  // consistent accesses one of them sees the other. Of those who find it asleep the one who takes
  // the flag down writes to event_; what the others pushed is seen when that has woken it.
  alignas(64) std::atomic<WorkerFiber*> inbox_{nullptr};  // of woken fibers, linked by next_
  std::atomic<bool> asleep_{false};
  std::atomic<bool> awakened_{false};  // look again before sleeping: wake() or post()
  std::atomic<bool> stopping_{false};
  std::mutex tasks_mutex_;
  std::vector<std::unique_ptr<WorkerTask>> tasks_;
  bool ended_ = false;  // with tasks_mutex_
};

}  // namespace pgsilo
