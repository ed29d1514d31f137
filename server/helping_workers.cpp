#include "server/helping_workers.h"

#include <utility>

#include "server/worker_home.h"

namespace pgsilo {
namespace {

// What a helping fiber starts with.
struct Visit {
  std::shared_ptr<SharedWork> work;
  WorkerContext& storage;
  WorkerFiber* fiber = nullptr;
};

void run_visit(void* argument) {
  std::unique_ptr<Visit> visit(static_cast<Visit*>(argument));
  WaitSettings settings;
  settings.parker = visit->fiber;
  while (visit->work->help(visit->storage, settings)) {
    if (visit->fiber->worker().slice_spent()) visit->fiber->yield();
  }
}

class HelpTask final : public WorkerTask {
 public:
  HelpTask(std::shared_ptr<SharedWork> work, WorkerContext& storage)
      : visit_(std::make_unique<Visit>(std::move(work), storage)) {}
  void run(Worker& worker) override {
    try {
      // Its sessions come first.
      visit_->fiber = &worker.spawn_background(run_visit, visit_.get());
      visit_.release();  // the fiber's
    } catch (const std::bad_alloc&) {
      visit_->work->decline();  // no stack for a fiber
    }
  }

 private:
  std::unique_ptr<Visit> visit_;
};

}  // namespace

void HelpingWorkers::offer(std::shared_ptr<SharedWork> work) {
  size_t at = next_.fetch_add(1, std::memory_order_relaxed) % workers_.size();
  if (&workers_[at]->worker() == Worker::current()) at = (at + 1) % workers_.size();
  WorkerHome& home = *workers_[at];
  home.worker().post(std::make_unique<HelpTask>(std::move(work), home.storage()));
}

}  // namespace pgsilo
