// Runs small concurrent programs under every schedule with at most so many preemptions: threads are
// fibers, and they may be switched only where the code under test calls schedule_point(), which its
// special build does before every access to a shared word. Depth-first over the choices; each run
// is repeated from the start, so programs must be deterministic. Memory is sequentially consistent
// here; orders are ThreadSanitizer's and the reviewer's business. Thread safety: one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/stack.h"

namespace pgsilo {

// Where threads may be switched. `waiting`: the caller can go on only after another made a step.
void schedule_point(bool waiting);

class Interleaver {
 public:
  struct Program {
    virtual ~Program() = default;
    // The body of thread `index`, on a fiber; switched at schedule points.
    virtual void run_thread(int index) = 0;
    // After all threads ended: what is wrong, or empty.
    virtual std::string verdict() = 0;
  };

  // `make` builds the program's initial state, without being switched.
  Interleaver(int threads, int max_preemptions, std::function<Program*()> make)
      : threads_(threads), max_preemptions_(max_preemptions), make_(std::move(make)) {}

  // The first failure with its schedule, or empty when every schedule is fine.
  std::string explore();
  size_t runs() const { return runs_; }

  // Called by schedule_point().
  void point(bool waiting);
  // The schedule points passed so far in this run: a clock.
  uint64_t now() const { return steps_; }
  static Interleaver* current();

 private:
  struct Choice {
    int taken = 0;  // 0: the running thread goes on; i: the i-th other one
    int options = 1;
  };
  struct Thread;

  void run_once();
  bool next_schedule();
  void choose(bool waiting);
  std::string schedule_text() const;

  StackPool stacks_{256 * 1024, 256 * 1024};
  const int threads_;
  const int max_preemptions_;
  std::function<Program*()> make_;
  std::vector<Choice> schedule_;
  size_t position_ = 0;
  int preemptions_ = 0;
  int running_ = 0;
  int waits_in_a_row_ = 0;
  bool deadlock_ = false;
  uint64_t steps_ = 0;
  size_t runs_ = 0;
  std::string failure_;
  std::vector<Thread*> alive_;
};

}  // namespace pgsilo
