// Which fibers a worker wants elsewhere. Sessions are fibers that offer to move and note where to.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "executor/worker/worker.h"

namespace pgsilo {
namespace {

class Workers {
 public:
  explicit Workers(SessionMoves moves) {
    for (int i = 0; i < 2; ++i) {
      WorkerOptions options;
      options.index = i;
      options.session_moves = moves;
      workers.push_back(std::make_unique<Worker>(options));
    }
    for (auto& worker : workers) worker->set_peers({workers[0].get(), workers[1].get()});
  }
  void run(int64_t milliseconds) {
    std::vector<std::thread> threads;
    for (auto& worker : workers) threads.emplace_back([&worker] { worker->run(); });
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    stops = true;
    for (auto& worker : workers) worker->request_stop();
    for (std::thread& thread : threads) thread.join();
  }
  std::vector<std::unique_ptr<Worker>> workers;
  std::atomic<bool> stops = false;
};

// Works in turns, or sleeps for most of the time; ends where it is wanted elsewhere, if it can.
struct Session {
  Session(Workers& of, int on, int64_t pause_us) : all(of), pause_us(pause_us) {
    fiber = &of.workers[static_cast<size_t>(on)]->spawn(
        [](void* self) { static_cast<Session*>(self)->run(); }, this);
  }
  void run() {
    for (int i = 0; i < 2; ++i) fiber->offer_to_move();  // one that came back has done so before
    while (!all.stops) {
      int64_t until_us = monotonic_us() + 200;
      while (monotonic_us() < until_us) {
      }
      wanted += fiber->destination() >= 0;
      if (fiber->destination() >= 0 && can_move) {
        load = fiber->worker().let_go(*fiber);
        left_to = 1 - fiber->worker().index();
        return;
      }
      pause_us == 0 ? fiber->yield() : fiber->park(monotonic_us() + pause_us);
    }
  }
  Workers& all;
  const int64_t pause_us;
  WorkerFiber* fiber = nullptr;
  bool can_move = true;
  int wanted = 0;
  int left_to = -1;
  SessionLoad load;
};

TEST(WorkerBalance, HalfOfThoseWhoAlwaysHaveWorkAreWantedElsewhere) {
  Workers workers(SessionMoves::by_load);
  std::vector<std::unique_ptr<Session>> sessions;
  for (int i = 0; i < 4; ++i) sessions.push_back(std::make_unique<Session>(workers, 0, 0));
  workers.run(400);
  // Nobody takes them over, so there is always room: until one is left, whose move changes nothing.
  int left = 0;
  for (auto& session : sessions) {
    left += session->left_to == 1;
    if (session->left_to != 1) continue;
    EXPECT_GT(session->load.permille(session->load.runnable.window()), 0);
  }
  EXPECT_GE(left, 1);
  EXPECT_LE(left, 3);
}

TEST(WorkerBalance, OneMovesAtATime) {
  Workers workers(SessionMoves::by_load);
  std::vector<std::unique_ptr<Session>> sessions;
  for (int i = 0; i < 8; ++i) sessions.push_back(std::make_unique<Session>(workers, 0, 0));
  workers.run(250);
  int left = 0;
  for (auto& session : sessions) left += session->left_to == 1;
  EXPECT_LE(left, 3);
}

TEST(WorkerBalance, WhereNobodyWaitsNobodyMoves) {
  Workers workers(SessionMoves::by_load);
  std::vector<std::unique_ptr<Session>> sessions;
  // A tenth of the time each.
  for (int i = 0; i < 3; ++i) sessions.push_back(std::make_unique<Session>(workers, 0, 5000));
  workers.run(400);
  for (auto& session : sessions) EXPECT_EQ(session->wanted, 0);
}

// Nothing new is known of it then; it has not become less.
TEST(WorkerBalance, WhoCannotTellOfItsLoadHasIt) {
  Workers workers(SessionMoves::never);
  struct Blocks {
    static void run(void* self) {
      auto* fiber = *static_cast<WorkerFiber**>(self);
      for (int64_t until_us = monotonic_us() + 300'000; monotonic_us() < until_us;) fiber->yield();
      std::this_thread::sleep_for(std::chrono::milliseconds(600));
    }
  };
  WorkerFiber* fiber = nullptr;
  const Worker& worker = *workers.workers[0];
  fiber = &workers.workers[0]->spawn(Blocks::run, &fiber);
  std::thread running([&] { workers.run(1200); });
  std::this_thread::sleep_for(std::chrono::milliseconds(750));  // it sleeps since 450
  EXPECT_GT(worker.load_permille(monotonic_us()), 500);
  running.join();
}

TEST(WorkerBalance, TheOnlyOneStays) {
  Workers workers(SessionMoves::by_load);
  Session session(workers, 0, 0);
  workers.run(400);
  EXPECT_EQ(session.wanted, 0);
}

// One that cannot leave is asked for a window; then it is another one's turn.
TEST(WorkerBalance, WhoCannotLeaveIsNotAskedForEver) {
  Workers workers(SessionMoves::by_load);
  Session first(workers, 0, 0), second(workers, 0, 0), third(workers, 0, 0);
  first.can_move = second.can_move = third.can_move = false;
  workers.run(900);
  EXPECT_GT(first.wanted, 0);
  EXPECT_GT(second.wanted, 0);
  EXPECT_GT(third.wanted, 0);
}

// Whoever came there would wait for its turn to end.
TEST(WorkerBalance, WhoDoesNotGiveWayGetsNobody) {
  Workers workers(SessionMoves::by_load);
  std::vector<std::unique_ptr<Session>> sessions;
  for (int i = 0; i < 4; ++i) sessions.push_back(std::make_unique<Session>(workers, 0, 0));
  workers.workers[1]->spawn(
      [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(400)); }, nullptr);
  workers.run(350);
  for (auto& session : sessions) EXPECT_EQ(session->wanted, 0);
}

TEST(WorkerBalance, NeverIsNever) {
  Workers workers(SessionMoves::never);
  Session first(workers, 0, 0), second(workers, 0, 0);
  workers.run(300);
  EXPECT_EQ(first.wanted + second.wanted, 0);
}

TEST(WorkerBalance, WhatIsOfferedToOneThatHasEndedComesBack) {
  struct Nothing final : WorkerTask {
    void run(Worker&) override {}
  };
  Worker worker({});
  std::unique_ptr<WorkerTask> task = std::make_unique<Nothing>();
  EXPECT_TRUE(worker.offer(task));
  EXPECT_EQ(task, nullptr);
  worker.request_stop();
  worker.run();
  task = std::make_unique<Nothing>();
  EXPECT_FALSE(worker.offer(task));
  EXPECT_NE(task, nullptr);
}

}  // namespace
}  // namespace pgsilo
