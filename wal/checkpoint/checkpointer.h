// Makes checkpoints: when their time has come, when the log has grown by enough, when somebody
// asks, and at the end. One at a time, on a thread of its own (and more for the walk, if there are
// several walkers), or by steps on the caller's thread.
//
// When a checkpoint counts, the control file names it; then the files of the one before are removed
// and the segments that nobody will read again are handed to their stores. One that fails (no
// space, an error of its files, no memory) is given up with a message: the one before and the logs
// stay as they are, nothing is lost, and it is tried again. Only if nobody can tell which of two
// control files the disk has, the process stops.
//
// Thread safety: log_has_grown(), history(), status(), CheckpointRequest: any thread. start(),
// stop(), step(), run_now(): the owner; step() and run_now() while there is no thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "wal/checkpoint/checkpoint_history.h"
#include "wal/checkpoint/checkpoint_pace.h"
#include "wal/checkpoint/checkpoint_retention.h"
#include "wal/checkpoint/checkpoint_run.h"
#include "wal/checkpoint/log_slots.h"
#include "wal/checkpoint/space_watch.h"
#include "wal/layout/control_file.h"
#include "wal/log/segment_keeper.h"

namespace pgsilo {

class Parker;

enum class CheckpointOutcome : uint8_t { pending, done, failed, no_space, no_memory };

class Checkpointer;

// Asks for a checkpoint that begins after its construction, as long as it lives. The parker is
// unparked when there is an outcome. Thread safety: the parker's owner.
class CheckpointRequest {
 public:
  CheckpointRequest(Checkpointer& checkpointer, Parker& parker);
  ~CheckpointRequest();
  CheckpointRequest(const CheckpointRequest&) = delete;
  CheckpointRequest& operator=(const CheckpointRequest&) = delete;

  // Neither pending nor done: `why`.
  CheckpointOutcome outcome(std::string* why) const;

 private:
  friend class Checkpointer;
  // All guarded by the checkpointer's mutex.
  Checkpointer& checkpointer_;
  Parker& parker_;
  bool begun_ = false;  // the checkpoint that runs began after it was asked for
  CheckpointOutcome outcome_ = CheckpointOutcome::pending;
  std::string failure_;
};

// Hears which checkpoint counts, before any file of the one before goes. From the checkpointer's
// thread; must not throw.
class CheckpointWatcher {
 public:
  virtual void checkpoint_counts(const CheckpointManifest& manifest) = 0;

 protected:
  ~CheckpointWatcher() = default;
};

class Checkpointer final : public HoldSource {
 public:
  struct Options {
    CheckpointSchedule schedule;
    // Checkpoints get larger numbers: files of other copies of the database have it, and smaller
    // ones.
    uint64_t taken_number = 0;
    // Log bytes of earlier starts that a recovery would read.
    uint64_t log_bytes_before = 0;
    // Of the segments that they lie in, whole, but the one that each log has always: each start has
    // one of its own.
    uint64_t segment_bytes_before = 0;
    bool announce = false;  // beginnings and ends, on stderr
    LogSlots::Options slots;
  };
  // `control` is the Wal's and is changed here only while the checkpointer runs.
  Checkpointer(CheckpointParts parts, const Clock& clock, ControlFile& control,
               SegmentKeeper& keeper, Options options);
  ~Checkpointer();

  void start();
  // Gives up what runs.
  void stop();
  // Looks whether it is time. Any thread.
  void log_has_grown() override;
  // Any thread.
  std::unique_ptr<CheckpointHold> hold() override;

  // Something that a recovery would need is damaged: a checkpoint that begins after this call is
  // made at once. Any thread.
  void repair();
  // Before start(); null: none.
  void set_watcher(CheckpointWatcher* watcher) { watcher_ = watcher; }

  // A whole checkpoint on this thread, unpaced. False: `why`.
  bool run_now(CheckpointReason reason, std::string* why);
  // A piece of one; begins one if none runs. True when it has become the one that counts.
  bool step(CheckpointReason reason = CheckpointReason::request);
  // Whether something was logged since the last one began, or is to be repaired.
  bool is_due() const {
    return log_bytes() != log_bytes_at_begin_ || wants_repair() || follows_long_recovery();
  }
  // Of the log of earlier starts that a recovery would read, so much is empty that checkpoints
  // behind the starts cannot have come to their end: one is to be made before anybody is served.
  bool is_overdue() const;
  // Whether its thread would begin one now, and why. Like step(): while there is no thread.
  bool would_begin(CheckpointReason* reason);

