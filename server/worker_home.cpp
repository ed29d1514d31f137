#include "server/worker_home.h"

#include <exception>
#include <new>

#include "base/crash_report.h"
#include "base/process_memory.h"
#include "server/reception.h"
#include "server/session/session.h"

namespace pgsilo {
namespace {

// What a session's fiber starts with.
struct Arrival {
  SessionServices services;
  ClientSocket client;
  WorkerFiber* fiber = nullptr;
};

void run_session(void* argument) {
  std::unique_ptr<Arrival> arrival(static_cast<Arrival*>(argument));
  try {
    Session session(arrival->services, *arrival->fiber, arrival->client.descriptor());
    session.run();
  } catch (...) {
    // There was no memory (or no room in epoll) for it.
    say_farewell(arrival->client.descriptor(), out_of_memory_farewell());
  }
}

class AdoptTask final : public WorkerTask {
 public:
  AdoptTask(const SessionServices& services, ClientSocket client)
      : arrival_(new Arrival{services, std::move(client)}) {}
  ~AdoptTask() override {
    // It came to nothing for want of memory.
    if (arrival_ != nullptr) say_farewell(arrival_->client.descriptor(), out_of_memory_farewell());
  }
  void run(Worker& worker) override {
    try {
      arrival_->fiber = &worker.spawn(run_session, arrival_.get());
      static_cast<void>(arrival_.release());  // the fiber's
    } catch (const std::bad_alloc&) {
    }
  }

 private:
  std::unique_ptr<Arrival> arrival_;
};

}  // namespace

WorkerHome::WorkerHome(const WorkerOptions& options, const Parts& parts)
    : engine_(parts.engine),
      wal_(parts.wal),
      reception_(parts.reception),
      index_(static_cast<unsigned>(options.index)),
      worker_(options),
      storage_(parts.engine, parts.wal.worker_log(index_)),
      memory_(parts.memory, index_),
      services_{
          worker_,        storage_,       plans_,        parts.catalog, parts.wal.checkpointer(),
          parts.sessions, parts.settings, parts.monitor, parts.log,     statistics_,
          memory_} {
  worker_.commit_queue().set_service(this);
  worker_.set_chores(this);
  wal_.set_listener(index_, this);
}

WorkerHome::~WorkerHome() { wal_.set_listener(index_, nullptr); }

void WorkerHome::start() {
  thread_ = std::thread([this] {
    take_thread_memory();
    CrashStack crash_stack;
    MemoryBudget::Use use(memory_);
    worker_.run();
  });
}

void WorkerHome::join() { thread_.join(); }

void WorkerHome::adopt(ClientSocket client) {
  worker_.post(std::make_unique<AdoptTask>(services_, std::move(client)));
}

void WorkerHome::request(uint64_t epoch) {
  wal_.request_durable(index_, Epoch(epoch), LoggerWake::later);
}

bool WorkerHome::try_step() {
  if (!reception_.may_leave(index_)) {
    wal_.wake_logger(index_);
    return false;
  }
  struct Away {
    Reception& reception;
    unsigned worker;
    ~Away() { reception.is_back(worker); }
  } away{reception_, index_};
  return wal_.try_step(index_);
}

void WorkerHome::wake_log() { wal_.wake_logger(index_); }

void WorkerHome::on_durable(Epoch) { worker_.wake(); }

bool WorkerHome::run() { return storage_.housekeep(); }

}  // namespace pgsilo
