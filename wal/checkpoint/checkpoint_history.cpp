#include "wal/checkpoint/checkpoint_history.h"

#include <new>

#include "base/clock.h"
#include "wal/checkpoint/checkpoint_walk.h"
#include "wal/layout/checkpoint_manifest.h"

namespace pgsilo {

void assign_or_out_of_memory(std::string* text, std::string_view value) {
  try {
    *text = value;
  } catch (const std::bad_alloc&) {
    *text = "out of memory";  // as short as every string has room for
  }
}

CheckpointHistory::CheckpointHistory(const Clock& clock) : clock_(clock) {
  entries_.reserve(remembered);
}

void CheckpointHistory::begin(uint64_t number, CheckpointReason reason) {
  std::lock_guard lock(mutex_);
  if (entries_.size() == remembered) entries_.erase(entries_.begin());
  CheckpointInfo& entry = entries_.emplace_back();
  entry.number = number;
  entry.reason = reason;
  entry.started_unix_us = unix_time_us();
  begun_us_ = phase_begun_us_ = clock_.now_us();
}

void CheckpointHistory::note(const CheckpointWalk& walk) {
  std::lock_guard lock(mutex_);
  CheckpointInfo& entry = entries_.back();
  entry.begun = walk.begun();
  entry.planned_bytes = walk.planned_bytes();
  // Walkers on several threads come by: what is read under the lock never goes back.
  entry.walked_bytes = walk.walked_bytes();
  entry.records = walk.records();
}

void CheckpointHistory::phase_ended() {
  std::lock_guard lock(mutex_);
  CheckpointInfo& entry = entries_.back();
  auto phase = static_cast<size_t>(entry.phase);
  int64_t now = clock_.now_us();
  entry.phase_us[phase] = now - phase_begun_us_;
  phase_begun_us_ = now;
  if (phase + 1 < checkpoint_phases) entry.phase = static_cast<CheckpointPhase>(phase + 1);
}

void CheckpointHistory::complete(const CheckpointManifest& manifest, uint64_t log_bytes,
                                 uint64_t retired_log_bytes) {
  std::lock_guard lock(mutex_);
  CheckpointInfo& entry = entries_.back();
  entry.ended = manifest.ended;
  entry.bytes = manifest.bytes();
  entry.log_bytes = log_bytes;
  entry.retired_log_bytes = retired_log_bytes;
  end(CheckpointInfo::State::complete);
  ++status_.made;
  if (entry.reason == CheckpointReason::time) ++status_.made_by_time;
  status_.bytes += entry.bytes;
  status_.walk_us += entry.us(CheckpointPhase::walking);
  status_.sync_us += entry.us(CheckpointPhase::finishing);
}

void CheckpointHistory::fail(const char* why) {
  std::lock_guard lock(mutex_);
  assign_or_out_of_memory(&entries_.back().failure, why);
  end(CheckpointInfo::State::failed);
  ++status_.failed;
}

void CheckpointHistory::end(CheckpointInfo::State state) {
  CheckpointInfo& entry = entries_.back();
  entry.state = state;
  entry.ended_unix_us = unix_time_us();
  entry.total_us = clock_.now_us() - begun_us_;
}

CheckpointStatus CheckpointHistory::status() const {
  std::lock_guard lock(mutex_);
  return status_;
}

bool CheckpointHistory::running() const {
  std::lock_guard lock(mutex_);
  return !entries_.empty() && entries_.back().state == CheckpointInfo::State::running;
}

CheckpointInfo CheckpointHistory::last() const {
  std::lock_guard lock(mutex_);
  return entries_.back();
}

void CheckpointHistory::tell_failure(std::string* why) const {
  std::lock_guard lock(mutex_);
  assign_or_out_of_memory(why, entries_.back().failure);
}

std::vector<CheckpointInfo> CheckpointHistory::list() const {
  std::lock_guard lock(mutex_);
  return entries_;
}

}  // namespace pgsilo