  // Any thread. Commits that have returned are of epochs up to it.
  Epoch present_epoch() const;
  // Any thread. Whether all that was committed in epochs up to `epoch` is durable; then
  // `*recorded`: the epoch that trailers on disk prove, which reaches all of it; `epoch` itself
  // unless the log is short of space. Else it will be soon.
  bool proves(Epoch epoch, Epoch* recorded);

  // Any thread.
  LogSlots& slots() { return slots_; }
  const LogSlots& slots() const { return slots_; }

  CheckpointStatus status() const { return history_.status(); }
  const CheckpointHistory& history() const { return history_; }
  // Whether the log and the next checkpoint may find no room.
  bool space_is_low() const { return space_.is_low(); }

 private:
  friend class CheckpointRequest;
  friend class CheckpointHold;
  struct Attempt;

  void run();
  bool wait_for_reason(CheckpointReason* reason);
  // With mutex_. `*due`: when to look again, if it is not time.
  bool is_time(CheckpointReason* reason, int64_t* due) const;
  bool make(CheckpointReason reason, bool paced, std::string* why);
  void attempt(CheckpointReason reason, bool paced);
  void begin(CheckpointReason reason);
  bool advance(CheckpointReason reason);
  bool advance_phase();
  void walk_on_all_threads(bool paced);
  void walk_whole(CheckpointWalker& walker, bool paced);
  void rest();
  void complete();
  uint64_t retire_segments();
  void tidy();
  void fail(const FileResult& result);
  void give_up(const char* why);
  bool lacks_room_still() const;
  bool make_room(uint64_t wanted_bytes);
  uint64_t expected_bytes() const;
  void end_need_of_room(bool made);
  bool log_is_short() const;
  bool may_retry(int64_t now) const;
  bool may_relieve(int64_t now, uint64_t grown) const;
  bool can_retire() const;
  void give_slots_room();
  bool remove_retired_segment();
  void look_at_space();
  uint64_t free_bytes() const;
  uint64_t segment_bytes() const;
  bool shares_device(const std::string& log) const;
  void answer(CheckpointOutcome outcome, const char* failure);
  bool has_request() const;  // with mutex_
  bool wants_repair() const { return repairs_done_ != repairs_wanted_; }
  // Behind a recovery that had more log to read than there should ever be between two.
  bool follows_long_recovery() const;
  uint64_t log_bytes() const;
  bool interrupted() const { return stopping_.load(std::memory_order_relaxed); }

  const CheckpointParts parts_;
  const Clock& clock_;
  ControlFile& control_;
  SegmentKeeper& keeper_;
  const Options options_;
  LogSlots slots_;
  CheckpointRetention retention_;
  uint64_t last_number_;  // since the start, or of the one that counts
  SpaceWatch space_;

  std::unique_ptr<Attempt> attempt_;  // that runs
  bool made_ = false;                 // one that counts, since the start
  uint64_t log_bytes_at_begin_ = 0;   // of the last that counts
  int64_t last_begun_us_;
  int64_t retry_at_us_ = 0;                  // after a failure
  std::optional<uint64_t> free_at_failure_;  // of the devices, if it was for want of space
  bool made_room_ = false;                   // for the next attempt, which begins at once
  int64_t relief_at_us_ = 0;  // after one that did not relieve a log that is short of space
  // What an attempt for which the log gave all that it may would have had to walk, and what was
  // free behind it.
  struct Lack {
    uint64_t planned_bytes = 0;
    uint64_t free_bytes = 0;
  };
  std::optional<Lack> lack_;
  std::atomic<bool> stopping_{false};
  std::atomic<bool> urgent_{false};  // somebody waits for the one that runs
  std::atomic<uint64_t> repairs_wanted_{0};
  std::atomic<uint64_t> repairs_done_{0};  // of these, by the last that counts
  CheckpointWatcher* watcher_ = nullptr;

  std::thread thread_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool woken_ = false;
  std::vector<CheckpointRequest*> requests_;
  CheckpointHistory history_;
};

}  // namespace pgsilo
