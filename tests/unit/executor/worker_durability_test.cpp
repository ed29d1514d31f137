// A worker beside its log: who waits for an epoch, who runs the log's step, who passes on that it
// is durable.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "executor/worker/commit_queue.h"
#include "executor/worker/worker.h"

namespace pgsilo {
namespace {

class FakeLog final : public DurabilityService {
 public:
  uint64_t durable_epoch() const override { return durable; }
  void request(uint64_t epoch) override { requested = std::max(requested, epoch); }
  bool try_step() override {
    if (durable >= requested) return false;
    ++durable;
    ++steps;
    return true;
  }
  void wake_log() override { ++wakes; }
  void pass_on() override { passed_on.fetch_add(1, std::memory_order_release); }
  std::atomic<int> passed_on{0};
  uint64_t durable = 5;
  uint64_t requested = 0;
  int steps = 0;
  int wakes = 0;
};

struct RecordingWaiter final : DurableWaiter {
  void on_durable(uint64_t durable_epoch) override { seen = durable_epoch; }
  uint64_t seen = 0;
};

TEST(CommitQueueTest, ReleasesInOrderOfEpochs) {
  FakeLog log;
  CommitQueue queue;
  queue.set_service(&log);
  EXPECT_TRUE(queue.is_durable(5));
  EXPECT_FALSE(queue.is_durable(6));
  RecordingWaiter first, second, third;
  queue.wait(second, 8);
  queue.wait(first, 6);
  queue.wait(third, 7);
  EXPECT_EQ(log.requested, 8u);
  queue.forget(third);
  queue.release();
  EXPECT_EQ(first.seen, 0u);
  log.durable = 7;
  queue.release();
  EXPECT_EQ(first.seen, 7u);
  EXPECT_EQ(second.seen, 0u);
  EXPECT_EQ(third.seen, 0u);
  EXPECT_TRUE(queue.step_log());
  queue.release();
  EXPECT_EQ(second.seen, 8u);
  EXPECT_TRUE(queue.empty());
  EXPECT_FALSE(queue.step_log());
}

// The logger publishes an epoch just before somebody asks for it, and tells nobody.
class OvertakingLog final : public DurabilityService {
 public:
  uint64_t durable_epoch() const override { return durable_; }
  void request(uint64_t epoch) override { durable_ = std::max(durable_, epoch); }
  bool try_step() override { return false; }
  void wake_log() override {}
  void pass_on() override {}
  uint64_t durable_ = 0;
};

TEST(CommitQueueTest, AnEpochThatWasDurableBeforeItWasAskedForIsNotWaitedFor) {
  OvertakingLog log;
  CommitQueue queue;
  queue.set_service(&log);
  struct Again final : DurableWaiter {
    void on_durable(uint64_t durable_epoch) override {
      seen = durable_epoch;
      if (seen < 8) queue->wait(*this, 8);
    }
    CommitQueue* queue = nullptr;
    uint64_t seen = 0;
  } waiter;
  waiter.queue = &queue;
  queue.wait(waiter, 6);
  queue.release();
  EXPECT_EQ(waiter.seen, 8u);
  EXPECT_TRUE(queue.empty());
}

// A session that waits for epoch 9.
struct DurableFiber final : DurableWaiter {
  explicit DurableFiber(Worker& of) : worker(of) {
    fiber = &worker.spawn(
        [](void* argument) {
          auto& self = *static_cast<DurableFiber*>(argument);
          self.worker.commit_queue().wait(self, 9);
          while (!self.worker.commit_queue().is_durable(9)) self.fiber->park();
        },
        this);
  }
  void on_durable(uint64_t) override { fiber->unpark(); }
  Worker& worker;
  WorkerFiber* fiber = nullptr;
};

TEST(WorkerTest, AWorkerAllOfWhoseSessionsWaitRunsTheLogsStep) {
  FakeLog log;
  Worker worker({});
  worker.commit_queue().set_service(&log);
  DurableFiber first(worker);
  DurableFiber second(worker);
  worker.request_stop();
  worker.run();
  EXPECT_EQ(log.steps, 4);
  EXPECT_EQ(log.wakes, 0);
}

// wake() has told whoever called it that others may be left to it.
TEST(WorkerTest, WhoWasWokenPassesItOn) {
  FakeLog log;
  Worker worker({});
  worker.commit_queue().set_service(&log);
  std::thread loop([&] { worker.run(); });
  for (int woken = 0; woken < 2000;) {
    int before = log.passed_on.load(std::memory_order_acquire);
    if (!worker.wake()) continue;
    ++woken;
    // One that came round on an earlier call may have been counted after `before` was read.
    while (log.passed_on.load(std::memory_order_acquire) == before) std::this_thread::yield();
  }
  worker.request_stop();
  loop.join();
}

// The logger thread of a worker that must not step itself.
class SteppingLog final : public DurabilityService {
 public:
  explicit SteppingLog(Worker& worker) : worker_(worker) {}
  uint64_t durable_epoch() const override { return durable_; }
  void request(uint64_t) override {}
  bool try_step() override {
    ++steps;
    durable_ = 9;
    return true;
  }
  void wake_log() override {
    ++wakes;
    durable_ = 9;
    worker_.wake();
  }
  void pass_on() override {}
  int steps = 0;
  int wakes = 0;

 private:
  Worker& worker_;
  uint64_t durable_ = 5;
};

TEST(WorkerTest, AWorkerWithAnotherSessionLeavesTheLogsStepToTheLogger) {
  Worker worker({});
  SteppingLog log(worker);
  worker.commit_queue().set_service(&log);
  DurableFiber waits(worker);
  struct Idle {
    WorkerFiber* fiber = nullptr;
    DurableFiber* other = nullptr;
  } idle;
  idle.other = &waits;
  idle.fiber = &worker.spawn(
      [](void* argument) {
        auto& self = *static_cast<Idle*>(argument);
        while (!self.other->worker.commit_queue().is_durable(9)) {
          self.fiber->park(monotonic_us() + 1000);
        }
      },
      &idle);
  worker.request_stop();
  worker.run();
  EXPECT_EQ(log.steps, 0);
  EXPECT_EQ(log.wakes, 1);
}

}  // namespace
}  // namespace pgsilo
