// The measured loop of one worker: draw a transaction, run it until it commits or its answer is an
// error, and (with the log) count it as answered when it is durable. Thread safety: the worker's
// thread; counts() after its end.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <vector>

#include "base/latency_histogram.h"
#include "storage/epoch/epoch.h"
#include "storage/transaction/abort_reason.h"

namespace pgsilo {

class EngineClient;
struct EngineRunOptions;
struct EngineWorker;
class WorkerSeries;

struct WorkerCounts {
  explicit WorkerCounts(size_t types) : committed(types), rolled_back(types) {}
  void add(const WorkerCounts& other);

  std::vector<uint64_t> committed;
  std::vector<uint64_t> rolled_back;
  std::array<uint64_t, transaction_status_count> aborts{};
  LatencyHistogram latency;
  int64_t cpu_ns = 0;  // that the workers had, on a machine shared with others
};

class MeasuredWorker {
 public:
  // Runs until `stop`, or its share of a number of transactions. `series` may be null.
  MeasuredWorker(EngineWorker& worker, size_t types, const EngineRunOptions& options,
                 const std::atomic<bool>& stop, WorkerSeries* series);

  [[gnu::noinline]] void run_transactions(EngineClient& client);
  const WorkerCounts& counts() const { return counts_; }

 private:
  // Committed, but perhaps not durable yet.
  struct Unanswered {
    Epoch epoch;
    int64_t start_ns;
  };
  bool is_over() const;
  bool run_one(EngineClient& client);
  void wait_for_log(Epoch epoch, int64_t start_ns, int64_t now_ns);
  void answer(int64_t now_ns);
  void answer_down_to(size_t unanswered);
  void count_epoch();

  EngineWorker& worker_;
  const std::atomic<bool>& stop_;
  WorkerSeries* const series_;
  const uint64_t quota_;  // 0: until stop
  const size_t clients_;
  uint64_t done_ = 0;
  std::deque<Unanswered> unanswered_;
  Epoch newest_;  // of those in the queue, and of those before them
  Epoch asked_;
  WorkerCounts counts_;
};

}  // namespace pgsilo
