// Call stacks of our own: mapped lazily, a guard page at the low end, so that an overflow stops the
// process instead of writing into a neighbour. And the one place that switches from one stack to
// another and tells the sanitizers. Thread safety: a stack, a pool and a context belong to one
// thread at a time; contexts never change threads.
#pragma once

#include <cstddef>
#include <vector>

namespace pgsilo {

// Owns the mapping of one stack.
class Stack {
 public:
  Stack() = default;
  // Reserves `bytes` (rounded up to pages) and a guard page. Throws std::bad_alloc when the system
  // refuses. After a use deeper than `kept_bytes`, recycle() gives the deeper pages back to the
  // system.
  Stack(size_t bytes, size_t kept_bytes);
  ~Stack();
  Stack(Stack&& other) noexcept;
  Stack& operator=(Stack&& other) noexcept;

  char* bottom() const { return bottom_; }
  char* top() const { return bottom_ + bytes_; }
  size_t bytes() const { return bytes_; }
  explicit operator bool() const { return bottom_ != nullptr; }
  void recycle();

 private:
  char* depth_mark() const;
  void set_depth_mark();

  char* bottom_ = nullptr;  // lowest usable byte; the guard page lies below
  size_t bytes_ = 0;
  size_t kept_bytes_ = 0;
};

// Keeps finished fibers' stacks for the next ones.
class StackPool {
 public:
  StackPool(size_t stack_bytes, size_t kept_bytes);
  Stack acquire();
  void release(Stack stack);

 private:
  size_t stack_bytes_;
  size_t kept_bytes_;
  std::vector<Stack> free_;
};

// A suspended flow of control and the stack it lives on.
struct StackContext {
  void* resume_point = nullptr;  // where switch_stack() continues it
  // Of the last switch to it. Kept here, not among the locals of the flow that is left: with that
  // flow's end they may be gone before the other side reads them.
  StackContext* switched_from = nullptr;
  const char* bottom = nullptr;
  size_t bytes = 0;
  void* asan_fake_stack = nullptr;
  void* tsan_fiber = nullptr;
  bool shares_tsan_fiber = false;  // a large stack is a detour of the same flow of control
};

// Prepares `context` to run entry(argument) on `stack` at the first switch to it; entry never
// returns, it ends by a last switch_stack(..., true).
void prepare_stack_context(StackContext& context, const Stack& stack, void (*entry)(void*),
                           void* argument);
// Frees what the sanitizers hold for a context that will not run again.
void discard_stack_context(StackContext& context);
// Saves the running flow in `from` and continues `to`. Returns when somebody switches back to
// `from`.
void switch_stack(StackContext& from, StackContext& to, bool from_ends = false);

// The context this thread runs in now (at first its own stack).
StackContext& current_stack_context();

// Bytes left on the running stack, whichever it is.
size_t stack_bytes_left();
// False when recursion should stop with an error (54001).
bool stack_has_room();

}  // namespace pgsilo
