#include "server/worker_home.h"

#include <exception>
#include <new>
#include <optional>
#include <utility>

#include "base/crash_report.h"
#include "base/large_stack.h"
#include "base/process_memory.h"
#include "base/small_memory.h"
#include "server/reception.h"
#include "server/session/session.h"
#include "server/session/session_handoff.h"
#include "server/session/session_registry.h"

namespace pgsilo {

// A session's client, with what its fiber starts with.
struct WorkerHome::Arrival {
  WorkerHome* home;
  ClientSocket client;
  std::unique_ptr<SessionHandoff> handoff = nullptr;  // null: a new session
  WorkerFiber* fiber = nullptr;
};

class WorkerHome::ClientCall final : public WorkerTask {
 public:
  explicit ClientCall(WorkerHome& home) : home_(home) {}
  void run(Worker&) override { home_.serve_next_client(); }

 private:
  WorkerHome& home_;
};

// Somebody comes from another worker.
class WorkerHome::SessionCall final : public WorkerTask {
 public:
  void run(Worker&) override {
    WorkerHome& home = *arrival->home;
    home.begin_session(std::move(arrival));
  }
  std::unique_ptr<Arrival> arrival;
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
      services_{worker_,
                storage_,
                plans_,
                parts.parsers,
                parts.temporary,
                parts.catalog,
                parts.wal.checkpointer(),
                parts.sessions,
                parts.settings,
                parts.monitor,
                parts.log,
                statistics_,
                memory_} {
  worker_.commit_queue().set_service(this);
  worker_.set_chores(this);
  memory_.set_cache(&plans_);
  wal_.set_listener(index_, this);
}

WorkerHome::~WorkerHome() { wal_.set_listener(index_, nullptr); }

void WorkerHome::start() {
  thread_ = std::thread([this] {
    take_thread_memory();
    begin_small_memory();
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
  try {
    begin_session(std::unique_ptr<Arrival>(new Arrival{this, std::move(*client)}));
  } catch (const std::bad_alloc&) {
    say_farewell(descriptor, out_of_memory_farewell());
  }
}

void WorkerHome::begin_session(std::unique_ptr<Arrival> arrival) {
  try {
    arrival->fiber = &worker_.spawn(run_session, arrival.get());
    if (arrival->handoff != nullptr) worker_.take_over(*arrival->fiber, arrival->handoff->load);
    static_cast<void>(arrival.release());  // the fiber's
  } catch (const std::bad_alloc&) {
    if (arrival->handoff != nullptr) services_.sessions.remove(arrival->handoff->process);
    say_farewell(arrival->client.descriptor(), out_of_memory_farewell());
  }
}

void WorkerHome::run_session(void* argument) {
  std::unique_ptr<Arrival> arrival(static_cast<Arrival*>(argument));
  while ((arrival->handoff = serve(*arrival)) != nullptr) {
    if (send_on(arrival)) return;
    // The other worker has ended meanwhile, or there was no memory to tell it.
    arrival->home->worker_.take_over(*arrival->fiber, arrival->handoff->load);
  }
}

// Until the session ends, or is to go on elsewhere.
std::unique_ptr<SessionHandoff> WorkerHome::serve(Arrival& arrival) {
  const SessionServices& services = arrival.home->services_;
  int32_t process = arrival.handoff == nullptr ? 0 : arrival.handoff->process;
  std::shared_ptr<SessionActivity> activity;  // the registry's entry must not outlive it
  if (arrival.handoff != nullptr) activity = arrival.handoff->activity;
  try {
    Session session(services, *arrival.fiber, arrival.client.descriptor(),
                    std::move(arrival.handoff));
    session.run();
    return session.take_handoff();
  } catch (...) {
    // There was no memory (or no room in epoll) for it.
    if (activity != nullptr) services.sessions.remove(process);
    say_farewell(arrival.client.descriptor(), out_of_memory_farewell());
    return nullptr;
  }
}

// False: it is the caller's as before.
bool WorkerHome::send_on(std::unique_ptr<Arrival>& arrival) {
  WorkerHome& from = *arrival->home;
  WorkerHome& to = *from.peers_[static_cast<size_t>(arrival->handoff->destination)];
  arrival->handoff->load = from.worker_.let_go(*arrival->fiber);
  auto* call = new (std::nothrow) SessionCall;
  if (call == nullptr) return false;
  std::unique_ptr<WorkerTask> task(call);
  arrival->home = &to;
  call->arrival = std::move(arrival);
  try {
    // From here on it is the other thread's.
    if (to.worker_.offer(task)) return true;
  } catch (const std::bad_alloc&) {
  }
  arrival = std::move(call->arrival);
  arrival->home = &from;
  return false;
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
