#include "server/worker_home.h"

#include <exception>
#include <new>
#include <optional>
#include <utility>

#include "base/crash_report.h"
#include "base/large_stack.h"
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

}  // namespace

class WorkerHome::ClientCall final : public WorkerTask {
 public:
  explicit ClientCall(WorkerHome& home) : home_(home) {}
  void run(Worker&) override { home_.serve_next_client(); }

 private:
  WorkerHome& home_;
};

WorkerHome::WorkerHome(const WorkerOptions& options, const Parts& parts)
    : engine_(parts.engine),
      wal_(parts.wal),
      reception_(parts.reception),
      index_(static_cast<unsigned>(options.index)),
      worker_(options),
      storage_(parts.engine, parts.wal.worker_log(index_)),
      memory_(parts.memory, index_),
      plans_(PlanCache::bounds_of(parts.memory.limit_bytes(), parts.wal.workers())),
      services_{worker_,        storage_,       plans_,
                parts.parsers,  parts.catalog,  parts.wal.checkpointer(),
                parts.sessions, parts.settings, parts.monitor,
                parts.log,      statistics_,    memory_} {
  worker_.commit_queue().set_service(this);
  worker_.set_chores(this);
  memory_.set_cache(&plans_);
  wal_.set_listener(index_, this);
}

WorkerHome::~WorkerHome() { wal_.set_listener(index_, nullptr); }

void WorkerHome::start() {
  thread_ = std::thread([this] {
    take_thread_memory();
    take_large_stack();
    CrashStack crash_stack;
    MemoryBudget::Use use(memory_);
    worker_.run();
  });
}

void WorkerHome::join() { thread_.join(); }

void WorkerHome::call_for_client() { worker_.post(std::make_unique<ClientCall>(*this)); }

void WorkerHome::serve_next_client() {
  std::optional<ClientSocket> client = reception_.next_client(index_);
  if (!client) return;
  int descriptor = client->descriptor();
  std::unique_ptr<Arrival> arrival;
  try {
    arrival.reset(new Arrival{services_, std::move(*client)});
    arrival->fiber = &worker_.spawn(run_session, arrival.get());
    static_cast<void>(arrival.release());  // the fiber's
  } catch (const std::bad_alloc&) {
    say_farewell(descriptor, out_of_memory_farewell());
  }
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

bool WorkerHome::on_durable(Epoch) { return worker_.wake(); }

bool WorkerHome::run() {
  // Others have none left.
  if (uint64_t refusals = memory_.ceiling().refusals(); refusals != refusals_seen_) {
    refusals_seen_ = refusals;
    plans_.give_back();
  }
  return storage_.housekeep();
}

}  // namespace pgsilo
