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
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "wal/checkpoint/checkpoint_history.h"
#include "wal/checkpoint/checkpoint_pace.h"
#include "wal/checkpoint/checkpoint_retention.h"
#include "wal/checkpoint/checkpoint_run.h"
#include "wal/layout/control_file.h"
#include "wal/log/segment_keeper.h"

namespace pgsilo {

class Parker;

enum class CheckpointOutcome : uint8_t { pending, done, failed };

class Checkpointer;

// Asks for a checkpoint that begins after its construction, as long as it lives. The parker is
// unparked when there is an outcome. Thread safety: the parker's owner.
class CheckpointRequest {
 public:
  CheckpointRequest(Checkpointer& checkpointer, Parker& parker);
  ~CheckpointRequest();
  CheckpointRequest(const CheckpointRequest&) = delete;
  CheckpointRequest& operator=(const CheckpointRequest&) = delete;

  // failed: `why`.
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

class Checkpointer final : public LogGrowthListener {
 public:
  struct Options {
    CheckpointSchedule schedule;
    // Log bytes of earlier starts that a recovery would read.
    uint64_t log_bytes_before = 0;
    bool announce = false;  // beginnings and ends, on stderr
  };
  // `control` is the Wal's and is changed here only while the checkpointer runs.
  Checkpointer(CheckpointParts parts, const Clock& clock, ControlFile& control,
               SegmentKeeper& keeper, Options options);
  ~Checkpointer();

  void start();
  // Gives up what runs.
  void stop();
  // Looks whether it is time.
  void log_has_grown() override;

  // Something that a recovery would need is damaged: a checkpoint that begins after this call is
  // made at once. Any thread.
  void repair();
  // Before start(); null: none.
  void set_watcher(CheckpointWatcher* watcher) { watcher_ = watcher; }

  // A whole checkpoint on this thread, unpaced. False: `why`.
  bool run_now(CheckpointReason reason, std::string* why);
  // A piece of one; begins one if none runs. True when it has become the one that counts.
  bool step();
  // Whether something was logged since the last one began, or is to be repaired.
  bool is_due() const { return log_bytes() != log_bytes_at_begin_ || wants_repair(); }

  // Any thread. Commits that have returned are of epochs up to it.
  Epoch present_epoch() const;
  // Any thread. Whether all that was committed in epochs up to `epoch` is durable; then
  // `*recorded`: the epoch that trailers on disk prove, which reaches all of it; `epoch` itself
  // unless the log is short of space. Else it will be soon.
  bool proves(Epoch epoch, Epoch* recorded);

  CheckpointStatus status() const { return history_.status(); }
  const CheckpointHistory& history() const { return history_; }

 private:
  friend class CheckpointRequest;
  friend class CheckpointHold;
  struct Attempt;

  void run();
  bool wait_for_reason(CheckpointReason* reason);
  bool make(CheckpointReason reason, bool paced, std::string* why);
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
  bool remove_retired();
  bool log_is_short() const;
  void answer(const char* failure);
  bool has_request() const;  // with mutex_
  bool wants_repair() const { return repairs_done_ != repairs_wanted_; }
  uint64_t log_bytes() const;
  bool interrupted() const { return stopping_.load(std::memory_order_relaxed); }

  const CheckpointParts parts_;
  const Clock& clock_;
  ControlFile& control_;
  SegmentKeeper& keeper_;
  const Options options_;
  CheckpointRetention retention_;
  uint64_t last_number_;  // since the start, or of the one that counts

  std::unique_ptr<Attempt> attempt_;  // that runs
  uint64_t log_bytes_at_begin_ = 0;   // of the last that counts
  int64_t last_begun_us_;
  int64_t retry_at_us_ = 0;  // after a failure
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
