// Named places in the log from which on it is kept, for those who copy it: PostgreSQL's physical
// replication slots (docs/backup.md). One is reserved, at a checkpoint's begin at first, and moved
// on by who has copied what was before; or it is lost, when it would keep more than it may.
//
// Invariants: a change of a slot that is not temporary counts once it is durable, so what a restart
// finds was kept until then; no segment is retired that a slot of that moment needs. On a full
// device what gives log back counts at once, and is written when there is room (catch_up()): a
// restart before that finds the slot as it was, lost if the log was given back.
// Thread safety: any thread. create(), drop(), advance(), enforce() wait for the disk; they and
// nobody else write, one at a time. Locks: changing_, then the retention's, then mutex_.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "wal/checkpoint/checkpoint_retention.h"
#include "wal/layout/slot_file.h"
#include "wal/log/segment_keeper.h"

namespace pgsilo {

struct CheckpointParts;
struct CheckpointedLog;

enum class SlotOutcome : uint8_t {
  ok,
  exists,
  missing,
  all_in_use,
  active,        // another session's
  not_reserved,  // or lost
  behind,        // where it is already
  failed,        // why
  no_space,      // likewise: the device is full
};

struct SlotResult {
  SlotOutcome outcome = SlotOutcome::ok;
  LogSlot slot;     // as it is then
  std::string why;  // if it is ok: why only memory has it for now
};

// As the view shows it.
struct SlotStatus {
  LogSlot slot;
  std::string_view availability;  // reserved, extended, unreserved, lost; empty: it keeps nothing
  uint64_t kept_bytes = 0;        // behind it, up to the segments that are being written
};

// Of the checkpointer's: what a new slot begins at. Thread safety: any thread.
class HoldSource : public LogGrowthListener {
 public:
  virtual std::unique_ptr<CheckpointHold> hold() = 0;

 protected:
  ~HoldSource() = default;
};

class LogSlots {
 public:
  struct Options {
    unsigned most = 10;
    uint64_t keep_bytes = UINT64_MAX;  // of log behind a slot; more, and it is lost
    uint64_t usual_bytes = 0;          // that the log takes without slots
    Epoch first_epoch;                 // of this start
    std::vector<LogSlot> found;        // by this start
  };
  LogSlots(const CheckpointParts& parts, HoldSource& holds, SegmentKeeper& keeper, Options options);

  // `owner`: the process of the session that it ends with; 0: it stays.
  SlotResult create(std::string_view name, bool reserve, int32_t owner);
  // `process`: who asks.
  SlotResult drop(std::string_view name, int32_t process);
  // What was committed up to `epoch`, which is durable or else as much of it as is, is needed no
  // more. The caller saw `epoch` durable before it looked at the log that it has copied.
  SlotResult advance(std::string_view name, Epoch epoch, int32_t process);
  // The temporary ones of a session. Waits for nothing.
  void drop_temporary(int32_t process) noexcept;

  // For the checkpointer: loses those that keep too much. True if there were any.
  bool enforce() noexcept;
  // Whether the disk may have something else than what counts: its device had no room, or failed.
  bool lag() const { return lag_.load(std::memory_order_relaxed); }
  // Tries to write it. ok, no_space or failed.
  SlotOutcome catch_up() noexcept;
  // The log has no other space: temporary ones are lost, the others told of. Whether any was lost.
  bool give_up_temporary() noexcept;
  // The first segment of a log that any slot keeps; UINT64_MAX: none does.
  uint64_t first_needed(const Uuid& log) const;
  // Likewise by those that a checkpoint, made while the log is short of space, would not end.
  uint64_t first_needed_after_all(const Uuid& log) const;
  // Whether segments are not kept any more since take_released() said so.
  bool has_released() const { return released_.load(std::memory_order_relaxed); }
  void take_released() { released_.store(false, std::memory_order_relaxed); }

  std::vector<SlotStatus> status() const;
  unsigned most() const { return options_.most; }
  uint64_t keep_bytes() const { return options_.keep_bytes; }
  // On whose thread one may wait for the disk.
  SegmentKeeper& keeper() { return keeper_; }

 private:
  // With mutex_:
  LogSlot* find(std::string_view name);
  uint64_t kept_bytes(const LogSlot& slot) const;

  SlotOutcome save(const std::vector<LogSlot>& slots, std::string* why);
  SlotOutcome save_release(const std::vector<LogSlot>& slots, std::string* why);
  std::vector<LogSlot> copy() const;
  SlotResult begin(std::string_view name, bool reserve, int32_t owner);
  void name_first_segments(LogSlot* slot) const;
  void move_on(LogSlot* slot, Epoch epoch) const;
  void release();

  const CheckpointParts& parts_;
  HoldSource& holds_;
  SegmentKeeper& keeper_;
  const Options options_;
  const Epoch proven_before_;  // by trailers of earlier starts
  std::atomic<bool> released_{false};
  std::atomic<bool> lag_{false};
  std::mutex changing_;  // held over writes
  mutable std::mutex mutex_;
  std::vector<LogSlot> slots_;
};

}  // namespace pgsilo
