// A fiber: a function with a stack of its own that runs in turns on one thread. resume() runs it
// until it suspends itself or ends; suspend() gives control back to whoever resumed it. Thread
// safety: a fiber lives on the thread that first resumed it. Invariants: never suspended inside a
// catch block or while an exception unwinds (the C++ runtime keeps exception state per thread); an
// exception never leaves the body; a fiber is destroyed only before its start or after its end.
#pragma once

#include "base/stack.h"

namespace pgsilo {

class WorkPause;

class Fiber {
 public:
  using Body = void (*)(void* argument);
  // The body runs at the first resume(). Throws std::bad_alloc.
  Fiber(StackPool& pool, Body body, void* argument);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Called outside the fiber: runs it until its next suspend() or its end.
  void resume();
  // Called inside the fiber (also while it is on a large stack).
  void suspend();
  bool finished() const { return finished_; }
  // The fiber that is running on this thread, or null.
  static Fiber* current();

  // Who is asked during long work (base/long_work.h); null: nobody.
  void set_work_pause(WorkPause* pause) { work_pause_ = pause; }
  WorkPause* work_pause() const { return work_pause_; }

 private:
  static void run(void* self);

  StackPool& pool_;
  Stack stack_;
  StackContext own_;                 // where its body starts
  StackContext* inside_ = &own_;     // where it continues: its own stack or a large one
  StackContext* outside_ = nullptr;  // whoever resumed it
  Fiber* previous_ = nullptr;        // the fiber that was current then
  WorkPause* work_pause_ = nullptr;
  Body body_;
  void* argument_;
  bool started_ = false;
  bool finished_ = false;
};

}  // namespace pgsilo
