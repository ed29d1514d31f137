#include "executor/worker/worker.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"

namespace pgsilo {
namespace {

WorkerFiber& spawn(Worker& worker, void (*body)(void*), void* argument) {
  return worker.spawn(body, argument);
}

TEST(WorkerTest, FibersTakeTurns) {
  Worker worker({});
  struct Shared {
    std::string log;
    WorkerFiber* first = nullptr;
    WorkerFiber* second = nullptr;
  } shared;
  shared.first = &spawn(
      worker,
      [](void* argument) {
        auto& s = *static_cast<Shared*>(argument);
        for (int i = 0; i < 3; ++i) {
          s.log += 'a';
          s.first->yield();
        }
      },
      &shared);
  shared.second = &spawn(
      worker,
      [](void* argument) {
        auto& s = *static_cast<Shared*>(argument);
        for (int i = 0; i < 3; ++i) {
          s.log += 'b';
          s.second->yield();
        }
      },
      &shared);
  worker.request_stop();
  worker.run();
  EXPECT_EQ(shared.log, "ababab");
}

TEST(WorkerTest, AnUnparkBeforeTheParkIsNotLost) {
  Worker worker({});
  int parks = 0;
  WorkerFiber* self = nullptr;
  auto body = [&] {
    self->unpark();
    self->unpark();
    self->park();
    ++parks;
    self->park(monotonic_us() + 1000);  // only the deadline ends this one
    ++parks;
  };
  self = &worker.spawn([](void* f) { (*static_cast<decltype(body)*>(f))(); }, &body);
  worker.request_stop();
  worker.run();
  EXPECT_EQ(parks, 2);
}

void wake_a_fiber_many_times(const WorkerOptions& options) {
  Worker worker(options);
  constexpr int rounds = 20000;
  struct Shared {
    WorkerFiber* fiber = nullptr;
    std::atomic<int> sent{0};
    std::atomic<int> seen{0};
    std::atomic<bool> released{false};  // nobody will unpark the fiber any more
  } shared;
  shared.fiber = &spawn(
      worker,
      [](void* argument) {
        auto& s = *static_cast<Shared*>(argument);
        while (!s.released.load(std::memory_order_acquire)) {
          bool last = s.seen.load(std::memory_order_relaxed) == rounds;
          s.fiber->park(last ? monotonic_us() + 100 : Parker::no_deadline);
          s.seen.store(s.sent.load(std::memory_order_acquire), std::memory_order_release);
        }
      },
      &shared);
  std::thread loop([&] { worker.run(); });
  for (int i = 1; i <= rounds; ++i) {
    shared.sent.store(i, std::memory_order_release);
    shared.fiber->unpark();
    if (i % 16 == 0) {
      // Lets the loop fall asleep now and then: the wake-up through the eventfd is exercised.
      while (shared.seen.load(std::memory_order_acquire) < i) std::this_thread::yield();
    }
  }
  shared.released.store(true, std::memory_order_release);
  worker.request_stop();
  loop.join();
  EXPECT_EQ(shared.seen.load(), rounds);
}

TEST(WorkerTest, OtherThreadsWakeFibersManyTimes) { wake_a_fiber_many_times({}); }

TEST(WorkerTest, OtherThreadsWakeFibersWhileItPolls) {
  wake_a_fiber_many_times({.poll_us = 5, .cpus = 1000});
}

// How often an eventfd was written to: nobody ever reads a worker's.
uint64_t writes_to(int event) {
  std::ifstream info("/proc/self/fdinfo/" + std::to_string(event));
  for (std::string word; info >> word;) {
    if (word == "eventfd-count:") {
      uint64_t count = 0;
      info >> std::hex >> count;
      return count;
    }
  }
  return 0;
}

// The lowest free descriptor is what the next call gets.
int next_descriptor() {
  int descriptor = dup(STDERR_FILENO);
  close(descriptor);
  return descriptor;
}

struct CountedRounds final : WorkerChores {
  bool run() override {
    ++rounds;
    return false;
  }
  uint64_t rounds = 0;  // each sleeps at most once
};

// Wakes a fiber that waits; how often that wrote to the worker's event.
uint64_t writes_for_one_wake(const WorkerOptions& options) {
  int event = next_descriptor() + 1;  // the second that a worker opens
  Worker worker(options);
  struct Shared {
    WorkerFiber* fiber = nullptr;
    std::atomic<bool> parks{false};
    std::atomic<bool> runs{false};
  } shared;
  shared.fiber = &spawn(
      worker,
      [](void* argument) {
        auto& s = *static_cast<Shared*>(argument);
        s.parks.store(true);
        s.fiber->park();
        s.runs.store(true);
        s.fiber->park();
      },
      &shared);
  std::thread loop([&] { worker.run(); });
  while (!shared.parks.load()) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  shared.fiber->unpark();
  while (!shared.runs.load()) std::this_thread::yield();
  uint64_t writes = writes_to(event);
  shared.fiber->unpark();
  worker.request_stop();
  loop.join();
  return writes;
}

TEST(WorkerTest, WhoPollsIsWokenWithoutASystemCall) {
  constexpr int64_t long_us = 60'000'000;
  EXPECT_EQ(writes_for_one_wake({.poll_us = long_us, .cpus = 1000}), 0U);
  EXPECT_EQ(writes_for_one_wake({.poll_us = 0, .cpus = 1000}), 1U);
}

TEST(WorkerTest, NobodyPollsWhereCpusAreWanted) {
  EXPECT_EQ(writes_for_one_wake({.poll_us = 60'000'000, .cpus = 0}), 1U);
}

TEST(WorkerTest, OneWriteWakesItHoweverManyCall) {
  int event = next_descriptor() + 1;  // the second that a worker opens
  Worker worker({});
  CountedRounds chores;
  worker.set_chores(&chores);
  std::thread loop([&] { worker.run(); });
  // It has slept once: where others want the CPUs the callers may be done before it does.
  while (!worker.wake()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::atomic<uint64_t> woken{1};
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      for (int call = 0; call < 50'000; ++call) {
        if (worker.wake()) woken.fetch_add(1, std::memory_order_relaxed);
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  uint64_t writes = writes_to(event);
  EXPECT_EQ(writes, woken.load());
  EXPECT_GT(writes, 0u);
  worker.request_stop();
  loop.join();
  EXPECT_LE(writes, chores.rounds);
}

// How long others run between two turns of background work, in units of the first of the two. The
// median, for the machine may take the CPU from any turn for as long as it likes.
TEST(WorkerTest, BackgroundWorkLeavesMostOfTheTimeToOthers) {
  WorkerOptions options;
  options.slice_us = 200;
  options.background_slice_us = 100;
  options.background_after_us = 400;
  options.background_share_percent = 10;
  constexpr size_t wanted_gaps = 99;
  constexpr int most_other_turns = 100'000;  // against a hog that starves
  Worker worker(options);
  struct Shared {
    WorkerFiber* hog = nullptr;
    WorkerFiber* other = nullptr;
    std::vector<double> gaps;
    int64_t other_us = 0;  // since the hog's last turn
    bool done = false;
    static int64_t spend_slice(WorkerFiber& fiber) {
      int64_t began_us = monotonic_us();
      while (!fiber.worker().slice_spent()) {
      }
      return monotonic_us() - began_us;
    }
  } shared;
  shared.hog = &spawn(
      worker,
      [](void* argument) {
        auto& s = *static_cast<Shared*>(argument);
        while (!s.done) {
          s.other_us = 0;
          int64_t turn_us = std::max<int64_t>(1, Shared::spend_slice(*s.hog));
          s.hog->yield();
          s.gaps.push_back(static_cast<double>(s.other_us) / static_cast<double>(turn_us));
        }
      },
      &shared);
  shared.other = &spawn(
      worker,
      [](void* argument) {
        auto& s = *static_cast<Shared*>(argument);
        for (int i = 0; i < most_other_turns && s.gaps.size() < wanted_gaps; ++i) {
          s.other_us += Shared::spend_slice(*s.other);
          // Parking with a past deadline: it waited, so it stays in the foreground.
          s.other->unpark();
          s.other->park();
          s.other->worker().make_runnable(*s.other);
          Fiber::current()->suspend();
        }
        s.done = true;
      },
      &shared);
  worker.request_stop();
  worker.run();
  ASSERT_GE(shared.gaps.size(), wanted_gaps);  // not starved
  auto median = shared.gaps.begin() + wanted_gaps / 2;
  std::ranges::nth_element(shared.gaps, median);
  // Nine times as long, and at most a slice of the other's more, two turns of the hog's.
  EXPECT_GT(*median, 8.5);
  EXPECT_LT(*median, 11.5);
}

TEST(WorkerTest, BackgroundWorkLetsOthersGoFirst) {
  WorkerOptions options;
  options.slice_us = 200;
  options.background_slice_us = 100;
  options.background_share_percent = 10;
  Worker worker(options);
  struct Shared {
    std::string log;
    WorkerFiber* other = nullptr;
    int64_t background_at_us = 0;
  } shared;
  worker.spawn_background(
      [](void* argument) {
        auto& s = *static_cast<Shared*>(argument);
        s.background_at_us = monotonic_us();
        s.log += 'b';
      },
      &shared);
  shared.other = &spawn(
      worker,
      [](void* argument) {
        auto& s = *static_cast<Shared*>(argument);
        for (int i = 0; i < 5; ++i) {
          while (!s.other->worker().slice_spent()) {
          }
          s.log += 'f';
          s.other->yield();
        }
      },
      &shared);
  worker.request_stop();
  int64_t began_us = monotonic_us();
  worker.run();
  // In nine turns' time; how many of the other's slices that is, the machine decides.
  EXPECT_GE(shared.background_at_us - began_us, 900);
  EXPECT_EQ(shared.log.front(), 'f');
}

TEST(WorkerTest, SleepersWithOneDeadlineAllWake) {
  Worker worker({});
  struct Sleeper {
    WorkerFiber* fiber = nullptr;
    int64_t deadline_us = 0;
    bool woke = false;
  };
  Sleeper sleepers[4];
  int64_t soon_us = monotonic_us() + 5000;
  for (Sleeper& sleeper : sleepers) {
    sleeper.deadline_us = &sleeper == &sleepers[3] ? soon_us - 2000 : soon_us;
    sleeper.fiber = &spawn(
        worker,
        [](void* argument) {
          auto& s = *static_cast<Sleeper*>(argument);
          while (monotonic_us() < s.deadline_us) s.fiber->park(s.deadline_us);
          s.woke = true;
        },
        &sleeper);
  }
  worker.request_stop();
  worker.run();
  for (const Sleeper& sleeper : sleepers) EXPECT_TRUE(sleeper.woke);
}

TEST(WorkerTest, SocketsWakeTheirFiber) {
  int pair[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
  Worker worker({});
  struct Shared : IoHandler {
    void on_io(bool readable, bool, bool) override {
      if (readable) fiber->unpark();
    }
    WorkerFiber* fiber = nullptr;
    int descriptor = -1;
    std::string text;
  } shared;
  shared.descriptor = pair[0];
  worker.watch(pair[0], shared);
  shared.fiber = &spawn(
      worker,
      [](void* argument) {
        auto& s = *static_cast<Shared*>(argument);
        while (s.text.size() < 5) {
          char buffer[16];
          ssize_t count = read(s.descriptor, buffer, sizeof buffer);
          if (count > 0) {
            s.text.append(buffer, static_cast<size_t>(count));
          } else {
            s.fiber->park();
          }
        }
      },
      &shared);
  std::thread loop([&] { worker.run(); });
  for (char c : std::string("hello")) {
    ASSERT_EQ(write(pair[1], &c, 1), 1);
    std::this_thread::yield();
  }
  worker.request_stop();
  loop.join();
  EXPECT_EQ(shared.text, "hello");
  worker.unwatch(pair[0]);
  close(pair[0]);
  close(pair[1]);
}

}  // namespace
}  // namespace pgsilo
