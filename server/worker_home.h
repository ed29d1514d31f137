// Everything that belongs to one worker of the server: its loop and thread, its part of the engine,
// its plan cache, and the adapters between them. A session that leaves its worker goes from one
// home to another (docs/session_moves.md): its object ends here, what it takes along is posted, and
// a new one begins there.
//
// Thread safety: made, started and joined by the composition root; used by its own thread in
// between. call_for_client() is for any thread.
#pragma once

#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "base/memory_budget.h"
#include "executor/plan_cache.h"
#include "executor/worker/worker.h"
#include "server/session/session_services.h"
#include "server/statistics/worker_statistics.h"
#include "storage/transaction/worker_context.h"
#include "wal/wal.h"

namespace pgsilo {

class ParserThreads;
class Reception;
class TemporaryStorage;
struct SessionHandoff;

class WorkerHome final : DurabilityService, DurableListener, WorkerChores {
 public:
  struct Parts {
    EngineParts engine;
    Wal& wal;
    Catalog& catalog;
    SessionRegistry& sessions;
    const ServerSettings& settings;
    ServerMonitor& monitor;
    ServerLog& log;
    MemoryCeiling& memory;
    Reception& reception;
    ParserThreads& parsers;
    TemporaryStorage& temporary;
  };
  WorkerHome(const WorkerOptions& options, const Parts& parts);
  ~WorkerHome() override;
  WorkerHome(const WorkerHome&) = delete;
  WorkerHome& operator=(const WorkerHome&) = delete;

  // Before start(): all of the server's, by index. They outlive the threads.
  void set_peers(std::vector<WorkerHome*> peers) { peers_ = std::move(peers); }
  void start();
  // After Worker::request_stop().
  void join();
  // Somebody waits at the reception: it comes and begins a session with whoever is first there.
  // Throws std::bad_alloc.
  void call_for_client();

  Worker& worker() { return worker_; }
  WorkerContext& storage() { return storage_; }
  WorkerStatistics& statistics() { return statistics_; }

 private:
  class ClientCall;
  class SessionCall;
  struct Arrival;

  void serve_next_client();
  void begin_session(std::unique_ptr<Arrival> arrival);
  static void run_session(void* argument);
  static std::unique_ptr<SessionHandoff> serve(Arrival& arrival);
  static bool send_on(std::unique_ptr<Arrival>& arrival);
  // DurabilityService
  uint64_t durable_epoch() const override { return engine_.durable.get().value(); }
  void request(uint64_t epoch) override;
  bool try_step() override;
  void wake_log() override;
  void pass_on() override { wal_.pass_on(index_); }
  // DurableListener
  bool on_durable(Epoch durable) override;
  // WorkerChores
  bool run() override;

  EngineParts engine_;
  Wal& wal_;
  Reception& reception_;
  const unsigned index_;
  Worker worker_;
  WorkerContext storage_;
  MemoryBudget memory_;
  PlanCache plans_;
  uint64_t refusals_seen_ = 0;  // the ceiling's
  WorkerStatistics statistics_;
  SessionServices services_;
  std::vector<WorkerHome*> peers_;
  std::thread thread_;
};

}  // namespace pgsilo
