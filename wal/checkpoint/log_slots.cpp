#include "wal/checkpoint/log_slots.h"

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

#include "base/file.h"
#include "base/server_log.h"
#include "wal/checkpoint/checkpoint_run.h"
#include "wal/layout/lsn_text.h"
#include "wal/log/logger.h"

namespace pgsilo {
namespace {

// From where the checkpoint that counts needs the log. It has a part of what was committed in the
// epoch of its beginning.
LogSlot slot_at(const ControlFile& control) {
  const CheckpointManifest& checkpoint = control.checkpoint;
  LogSlot slot;
  slot.reserved = true;
  const Epoch first =
      checkpoint.exists() ? checkpoint.begun : control.incarnations.front().first_epoch;
  slot.restart = Epoch(std::max<uint64_t>(first.value(), 2) - 1);
  slot.cuts = checkpoint.cuts;
  return slot;
}

void tell_lost(const LogSlot& slot) {
  write_server_log(LogLevel::log, "invalidating slot \"" + slot.name +
                                      "\" because its restart_lsn " + lsn_text(slot.restart) +
                                      " exceeds max_slot_wal_keep_size");
}

}  // namespace

LogSlots::LogSlots(const CheckpointParts& parts, HoldSource& holds, SegmentKeeper& keeper,
                   Options options)
    : parts_(parts),
      holds_(holds),
      keeper_(keeper),
      options_(std::move(options)),
      proven_before_(parts_.commit.recorded()),
      slots_(options_.found) {}

LogSlot* LogSlots::find(std::string_view name) {
  auto found = std::ranges::find(slots_, name, &LogSlot::name);
  return found == slots_.end() ? nullptr : &*found;
}

std::vector<LogSlot> LogSlots::copy() const {
  std::lock_guard lock(mutex_);
  return slots_;
}

// All of them, so those of which only memory knew as well. What the disk has of them when that
// failed is not known, but on a full device. With changing_.
SlotOutcome LogSlots::save(const std::vector<LogSlot>& slots, std::string* why) {
  FileResult result = write_slots(parts_.files, parts_.data_directory, parts_.database, slots);
  if (result.ok()) {
    lag_.store(false, std::memory_order_relaxed);
    return SlotOutcome::ok;
  }
  *why = "could not write file \"" + join_path(parts_.data_directory, slot_file_name) +
         "\": " + result.text();
  if (result.status == FileStatus::no_space) return SlotOutcome::no_space;
  lag_.store(true, std::memory_order_relaxed);
  holds_.log_has_grown();
  return SlotOutcome::failed;
}

SlotOutcome LogSlots::catch_up() noexcept {
  if (!lag()) return SlotOutcome::ok;
  try {
    std::lock_guard changing(changing_);
    std::string why;
    SlotOutcome saved = save(copy(), &why);
    if (saved == SlotOutcome::ok)
      write_server_log(LogLevel::log, "the changes of replication slots are on disk");
    return saved;
  } catch (const std::bad_alloc&) {
    return SlotOutcome::failed;
  }
}

// The checkpointer retires what is not needed any more.
void LogSlots::release() {
  released_.store(true, std::memory_order_relaxed);
  holds_.log_has_grown();
}

SlotResult LogSlots::create(std::string_view name, bool reserve, int32_t owner) {
  std::lock_guard changing(changing_);
  SlotResult result = begin(name, reserve, owner);
  if (result.outcome != SlotOutcome::ok || owner != 0) return result;
  result.outcome = save(copy(), &result.why);
  if (result.outcome == SlotOutcome::ok) return result;
  {
    std::lock_guard lock(mutex_);
    std::erase_if(slots_, [&](const LogSlot& slot) { return slot.name == name; });
  }
  release();
  return result;
}

// Of logs that the checkpoint does not name, or of all if there is none: a start is to notice when
// they are gone.
void LogSlots::name_first_segments(LogSlot* slot) const {
  for (const CheckpointedLog& log : parts_.logs) {
    if (find_cut(slot->cuts, log.log) != nullptr) continue;
    uint64_t first = std::max<uint64_t>(log.logger->segments().first_live(), 1);
    slot->cuts.push_back({.log = log.log, .segment = first, .block = 0});
  }
}

// It keeps from now on what the checkpoint's hold does until then.
SlotResult LogSlots::begin(std::string_view name, bool reserve, int32_t owner) {
  std::unique_ptr<CheckpointHold> hold;
  if (reserve) hold = holds_.hold();
  SlotResult result;
  if (reserve) result.slot = slot_at(hold->control());
  if (reserve) name_first_segments(&result.slot);
  result.slot.name = name;
  result.slot.owner = owner;
  {
    std::lock_guard lock(mutex_);
    result.outcome = find(name) != nullptr            ? SlotOutcome::exists
                     : slots_.size() >= options_.most ? SlotOutcome::all_in_use
                                                      : SlotOutcome::ok;
    if (result.outcome == SlotOutcome::ok) slots_.push_back(result.slot);
  }
  if (result.outcome != SlotOutcome::ok || !reserve || !hold->given_up()) return result;
  result.outcome = SlotOutcome::no_space;
  result.why = "the log segments that it would keep are needed for space";
  std::lock_guard lock(mutex_);
  std::erase_if(slots_, [&](const LogSlot& slot) { return slot.name == name; });
  return result;
}

// Of a change that gives log back: a full device must not stand in the way of what makes room.
SlotOutcome LogSlots::save_release(const std::vector<LogSlot>& slots, std::string* why) {
  SlotOutcome saved = save(slots, why);
  if (saved != SlotOutcome::no_space) return saved;
  lag_.store(true, std::memory_order_relaxed);
  return SlotOutcome::ok;
}

SlotResult LogSlots::drop(std::string_view name, int32_t process) {
  std::lock_guard changing(changing_);
  std::vector<LogSlot> left = copy();
  auto found = std::ranges::find(left, name, &LogSlot::name);
  if (found == left.end()) return {SlotOutcome::missing, {}, {}};
  SlotResult result{SlotOutcome::ok, *found, {}};
  if (found->owner != 0 && found->owner != process) result.outcome = SlotOutcome::active;
  left.erase(found);
  if (result.outcome == SlotOutcome::ok && result.slot.owner == 0)
    result.outcome = save_release(left, &result.why);
  if (result.outcome != SlotOutcome::ok) return result;
  {
    std::lock_guard lock(mutex_);
    std::erase_if(slots_, [&](const LogSlot& slot) { return slot.name == name; });
  }
  release();
  return result;
}

SlotResult LogSlots::advance(std::string_view name, Epoch epoch, int32_t process) {
  std::lock_guard changing(changing_);
  std::vector<LogSlot> slots = copy();
  auto found = std::ranges::find(slots, name, &LogSlot::name);
  if (found == slots.end()) return {SlotOutcome::missing, {}, {}};
  SlotResult result{SlotOutcome::ok, *found, {}};
  epoch = std::min(epoch, parts_.commit.durable());
  result.outcome = found->owner != 0 && found->owner != process ? SlotOutcome::active
                   : !found->reserved || found->lost            ? SlotOutcome::not_reserved
                   : epoch < found->restart                     ? SlotOutcome::behind
                                                                : SlotOutcome::ok;
  if (result.outcome != SlotOutcome::ok) return result;
  move_on(&*found, epoch);
  LogSlot moved = *found;
  if (moved.owner == 0) result.outcome = save_release(slots, &result.why);
  if (result.outcome != SlotOutcome::ok) return result;
  result.slot = moved;
  {
    // It may have been lost meanwhile, or its session have ended.
    std::lock_guard lock(mutex_);
    LogSlot* slot = find(name);
    if (slot != nullptr && !slot->lost) *slot = std::move(moved);
  }
  release();
  return result;
}

// Segments of earlier starts are done with when an epoch of this one is; or all that they prove, if
// this one has no space to log anything.
void LogSlots::move_on(LogSlot* slot, Epoch epoch) const {
  slot->restart = epoch;
  const bool is_short = std::ranges::any_of(
      parts_.logs, [](const CheckpointedLog& log) { return log.logger->segments().is_short(); });
  if (epoch < (is_short ? proven_before_ : options_.first_epoch)) return;
  for (const CheckpointedLog& log : parts_.logs) {
    const SegmentStore& segments = log.logger->segments();
    const uint64_t segment = std::max(segments.first_begun(), segments.first_behind(epoch));
    auto cut = std::ranges::find(slot->cuts, log.log, &LogCut::log);
    if (cut != slot->cuts.end()) {
      cut->segment = std::max(cut->segment, segment);
    } else {
      slot->cuts.push_back({.log = log.log, .segment = segment, .block = 0});
    }
  }
}

void LogSlots::drop_temporary(int32_t process) noexcept {
  bool any = false;
  {
    std::lock_guard lock(mutex_);
    any = std::erase_if(slots_, [&](const LogSlot& slot) { return slot.owner == process; }) != 0;
  }
  if (any) release();
}

// If that is not written in time the next start finds that segments are missing.
bool LogSlots::enforce() noexcept {
  if (options_.keep_bytes == UINT64_MAX) return false;
  bool any = false;
  try {
    std::lock_guard changing(changing_);
    bool on_disk = false;
    {
      std::lock_guard lock(mutex_);
      for (LogSlot& slot : slots_) {
        if (!slot.reserved || slot.lost || kept_bytes(slot) <= options_.keep_bytes) continue;
        tell_lost(slot);
        any = slot.lost = true;
        // Whatever fails, memory too: it is tried again.
        if (slot.owner == 0) lag_.store(on_disk = true, std::memory_order_relaxed);
      }
    }
    std::string why;
    if (on_disk && save(copy(), &why) != SlotOutcome::ok) write_server_log(LogLevel::warning, why);
  } catch (const std::bad_alloc&) {  // the next checkpoint's
  }
  return any;
}

bool LogSlots::give_up_temporary() noexcept {
  bool any = false;
  try {
    std::lock_guard lock(mutex_);
    for (LogSlot& slot : slots_) {
      if (!slot.reserved || slot.lost || kept_bytes(slot) == 0) continue;
      if (slot.owner != 0) {
        any = slot.lost = true;
        continue;
      }
      write_server_log(
          LogLevel::warning,
          "replication slot \"" + slot.name + "\" keeps " + std::to_string(kept_bytes(slot) >> 20) +
              " MB of the log, which is short of space",
          {}, "Let its consumer catch up, drop the slot, or set max_slot_wal_keep_size.");
    }
  } catch (const std::bad_alloc&) {
  }
  return any;
}

uint64_t LogSlots::first_needed(const Uuid& log) const {
  std::lock_guard lock(mutex_);
  uint64_t first = UINT64_MAX;
  for (const LogSlot& slot : slots_) first = std::min(first, first_kept(slot, log));
  return first;
}

uint64_t LogSlots::first_needed_after_all(const Uuid& log) const {
  std::lock_guard lock(mutex_);
  uint64_t first = UINT64_MAX;
  for (const LogSlot& slot : slots_) {
    if (slot.owner == 0 && kept_bytes(slot) <= options_.keep_bytes)
      first = std::min(first, first_kept(slot, log));
  }
  return first;
}

uint64_t LogSlots::kept_bytes(const LogSlot& slot) const {
  uint64_t bytes = 0;
  for (const CheckpointedLog& log : parts_.logs) {
    const SegmentStore& segments = log.logger->segments();
    uint64_t written = segments.position().segment;
    uint64_t first = first_kept(slot, log.log);
    if (first >= written) continue;
    // Without the one that is being written.
    uint64_t there = std::max<uint64_t>(segments.live(), 1) - 1;
    bytes += std::min(written - first, there) * segments.segment_bytes();
  }
  return bytes;
}

std::vector<SlotStatus> LogSlots::status() const {
  std::lock_guard lock(mutex_);
  std::vector<SlotStatus> all;
  for (const LogSlot& slot : slots_) {
    SlotStatus status;
    status.slot = slot;
    if (slot.reserved && !slot.lost) status.kept_bytes = kept_bytes(slot);
    status.availability = !slot.reserved                             ? ""
                          : slot.lost                                ? "lost"
                          : status.kept_bytes > options_.keep_bytes  ? "unreserved"
                          : status.kept_bytes > options_.usual_bytes ? "extended"
                                                                     : "reserved";
    all.push_back(std::move(status));
  }
  return all;
}

}  // namespace pgsilo
