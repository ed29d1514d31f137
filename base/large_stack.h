// Runs a function on a large guarded stack: parsing, planning, and whatever else recurses as deep
// as its input. Each thread keeps its large stacks (one, unless a fiber parks while on one) and
// reuses them; a switch costs some tens of nanoseconds. Calls may nest: an inner call runs where it
// is. Exceptions pass through.
#pragma once

#include <type_traits>
#include <utility>

namespace pgsilo {

void run_on_large_stack(void (*function)(void*), void* argument);
bool on_large_stack();
// For each thread that is to go on when the address space ends, as it begins: maps a stack that it
// keeps. Where there is no room for one, it has none, and run_on_large_stack() throws bad_alloc.
void take_large_stack();

// Calls `function()` on a large stack and returns its result, which must be void or movable.
template <typename Function>
auto run_on_large_stack(Function&& function) -> std::invoke_result_t<Function&> {
  using Result = std::invoke_result_t<Function&>;
  if constexpr (std::is_void_v<Result>) {
    run_on_large_stack([](void* f) { (*static_cast<std::remove_reference_t<Function>*>(f))(); },
                       const_cast<void*>(static_cast<const void*>(&function)));
  } else {
    // A union postpones construction until the function has returned; an exception leaves it empty.
    struct Call {
      std::remove_reference_t<Function>* function;
      union {
        Result result;
      };
      explicit Call(std::remove_reference_t<Function>* f) : function(f) {}
      ~Call() {}
    } call(&function);
    run_on_large_stack(
        [](void* c) {
          Call& inner = *static_cast<Call*>(c);
          new (&inner.result) Result((*inner.function)());
        },
        &call);
    struct Destroy {
      Result& result;
      ~Destroy() { result.~Result(); }
    } destroy{call.result};
    return std::move(call.result);
  }
}

}  // namespace pgsilo
