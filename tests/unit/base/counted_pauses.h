// A fiber that counts how often its long work gives way, and ends it where a test wants.
#pragma once

#include <stdexcept>

#include "base/fiber.h"
#include "base/limits.h"
#include "base/long_work.h"

namespace pgsilo {

struct CountedPauses final : WorkPause {
  void give_way() override { ++ways_given; }
  int ways_given = 0;
  int count = 0;
  int last = 1000;  // the pause that ends the work
  void pause_work() override {
    if (++count == last) throw std::runtime_error("enough");
    Fiber::current()->suspend();
  }
};

// Runs work() in a fiber to its end, or to what a pause throws.
template <typename Work>
void run_with(CountedPauses& pauses, Work work) {
  StackPool stacks(limits::fiber_stack_bytes, limits::kept_stack_bytes);
  auto body = [](void* argument) {
    try {
      (*static_cast<Work*>(argument))();
    } catch (const std::runtime_error&) {
    }
  };
  Fiber fiber(stacks, body, &work);
  fiber.set_work_pause(&pauses);
  while (!fiber.finished()) fiber.resume();
}

}  // namespace pgsilo
