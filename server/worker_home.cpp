#include "server/worker_home.h"

#include <unistd.h>

#include <exception>
#include <new>

#include "server/session/session.h"

namespace pgsilo {
namespace {

// What a session's fiber starts with.
struct Arrival {
  SessionServices services;
  int descriptor;
  WorkerFiber* fiber = nullptr;
};

void run_session(void* argument) {
  std::unique_ptr<Arrival> arrival(static_cast<Arrival*>(argument));
  try {
    Session session(arrival->services, *arrival->fiber, arrival->descriptor);
    session.run();
  } catch (const std::exception&) {
    // There was no memory (or no room in epoll) for it: its connection is closed, its transaction
    // rolled back.
  }
}

class AdoptTask final : public WorkerTask {
 public:
  AdoptTask(const SessionServices& services, int descriptor)
      : services_(services), descriptor_(descriptor) {}
  void run(Worker& worker) override {
    try {
      auto arrival = std::make_unique<Arrival>(Arrival{services_, descriptor_});
      arrival->fiber = &worker.spawn(run_session, arrival.get());
      static_cast<void>(arrival.release());  // the fiber's
    } catch (const std::bad_alloc&) {
      close(descriptor_);  // no memory for another session
    }
  }

 private:
  SessionServices services_;
  int descriptor_;
};

}  // namespace

WorkerHome::WorkerHome(const WorkerOptions& options, const Parts& parts)
    : engine_(parts.engine),
      wal_(parts.wal),
      index_(static_cast<unsigned>(options.index)),
      worker_(options),
      storage_(parts.engine, parts.wal.worker_log(index_)),
      memory_(parts.memory, index_),
      services_{
          worker_,        storage_,       plans_,        parts.catalog, parts.wal.checkpointer(),
          parts.sessions, parts.settings, parts.monitor, statistics_,   memory_} {
  worker_.commit_queue().set_service(this);
  worker_.set_chores(this);
  wal_.set_listener(index_, this);
}

WorkerHome::~WorkerHome() { wal_.set_listener(index_, nullptr); }

void WorkerHome::start() {
  thread_ = std::thread([this] {
    MemoryBudget::Use use(memory_);
    worker_.run();
  });
}

void WorkerHome::join() { thread_.join(); }

void WorkerHome::adopt(int descriptor) {
  worker_.post(std::make_unique<AdoptTask>(services_, descriptor));
}

void WorkerHome::request(uint64_t epoch) {
  wal_.request_durable(index_, Epoch(epoch), LoggerWake::later);
}

bool WorkerHome::try_step() { return wal_.try_step(index_); }

void WorkerHome::wake_log() { wal_.wake_logger(index_); }

void WorkerHome::on_durable(Epoch) { worker_.wake(); }

bool WorkerHome::run() { return storage_.housekeep(); }

}  // namespace pgsilo
