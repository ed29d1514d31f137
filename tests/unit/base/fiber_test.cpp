#include "base/fiber.h"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/large_stack.h"
#include "base/limits.h"

namespace pgsilo {
namespace {

StackPool small_pool() { return StackPool(limits::fiber_stack_bytes, limits::kept_stack_bytes); }

TEST(FiberTest, RunsInTurns) {
  StackPool pool = small_pool();
  std::string log;
  Fiber fiber(
      pool,
      [](void* text) {
        auto& out = *static_cast<std::string*>(text);
        out += "a";
        Fiber::current()->suspend();
        out += "c";
      },
      &log);
  EXPECT_EQ(log, "");
  fiber.resume();
  log += "b";
  EXPECT_FALSE(fiber.finished());
  EXPECT_EQ(Fiber::current(), nullptr);
  fiber.resume();
  EXPECT_TRUE(fiber.finished());
  EXPECT_EQ(log, "abc");
}

TEST(FiberTest, ManyFibersKeepTheirOwnLocals) {
  StackPool pool = small_pool();
  struct Job {
    int number;
    int sum = 0;
  };
  std::vector<Job> jobs;
  for (int i = 0; i < 100; ++i) jobs.push_back({i});
  std::vector<std::unique_ptr<Fiber>> fibers;
  for (Job& job : jobs) {
    fibers.push_back(std::make_unique<Fiber>(
        pool,
        [](void* argument) {
          auto& mine = *static_cast<Job*>(argument);
          for (int turn = 0; turn < 10; ++turn) {
            int before = mine.sum;
            Fiber::current()->suspend();
            mine.sum = before + mine.number;
          }
        },
        &job));
  }
  for (int turn = 0; turn <= 10; ++turn) {
    for (auto& fiber : fibers) fiber->resume();
  }
  for (size_t i = 0; i < jobs.size(); ++i) {
    EXPECT_TRUE(fibers[i]->finished());
    EXPECT_EQ(jobs[i].sum, static_cast<int>(i) * 10);
  }
}

TEST(FiberTest, ExceptionsStayInsideTheirFiber) {
  StackPool pool = small_pool();
  std::string caught;
  Fiber fiber(
      pool,
      [](void* text) {
        std::string message;
        try {
          Fiber::current()->suspend();
          throw std::runtime_error("inside");
        } catch (const std::exception& error) {
          message = error.what();
        }
        Fiber::current()->suspend();
        *static_cast<std::string*>(text) = message;
      },
      &caught);
  fiber.resume();
  try {
    throw std::logic_error("outside");
  } catch (const std::logic_error&) {
  }
  fiber.resume();
  fiber.resume();
  EXPECT_EQ(caught, "inside");
}

int deep(int levels) {
  volatile char frame[1024] = {};
  frame[levels % 1024] = 1;
  return levels == 0 ? frame[0] : deep(levels - 1) + frame[levels % 1024];
}

TEST(LargeStackTest, HoldsDeepRecursion) {
  const int levels = static_cast<int>(limits::large_stack_bytes / 4096);
  EXPECT_EQ(run_on_large_stack([&] { return deep(levels); }), levels + 1);
  // Again on the same, recycled stack.
  EXPECT_EQ(run_on_large_stack([&] { return deep(levels); }), levels + 1);
}

TEST(LargeStackTest, PassesExceptionsAndResults) {
  EXPECT_THROW(run_on_large_stack([] { throw std::runtime_error("through"); }), std::runtime_error);
  std::string text = run_on_large_stack([] { return std::string(1000, 'x'); });
  EXPECT_EQ(text.size(), 1000u);
  bool nested =
      run_on_large_stack([] { return run_on_large_stack([] { return on_large_stack(); }); });
  EXPECT_TRUE(nested);
  EXPECT_FALSE(on_large_stack());
}

TEST(LargeStackTest, AFiberMayParkOnIt) {
  StackPool pool = small_pool();
  auto body = [](void* counter) {
    run_on_large_stack([&] {
      int local = *static_cast<int*>(counter);
      Fiber::current()->suspend();
      *static_cast<int*>(counter) = local + 1;
    });
  };
  int first_count = 10, second_count = 20;
  Fiber first(pool, body, &first_count), second(pool, body, &second_count);
  first.resume();
  second.resume();
  EXPECT_FALSE(on_large_stack());
  first.resume();
  second.resume();
  EXPECT_TRUE(first.finished() && second.finished());
  EXPECT_EQ(first_count, 11);
  EXPECT_EQ(second_count, 21);
}

int recurse_while_room(int depth) {
  volatile char frame[256] = {};
  frame[0] = 1;
  return stack_has_room() ? recurse_while_room(depth + 1) + frame[1] : depth;
}

TEST(StackTest, RoomEndsBeforeTheGuardPage) {
  StackPool pool = small_pool();
  int depth = 0;
  Fiber fiber(pool, [](void* out) { *static_cast<int*>(out) = recurse_while_room(0); }, &depth);
  fiber.resume();
  EXPECT_GT(depth, 50);
  EXPECT_GT(run_on_large_stack([] { return recurse_while_room(0); }), depth * 5);
}

}  // namespace
}  // namespace pgsilo
