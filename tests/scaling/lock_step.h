// Threads that play cores, one of which runs at a time: so counts are the same in every run, and
// any number of workers fits on a machine with few CPUs. What they cannot show is what happens
// inside a transaction while others run (docs/scaling.md). Each is a thread of its own all the
// same, for memory comes from its thread's caches and thread-locals are its thread's.
// Thread safety: run() from one thread that plays no core.
#pragma once

#include <functional>
#include <memory>
#include <vector>

namespace pgsilo::scaling {

class LockStep {
 public:
  explicit LockStep(unsigned cores);
  ~LockStep();
  // On that core's thread; returns when it is done.
  void run(unsigned core, const std::function<void()>& work);

 private:
  struct Runner;
  std::vector<std::unique_ptr<Runner>> runners_;
};

}  // namespace pgsilo::scaling
