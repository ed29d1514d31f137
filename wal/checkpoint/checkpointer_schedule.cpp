// When the checkpointer makes one.
#include <algorithm>
#include <chrono>

#include "wal/checkpoint/checkpointer.h"
#include "wal/log/logger.h"

namespace pgsilo {
namespace {

// Between two looks whether a full device has more space.
constexpr int64_t look_for_space_us = 500'000;
// So many starts in a row may die before the checkpoint that their log asks for is made, each of
// which leaves a segment of each log, mostly empty; then a start makes it before it serves anybody.
constexpr uint64_t starts_without = 16;

}  // namespace

bool Checkpointer::has_request() const {
  return std::any_of(requests_.begin(), requests_.end(),
                     [](const CheckpointRequest* request) { return !request->begun_; });
}

bool Checkpointer::wait_for_reason(CheckpointReason* reason) {
  std::unique_lock lock(mutex_);
  while (!interrupted()) {
    woken_ = false;
    lock.unlock();
    tidy();
    lock.lock();
    look_at_space();
    int64_t due = 0;
    if (is_time(reason, &due)) return true;
    bool repairs = wants_repair();
    changed_.wait_for(lock, std::chrono::microseconds(due - clock_.now_us()), [this, repairs] {
      return woken_ || interrupted() || has_request() || (!repairs && wants_repair());
    });
  }
  return false;
}

bool Checkpointer::is_time(CheckpointReason* reason, int64_t* due) const {
  const CheckpointSchedule& schedule = options_.schedule;
  int64_t now = clock_.now_us();
  uint64_t grown = log_bytes() - log_bytes_at_begin_;
  bool is_short = grown != 0 && log_is_short();
  bool pressed = grown >= schedule.trigger_log_bytes() || (is_short && may_relieve(now, grown));
  *due = std::max(last_begun_us_ + schedule.timeout_us, retry_at_us_);
  if (has_request()) {
    *reason = CheckpointReason::request;
  } else if (now >= retry_at_us_ && wants_repair()) {
    *reason = CheckpointReason::damage;
  } else if (follows_long_recovery() && may_retry(now)) {
    *reason = CheckpointReason::recovery;
  } else if (pressed && may_retry(now)) {
    *reason = CheckpointReason::log_volume;
  } else if (now >= *due && grown != 0) {
    *reason = CheckpointReason::time;
  } else {
    if (now >= *due) *due = now + schedule.timeout_us;
    if (pressed || wants_repair() || follows_long_recovery())
      *due = std::min(*due, free_at_failure_ ? now + look_for_space_us : retry_at_us_);
    if (slots_.lag()) *due = std::min(*due, now + look_for_space_us);
    if (is_short && !pressed) *due = std::min(*due, relief_at_us_);
    return false;
  }
  return true;
}

bool Checkpointer::would_begin(CheckpointReason* reason) {
  tidy();
  std::lock_guard lock(mutex_);
  int64_t due = 0;
  return is_time(reason, &due);
}

bool Checkpointer::follows_long_recovery() const {
  return !made_ && options_.segment_bytes_before >= options_.schedule.trigger_log_bytes();
}

bool Checkpointer::is_overdue() const {
  uint64_t empty = options_.segment_bytes_before -
                   std::min(options_.segment_bytes_before, options_.log_bytes_before);
  return follows_long_recovery() &&
         empty >= options_.schedule.max_log_bytes +
                      starts_without * segment_bytes() * parts_.logs.size();
}

}  // namespace pgsilo
