// Reads back from the disk, past the page cache, what a recovery would need, while memory still
// holds the truth: the blocks of each checkpoint when it has become the one that counts, and again
// every `interval_us`, and the finished log segments behind it. What is damaged or cannot be read
// is told, with file, offset and relation, and a new checkpoint is asked for at once: it is written
// elsewhere, and needs none of it.
//
// A pass takes little of the device: it rests for three times as long as each megabyte took. It is
// given up when another checkpoint begins to count, whose files it then reads instead.
//
// Thread safety: status(), checkpoint_counts(): any thread. start(), stop(), run_once(): the owner;
// run_once() while there is no thread. Failures: none; what it cannot do it says.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "wal/checkpoint/checkpointer.h"
#include "wal/layout/checkpoint_format.h"
#include "wal/layout/checkpoint_manifest.h"
#include "wal/recovery/checkpoint_fault.h"

namespace pgsilo {

// Since the start.
struct ScrubStatus {
  bool running = false;
  uint64_t passes = 0;  // that came to their end
  int64_t started_unix_us = 0;
  int64_t ended_unix_us = 0;      // of the last that came to its end; 0: none has
  uint64_t checkpoint_bytes = 0;  // read, of all passes
  uint64_t log_bytes = 0;
  uint64_t damaged = 0;     // places found; one that stays is found by each pass
  uint64_t unreadable = 0;  // likewise: the device does not give them
  std::string last_fault;
  int64_t last_fault_unix_us = 0;  // 0: there was none
  uint64_t repairs = 0;            // checkpoints asked for
};

// Knows what relations are called. Thread safety: held_by(): the scrubber's thread.
class BlockNames {
 public:
  // What was in the block, in words; empty: nobody knows.
  virtual std::string held_by(const CheckpointBlock& block) const = 0;

 protected:
  ~BlockNames() = default;
};

class Scrubber final : public CheckpointWatcher {
 public:
  // Faults of one pass that are told one by one.
  static constexpr unsigned most_told = 20;
  // A device that damages everything is not written to without end.
  static constexpr int64_t repair_pause_us = 600'000'000;

  struct Parts {
    FileSystem& files;
    const Clock& clock;
    Checkpointer& checkpointer;
    std::string data_directory;
    std::vector<std::string> directories;  // of checkpoints, as configured
    Uuid database;
    std::vector<CheckpointedLog> logs;
    int64_t interval_us;  // 0: never, nor after a checkpoint
  };
  // `counts`: the checkpoint that counts now.
  Scrubber(Parts parts, CheckpointManifest counts);
  ~Scrubber() { stop(); }

  // Before start(). Null: relations are told by their numbers.
  void set_names(const BlockNames* names) { names_ = names; }
  void start();
  void stop();
  // A whole pass, unpaced.
  void run_once();

  ScrubStatus status() const;
  void checkpoint_counts(const CheckpointManifest& manifest) override;

 private:
  void run();
  bool wait_for_turn();
  void pass(bool paced);
  void scrub_checkpoint();
  void scrub_log(const CheckpointedLog& log, const LogCut& cut);
  void scrub_segment(const CheckpointedLog& log, uint64_t number);
  void note(const CheckpointFault& fault, const std::string& of_what);
  std::string contents_of(const CheckpointBlock& block) const;
  void tell_of_the_rest() const;
  void repair_if_due();  // with mutex_
  void took(uint64_t bytes, uint64_t ScrubStatus::* counter);
  bool given_up() const;

  const Parts parts_;
  const BlockNames* names_ = nullptr;

  // Of the pass that runs: its thread's.
  CheckpointManifest read_;
  uint64_t generation_read_ = 0;
  bool paced_ = false;
  unsigned told_ = 0;
  unsigned untold_ = 0;
  uint64_t since_rest_bytes_ = 0;
  int64_t since_rest_us_ = 0;

  std::thread thread_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  CheckpointManifest counts_;
  uint64_t generation_ = 1;  // of counts_
  bool fresh_ = false;       // counts_ was not read yet
  int64_t next_pass_us_;
  bool unrepaired_ = false;
  int64_t repair_not_before_us_ = 0;
  ScrubStatus status_;
};

}  // namespace pgsilo
