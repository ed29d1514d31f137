#include "base/large_stack.h"

#include <exception>
#include <memory>
#include <new>
#include <vector>

#include "base/limits.h"
#include "base/sanitizers.h"
#include "base/stack.h"

namespace pgsilo {
namespace {

struct LargeStack {
  LargeStack() : stack(limits::large_stack_bytes, limits::kept_large_stack_bytes) {
    context.shares_tsan_fiber = true;
  }
  Stack stack;
  StackContext context;
};

struct LargeStacks {
  std::vector<std::unique_ptr<LargeStack>> free;
};
// Per thread: a stack must not change threads while something is on it, and taking one must cost
// nothing.
thread_local LargeStacks thread_large_stacks;

struct Detour {
  StackContext* from;
  StackContext* to;
  void (*function)(void*);
  void* argument;
  std::exception_ptr error;
};

// An exception cannot unwind across stacks: it is carried over. The switch happens outside the
// handler.
PGSILO_NO_TSAN_FRAME void run_detour(void* argument) {
  Detour& detour = *static_cast<Detour*>(argument);
  try {
    detour.function(detour.argument);
  } catch (...) {
    detour.error = std::current_exception();
  }
  switch_stack(*detour.to, *detour.from, true);
}

}  // namespace

void take_large_stack() {
  try {
    run_on_large_stack([] {});
  } catch (const std::bad_alloc&) {
  }
}

bool on_large_stack() { return current_stack_context().bytes >= limits::large_stack_bytes; }

void run_on_large_stack(void (*function)(void*), void* argument) {
  if (on_large_stack()) {
    function(argument);
    return;
  }
  auto& free = thread_large_stacks.free;
  std::unique_ptr<LargeStack> large;
  if (free.empty()) {
    large = std::make_unique<LargeStack>();
  } else {
    large = std::move(free.back());
    free.pop_back();
  }
  StackContext& from = current_stack_context();
  large->context.tsan_fiber = from.tsan_fiber;
  Detour detour{&from, &large->context, function, argument, nullptr};
  prepare_stack_context(large->context, large->stack, run_detour, &detour);
  switch_stack(from, large->context);
  if (free.size() < limits::pooled_large_stacks) {
    large->stack.recycle();
    free.push_back(std::move(large));
  }
  if (detour.error != nullptr) std::rethrow_exception(std::move(detour.error));
}

}  // namespace pgsilo
