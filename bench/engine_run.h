// What the benchmarks of the engine share: options, pinned workers that run one-shot transactions
// as fast as they can, and the report. As in Silo's evaluation (SOSP 2013, section 5.1) each worker
// is its own workload generator, and a transaction that meets a conflict runs again.
//
// Instructions per transaction: run_transactions() is the measured loop, bench/instructions counts
// it under callgrind. Thread safety: one thread runs a benchmark.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/engine_database.h"
#include "bench/engine_log_options.h"
#include "bench/measured_worker.h"
#include "bench/run_series.h"
#include "bench/run_watch.h"

namespace pgsilo {

// One worker's generator.
class EngineClient {
 public:
  virtual ~EngineClient() = default;
  // Draws the next transaction with its input; returns its type.
  virtual size_t draw() = 0;
  // One attempt at it, between begin() and commit(). ok: commit; not_found: the answer is an error,
  // roll back; a conflict: again.
  virtual TransactionStatus run(Transaction& transaction) = 0;
};

class EngineWorkload {
 public:
  virtual ~EngineWorkload() = default;
  virtual std::string_view name() const = 0;
  virtual std::span<const std::string_view> types() const = 0;
  // Worker `worker` of `workers` loads its share, beside the others.
  virtual void load(Transaction& transaction, unsigned worker, unsigned workers) = 0;
  virtual std::unique_ptr<EngineClient> client(unsigned worker) = 0;
};

struct EngineRunOptions {
  explicit EngineRunOptions(Arguments& arguments);
  static constexpr const char* usage =
      "  --threads N        workers, pinned to CPUs (1)\n"
      "  --seconds N        how long (10)\n"
      "  --transactions N   or how many, all workers together: repeatable to the instruction\n"
      "  --seed N           of the inputs (1)\n"
      "  --huge-pages on|off  for rows and trees (on)\n"
      "  --clients N        with the log: how many transactions of a worker wait for durability\n"
      "                     before it does (2048); 0: any number, none of which asks for a sync\n"
      "  --series FILE      what each 100 ms were like, as CSV (run_series.h); with --seconds\n"
      "  --kill-in-checkpoint N  with the log: one checkpoint of what was loaded; then the "
      "process\n"
      "                     kills itself when the Nth one after it is about to be complete\n";

  unsigned threads;
  uint64_t seconds;
  uint64_t transactions;  // 0: by time
  uint64_t seed;
  EngineLogOptions log;
  uint64_t clients;
  std::string series;           // empty: none
  uint64_t kill_in_checkpoint;  // 0: none
};

// Says that there is a database in the log's directory already; false.
bool refuse_to_load(const EngineRunOptions& options);

class EngineRun {
 public:
  EngineRun(EngineDatabase& database, EngineWorkload& workload, const EngineRunOptions& options);
  ~EngineRun();

  void load();
  // Runs and prints the report; its last line is one of NAME=VALUE pairs.
  WorkerCounts run();
  Transaction& transaction() { return workers_.front()->transaction; }

 private:
  void report(const WorkerCounts& counts, double seconds, const LogWork& log) const;
  std::string write_series() const;

  EngineDatabase& database_;
  EngineWorkload& workload_;
  const EngineRunOptions options_;
  std::vector<std::unique_ptr<EngineWorker>> workers_;
  std::optional<RunSeries> series_;
};

}  // namespace pgsilo
