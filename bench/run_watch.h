// What the main thread of a benchmark does while its workers work: it waits for the end, looks now
// and then what the log is at (for a series), asks for one checkpoint after the other if that is
// wanted, and kills the process in the midst of one if that is wanted. Thread safety: that thread.
#pragma once

#include <cstdint>
#include <memory>

#include "bench/engine_database.h"
#include "bench/run_series.h"

namespace pgsilo {

class CheckpointRequest;
struct EngineRunOptions;

// What the log and the checkpoints did in a run.
struct LogWork {
  uint64_t bytes = 0;
  uint64_t bytes_saved = 0;
  uint64_t syncs = 0;
  uint64_t buffer_waits = 0;
  uint64_t checkpoints = 0;
  double last_checkpoint_seconds = 0;
  uint64_t last_checkpoint_bytes = 0;
};

class RunWatch {
 public:
  // `series` may be null.
  RunWatch(EngineDatabase& database, const EngineRunOptions& options, RunSeries* series);
  ~RunWatch();

  // A whole checkpoint, waited for. A failure ends the process.
  void make_checkpoint();
  // Before the workers begin.
  void begin();
  // Returns when the time is over.
  void wait();
  // After wait(), or without it where transactions are counted: since begin().
  LogWork log_work() const;

 private:
  bool looks() const;
  void look();
  LogWork work_so_far() const;
  void keep_checkpoints_coming();

  EngineDatabase& database_;
  const EngineRunOptions& options_;
  RunSeries* const series_;
  LogWork before_;
  DurableParker parker_;
  std::unique_ptr<CheckpointRequest> request_;
};

}  // namespace pgsilo
