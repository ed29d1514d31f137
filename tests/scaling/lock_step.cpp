#include "tests/scaling/lock_step.h"

#include <semaphore.h>

#include <thread>

#include "tests/scaling/simulated_core.h"

namespace pgsilo::scaling {

namespace {

class Signal {
 public:
  Signal() { sem_init(&semaphore_, 0, 0); }
  ~Signal() { sem_destroy(&semaphore_); }
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;
  void give() { sem_post(&semaphore_); }
  void await() {
    while (sem_wait(&semaphore_) != 0) {
    }
  }

 private:
  sem_t semaphore_;
};

}  // namespace

struct LockStep::Runner {
  explicit Runner(unsigned core) : thread([this, core] { follow(core); }) {}
  void follow(unsigned core) {
    for (;;) {
      begin.await();
      if (work == nullptr) return;
      play_core(core);
      (*work)();
      play_core(no_core);
      end.give();
    }
  }

  Signal begin;
  Signal end;
  const std::function<void()>* work = nullptr;  // null: there will be no more
  std::thread thread;
};

LockStep::LockStep(unsigned cores) {
  for (unsigned core = 0; core < cores; ++core) runners_.push_back(std::make_unique<Runner>(core));
}

LockStep::~LockStep() {
  for (const auto& runner : runners_) {
    runner->work = nullptr;
    runner->begin.give();
    runner->thread.join();
  }
}

void LockStep::run(unsigned core, const std::function<void()>& work) {
  Runner& runner = *runners_[core];
  runner.work = &work;
  runner.begin.give();
  runner.end.await();
}

}  // namespace pgsilo::scaling
