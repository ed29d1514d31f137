#include "bench/run_watch.h"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "bench/engine_run.h"
#include "wal/checkpoint/checkpointer.h"

namespace pgsilo {

namespace {
constexpr int64_t second_us = 1'000'000;
constexpr auto between_looks = std::chrono::milliseconds(5);
}  // namespace

RunWatch::RunWatch(EngineDatabase& database, const EngineRunOptions& options, RunSeries* series)
    : database_(database), options_(options), series_(series) {}

RunWatch::~RunWatch() = default;

void RunWatch::make_checkpoint() {
  CheckpointRequest request(database_.wal()->checkpointer(), parker_);
  std::string why;
  CheckpointOutcome outcome = request.outcome(&why);
  for (; outcome == CheckpointOutcome::pending; outcome = request.outcome(&why))
    parker_.park(Parker::no_deadline);
  if (outcome == CheckpointOutcome::done) return;
  std::fprintf(stderr, "no checkpoint: %s\n", why.c_str());
  std::exit(1);
}

void RunWatch::begin() {
  before_ = work_so_far();
  if (series_ != nullptr) series_->begin(monotonic_ns(), before_.bytes);
}

void RunWatch::wait() {
  int64_t end_us = monotonic_us() + static_cast<int64_t>(options_.seconds) * second_us;
  if (!looks()) {
    std::this_thread::sleep_for(std::chrono::seconds(options_.seconds));
    return;
  }
  while (monotonic_us() < end_us) {
    look();
    std::this_thread::sleep_for(between_looks);
  }
  // One that runs goes on; nobody waits for it.
  request_.reset();
}

bool RunWatch::looks() const {
  return database_.wal() != nullptr && (series_ != nullptr || options_.log.continuous_checkpoints ||
                                        options_.kill_in_checkpoint != 0);
}

void RunWatch::look() {
  if (series_ != nullptr) {
    bool checkpoint = database_.wal()->checkpointer().history().running();
    series_->observe(monotonic_ns(), database_.wal()->status().bytes_written, checkpoint);
  }
  if (options_.log.continuous_checkpoints) keep_checkpoints_coming();
}

void RunWatch::keep_checkpoints_coming() {
  std::string why;
  if (request_ != nullptr && request_->outcome(&why) == CheckpointOutcome::pending) return;
  request_.reset();
  request_ = std::make_unique<CheckpointRequest>(database_.wal()->checkpointer(), parker_);
}

LogWork RunWatch::work_so_far() const {
  LogWork work;
  if (database_.wal() == nullptr) return work;
  WalStatus status = database_.wal()->status();
  work.bytes = status.bytes_written;
  work.bytes_saved = status.bytes_saved;
  work.syncs = status.syncs;
  for (const LogStatus& log : status.logs) work.buffer_waits += log.buffer_waits;
  for (const CheckpointInfo& checkpoint : database_.wal()->checkpointer().history().list()) {
    if (checkpoint.state != CheckpointInfo::State::complete) continue;
    work.last_checkpoint_seconds = static_cast<double>(checkpoint.total_us) / second_us;
    work.last_checkpoint_bytes = checkpoint.bytes;
  }
  work.checkpoints = database_.wal()->checkpointer().status().made;
  return work;
}

LogWork RunWatch::log_work() const {
  LogWork work = work_so_far();
  work.bytes -= before_.bytes;
  work.bytes_saved -= before_.bytes_saved;
  work.syncs -= before_.syncs;
  work.buffer_waits -= before_.buffer_waits;
  work.checkpoints -= before_.checkpoints;
  return work;
}

}  // namespace pgsilo
