// What the checkpointer does about devices that are full.
#include <algorithm>
#include <new>

#include "wal/checkpoint/checkpointer.h"
#include "wal/layout/shared_device.h"
#include "wal/log/logger.h"

namespace pgsilo {

bool Checkpointer::make_room(uint64_t wanted_bytes) {
  bool any = false;
  uint64_t free = free_bytes();
  // It has found no room, whatever the device says.
  uint64_t missing = wanted_bytes > free ? wanted_bytes - free : 1;
  try {
    for (const CheckpointedLog& log : parts_.logs) {
      if (!shares_device(log.logger->segments().directory())) continue;
      any = any || log.logger->segments().make_room(missing, LogUse::busy);
      log.logger->space_changed();
    }
  } catch (const std::bad_alloc&) {  // what has gone has gone
  }
  return any;
}

// With files of checkpoints, or with the control file.
bool Checkpointer::shares_device(const std::string& log) const {
  auto shares = [&](const std::string& directory) {
    return lie_together(parts_.files, log, directory);
  };
  return shares(parts_.data_directory) ||
         std::any_of(parts_.directories.begin(), parts_.directories.end(),
                     [&](const std::string& directory) {
                       return shares(join_path(parts_.data_directory, directory));
                     });
}

void Checkpointer::end_need_of_room(bool made) {
  for (const CheckpointedLog& log : parts_.logs) log.logger->segments().end_of_need(made);
  keeper_.wake();
}

// Of all devices that checkpoints lie on; 0 where it cannot be told.
uint64_t Checkpointer::free_bytes() const {
  uint64_t bytes = 0;
  try {
    for (const std::string& directory : parts_.directories) {
      DeviceSpace space;
      if (parts_.files.space(join_path(parts_.data_directory, directory), &space).ok())
        bytes += space.free_bytes;
    }
  } catch (const std::bad_alloc&) {
  }
  return bytes;
}

void Checkpointer::look_at_space() {
  // The first one will be about as long as what has been logged.
  const CheckpointManifest& last = control_.checkpoint;
  try {
    space_.look(last.exists() ? last.bytes() : log_bytes());
  } catch (const std::bad_alloc&) {  // it is looked again
  }
}

// After a failure some time must have passed, or space have come where there was none.
bool Checkpointer::may_retry(int64_t now) const {
  if (now >= retry_at_us_) return true;
  if (!free_at_failure_) return false;
  return free_bytes() >= *free_at_failure_ + segment_bytes();
}

// One that has just given no log back, for a slot keeps it, say, would be followed by the next at
// once, and so on. Deletes make it shorter, and log something.
bool Checkpointer::may_relieve(int64_t now, uint64_t grown) const {
  return now >= relief_at_us_ || grown >= segment_bytes() || can_retire();
}

// Whether one that began now could give log back.
bool Checkpointer::can_retire() const {
  return std::ranges::any_of(parts_.logs, [this](const CheckpointedLog& log) {
    const SegmentStore& segments = log.logger->segments();
    uint64_t first = std::min(segments.position().segment, slots_.first_needed_after_all(log.log));
    return first > segments.first_live();
  });
}

// Of the log that they have given back they get the little that their file needs, before others
// take it.
void Checkpointer::give_slots_room() {
  if (slots_.catch_up() != SlotOutcome::no_space || attempt_ != nullptr) return;
  if (!remove_retired_segment()) return;
  static_cast<void>(slots_.catch_up());
  end_need_of_room(/*made=*/false);
}

// One of the device that their file lies on. False: there is none.
bool Checkpointer::remove_retired_segment() {
  bool removed = false;
  try {
    for (const CheckpointedLog& log : parts_.logs) {
      SegmentStore& segments = log.logger->segments();
      if (removed || segments.retired() == 0) continue;
      if (!lie_together(parts_.files, segments.directory(), parts_.data_directory)) continue;
      removed = segments.make_room(/*bytes=*/1, LogUse::busy);
      log.logger->space_changed();
    }
  } catch (const std::bad_alloc&) {  // what has gone has gone
  }
  return removed;
}

uint64_t Checkpointer::segment_bytes() const {
  return parts_.logs.front().logger->segments().segment_bytes();
}

}  // namespace pgsilo
