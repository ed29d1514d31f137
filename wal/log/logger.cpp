#include "wal/log/logger.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "base/clock.h"
#include "base/process_memory.h"
#include "wal/log/log_status.h"
#include "wal/log/segment_keeper.h"
#include "wal/log/worker_log.h"

namespace pgsilo {
namespace {

// How long the thread waits when a step could do nothing because an epoch is not complete yet.
constexpr int64_t first_retry_us = 20;
constexpr int64_t longest_retry_us = 5000;

std::string_view name_of(LogSpace space) {
  switch (space) {
    case LogSpace::ample:
      break;
    case LogSpace::preparing:
      return "preparing";
    case LogSpace::exhausted:
      return "exhausted";
  }
  return "ample";
}

}  // namespace

Logger::Logger(Parts parts)
    : parts_(std::move(parts)),
      writer_(parts_.segments, parts_.log, parts_.incarnation, parts_.compress),
      newest_time_us_(parts_.started_us) {}

FileResult Logger::begin(std::string_view payload) {
  if (parts_.segments.ready() == 0) return {FileStatus::no_space, ENOSPC};
  FileResult result = writer_.write_begin(payload);
  last_segment_ = parts_.segments.position().segment;
  synced_blocks_.store(writer_.blocks(), std::memory_order_release);
  return result;
}

// The blocks last: those that are on disk by then do not lie before the segment's.
LogProgress Logger::progress() const {
  uint64_t segment = parts_.segments.position().segment;
  return {.log = parts_.log, .segment = segment, .blocks = synced_blocks()};
}

void Logger::connect(std::vector<Logger*> peers, SegmentKeeper* keeper) {
  peers_ = std::move(peers);
  keeper_ = keeper;
}

bool Logger::has_work() const {
  return !parts_.commit.satisfied() || drain_.load(std::memory_order_seq_cst);
}

bool Logger::try_step() {
  if (!has_work()) return false;
  // Looked at first: whoever is at it would lose the line to each that waits. Seq_cst, as the
  // exchange: he looks for requests after he has taken it down.
  if (stepping_.load(std::memory_order_seq_cst) ||
      stepping_.exchange(true, std::memory_order_seq_cst)) {
    return false;
  }
  bool progress = false;
  try {
    progress = step();
  } catch (...) {
    // Memory failed. Others go on with what is left to do.
    drain_.store(true, std::memory_order_seq_cst);
    stepping_.store(false, std::memory_order_seq_cst);
    throw;
  }
  stepping_.store(false, std::memory_order_seq_cst);
  if (has_work()) hand_over();
  return progress;
}

// Nobody was promised room for a batch without data: one fits as long as there is room for all that
// was promised.
bool Logger::may_record() const {
  return parts_.commit.wants_record() && parts_.segments.state() == LogSpace::ample;
}

bool Logger::step() {
  bool drain = drain_.exchange(false, std::memory_order_seq_cst);
  Epoch target = parts_.commit.requested();
  if (drain) target = std::max(target, parts_.epochs.current());
  if (target <= parts_.commit.durable()) return false;
  if (parts_.epochs.current() <= target) parts_.epochs.advance();
  Epoch completed = parts_.epochs.completed();
  // Somebody is still inside commit: what drain asks for cannot be taken whole yet.
  if (drain && completed < target) drain_.store(true, std::memory_order_seq_cst);
  trailer_.complete = completed;
  parts_.commit.find_last_data(completed, &trailer_.last_data);
  // All of ours up to `completed` will be in this batch, whatever the workers' memory of epochs
  // says.
  Epoch& own = trailer_.last_data[parts_.index];
  own = std::min(own, completed);
  if (!parts_.commit.must_write(parts_.index, own) && !may_record()) {
    return completed > parts_.commit.durable() && parts_.commit.settle_without_write(trailer_);
  }
  newest_time_us_ = std::max(newest_time_us_, known_unix_time_us());
  trailer_.unix_time_us = newest_time_us_;
  write_batch();
  return true;
}

void Logger::write_batch() {
  writer_.begin_batch(parts_.commit.recorded(), trailer_.complete);
  for (WorkerLog* log : parts_.logs) {
    while (std::optional<std::string_view> record = log->next_record(trailer_.complete)) {
      if (!writer_.add(*record)) writer_.write_long(*record);
      log->taken(*record);
    }
  }
  writer_.end_batch(trailer_);
  // seq_cst: precedes the look whether the keeper rests.
  synced_blocks_.store(writer_.blocks(), std::memory_order_seq_cst);
  parts_.commit.batch_synced(parts_.index, trailer_);
  for (WorkerLog* log : parts_.logs) log->batch_written();
  uint64_t segment = parts_.segments.position().segment;
  bool new_segment = std::exchange(last_segment_, segment) != segment;
  if (new_segment || parts_.segments.wants_segments()) {
    keeper_->wake();
  } else {
    keeper_->wake_if_resting();
  }
}

// Requests are left: the epoch was not complete, they came during the step, or another log is
// behind.
void Logger::hand_over() {
  Epoch completed = parts_.epochs.completed();
  for (unsigned i = 0; i < peers_.size(); ++i) {
    if (peers_[i] == this || parts_.commit.must_write(i, parts_.commit.last_data(i, completed)))
      peers_[i]->wake();
  }
}

void Logger::drain() {
  if (drain_.exchange(true, std::memory_order_seq_cst)) return;
  wake();
}

void Logger::want_segments() { keeper_->wake(); }

LogStatus Logger::status() const {
  auto number = [](const Counter& counter) { return static_cast<uint64_t>(counter.value()); };
  const LogCounters& counters = writer_.counters();
  double longest_us = static_cast<double>(counters.longest_batch_ns.value()) / 1000;
  auto share_us = [&](double share) {
    return std::min(counters.batch_latency.percentile_us(share), longest_us);
  };
  LogStatus status{.directory = parts_.segments.directory(),
                   .records = number(counters.records),
                   .record_bytes = number(counters.record_bytes),
                   .writes = number(counters.writes),
                   .bytes_written = number(counters.bytes),
                   .bytes_saved = number(counters.bytes_saved),
                   .syncs = number(counters.batches),
                   .write_us = counters.write_ns.value() / 1000,
                   .sync_us = counters.sync_ns.value() / 1000,
                   .median_sync_us = share_us(0.5),
                   .p99_sync_us = share_us(0.99),
                   .max_sync_us = longest_us,
                   .space = name_of(parts_.segments.state())};
  // A batch that is under way counts in the sum already.
  if (status.syncs != 0) {
    auto sum_us = static_cast<double>(status.write_us + status.sync_us);
    status.mean_sync_us = std::min(sum_us / static_cast<double>(status.syncs), longest_us);
  }
  for (const WorkerLog* log : parts_.logs) status.buffer_waits += number(log->buffer_waits());
  return status;
}

void Logger::space_changed() {
  for (WorkerLog* log : parts_.logs) log->wake_waiters();
}

bool Logger::has_undurable_data() const {
  Epoch last = parts_.commit.last_data(parts_.index, Epoch(UINT64_MAX));
  return parts_.commit.must_write(parts_.index, last);
}

bool Logger::has_records() const {
  return std::any_of(parts_.logs.begin(), parts_.logs.end(),
                     [](const WorkerLog* log) { return log->has_records(); });
}

void Logger::start() {
  stopping_ = false;
  thread_ = std::thread([this] { run(); });
}

void Logger::stop() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Logger::wake() {
  // Not asleep: it looks again before it sleeps.
  if (!asleep_.load(std::memory_order_seq_cst)) return;
  {
    std::lock_guard lock(mutex_);
    woken_ = true;
  }
  changed_.notify_one();
}

void Logger::sleep(int64_t us, bool forever) {
  std::unique_lock lock(mutex_);
  auto due = [this] { return woken_ || stopping_; };
  if (forever) {
    changed_.wait(lock, due);
  } else {
    changed_.wait_for(lock, std::chrono::microseconds(us), due);
  }
  woken_ = false;
}

void Logger::run() {
  take_thread_memory();
  int64_t retry_us = first_retry_us;
  for (;;) {
    {
      std::lock_guard lock(mutex_);
      if (stopping_) return;
    }
    if (has_work()) {
      if (try_step()) {
        retry_us = first_retry_us;
        continue;
      }
      asleep_.store(true, std::memory_order_seq_cst);
      sleep(retry_us, false);
      asleep_.store(false, std::memory_order_relaxed);
      retry_us = std::min(2 * retry_us, longest_retry_us);
      continue;
    }
    retry_us = first_retry_us;
    asleep_.store(true, std::memory_order_seq_cst);
    if (!has_work()) sleep(parts_.flush_after_us, false);
    if (!has_work() && has_undurable_data()) {
      parts_.commit.request_silently(parts_.epochs.current());
    } else if (!has_work()) {
      idle_.store(true, std::memory_order_seq_cst);
      if (!has_records() && !has_work()) sleep(0, true);
      idle_.store(false, std::memory_order_relaxed);
    }
    asleep_.store(false, std::memory_order_relaxed);
  }
}

}  // namespace pgsilo
