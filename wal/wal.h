// The log of a database, whole: its directories, recovery, the loggers, checkpoints, and what
// workers ask of it. The composition root uses it so:
//
//   std::string why;
//   auto wal = Wal::open(files, clock, data_directory, options, &why);
//     locks the directory; null: `why` is for the user
//   RecoveryResult recovered;
//   if (!wal->recover(relations, reclaimer, live, progress, &recovered, &why)) ... stop: `why`
//     the catalog's relations first; `live` is called then
//   EpochManager epochs(recovered.first_epoch);
//   DurableEpoch durable(recovered.durable_epoch);
//   if (!wal->start(epochs, durable, &why)) ... stop
//     the first write of this incarnation
//   wal->start_threads();
//   WorkerContext worker(parts, wal->worker_log(i));
//   wal->set_listener(i, listener);
//   ...
//   wal->stop();
//     workers are quiet; makes everything durable
//
// Group commit, as a worker sees it (engine.md item 1):
//   request_durable(i, epoch, wake)
//     A reply of worker i rests on `epoch`. One atomic operation when D covers it or it was asked
//     for before. LoggerWake::now also wakes the logger thread if it sleeps (one system call);
//     LoggerWake::later is for a worker that is going to call try_step() itself when it has nothing
//     else to do; whoever keeps busy instead calls wake_logger(i).
//   try_step(i)
//     An idle worker runs its logger's step: write, sync, publish D, tell the others.
//   DurableListener::on_durable
//     D reached the smallest epoch that worker i had asked for; called again each time D moves as
//     long as it has asked for more. From any thread; wakes the worker.
//
// Thread safety: worker_log(i), request_durable(i), try_step(i), wake_logger(i): the thread of
// worker i. durable_epoch(), status(): any thread. The rest: one thread, in the order above.
// Nothing starts a thread but start_threads().
// Invariants: D1 to D5 of durability.md. No write happens to any file before start(), so that
// recovery may be killed and repeated; except that the directory of a new database is initialised
// by open().
// Failures: a write or sync of the log that fails stops the process with a message (item 10); lack
// of space does not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/strong_id.h"
#include "storage/epoch/epoch.h"
#include "storage/transaction/redo_sink.h"
#include "wal/checkpoint/checkpoint_pace.h"
#include "wal/recovery/lost_blocks.h"

namespace pgsilo {

class CheckpointHistory;
class Checkpointer;
class Clock;
class DurableEpoch;
class EpochManager;
class FileSystem;
class LogSlots;
class Reclaimer;
class RelationDirectory;
class Scrubber;
struct RecoveryReport;

enum class LogSyncMethod : uint8_t {
  direct,     // O_DIRECT|O_DSYNC: fastest where measured (docs/decisions); falls back to fdatasync
              // where the file system refuses
  fdatasync,  // write through the page cache, then fdatasync
};

struct WalOptions {
  // Relative ones lie in the data directory. Several: one logger each, workers divided among them.
  std::vector<std::string> log_directories = {"wal"};
  unsigned workers = 1;
  // Per worker; a transaction that logs more than a quarter of it gets memory of its own.
  size_t buffer_bytes = size_t{4} << 20;
  // A multiple of 64 KiB, at least 256 KiB; files of other sizes from earlier starts stay readable.
  size_t segment_bytes = size_t{8} << 20;
  // Empty segments kept ready ahead of each logger, at most: no more than it has begun so far.
  unsigned spare_segments = 16;
  LogSyncMethod sync_method = LogSyncMethod::direct;
  // The setting `wal_compression`: blocks of the log are compressed with lz4 where that saves a
  // unit. What is there already is read either way.
  bool compress = false;
  // What nobody waits for becomes durable after about this long.
  int64_t flush_after_us = 40'000;
  // Relative ones lie in the data directory. Checkpoints' files are shared out among them.
  std::vector<std::string> checkpoint_directories = {"checkpoint"};
  unsigned checkpoint_threads = 1;
  CheckpointSchedule checkpoints;
  bool compress_checkpoints = false;
  // The setting `log_checkpoints`: says on stderr when one begins and what it was.
  bool announce_checkpoints = false;
  // Whether a clean stop makes one, so that the next start replays nothing.
  bool checkpoint_at_stop = true;
  // The setting `scrub_interval`: what a recovery would need is read back after each checkpoint and
  // so often; 0: never.
  int64_t scrub_interval_us = 86'400'000'000;
  // Threads of recovery; 0: two per CPU.
  unsigned recovery_threads = 0;
  // The setting `recovery_accept_data_loss`: start from the newest consistent state before damage
  // instead of refusing.
  bool accept_data_loss = false;
  // The setting `recovery_skip_damaged_blocks`: start without the rows of users' relations that lie
  // in damaged blocks of the checkpoint.
  bool skip_damaged_blocks = false;
  // The setting `max_replication_slots`, and `max_slot_wal_keep_size` in bytes.
  unsigned max_slots = 10;
  uint64_t slot_keep_bytes = UINT64_MAX;
  // For inspect(): a database is looked for, none is made, and nothing is locked but the logs; the
  // caller holds the data directory's lock (hold_data_directory()). There need be no log.
  bool read_only = false;
};

struct RecoveryProgress {
  uint64_t bytes_done = 0;
  uint64_t bytes_total = 0;
  double bytes_per_second = 0;
  double seconds_left = 0;  // estimated
  double percent() const {
    return bytes_total == 0
               ? 100.0
               : 100.0 * static_cast<double>(bytes_done) / static_cast<double>(bytes_total);
  }
};

class RecoveryListener {
 public:
  // About twice a second, and at the end; on the thread that called recover().
  virtual void on_progress(const RecoveryProgress& progress) = 0;

 protected:
  ~RecoveryListener() = default;
};

struct RecoveryResult {
  Epoch durable_epoch;  // what DurableEpoch starts with
  Epoch first_epoch;    // what EpochManager starts with: above every epoch in any file
  uint64_t records = 0;
  uint64_t entries = 0;
  uint64_t log_bytes = 0;         // replayed
  uint64_t trusted_segments = 0;  // of the log: read only once, as they were replayed
  uint64_t checkpoint = 0;        // its number; 0: there was none
  uint64_t checkpoint_rows = 0;
  uint64_t checkpoint_bytes = 0;
  int64_t analysis_us = 0;
  int64_t load_us = 0;  // of the checkpoint
  int64_t replay_us = 0;
  bool new_database = false;  // nothing was ever committed durably
  bool clean_shutdown = false;
  std::string data_loss;  // what was given up, with one of the settings for it; else empty
  // With skip_damaged_blocks. Indexes of their tables do not agree with them before somebody has
  // seen to that.
  std::vector<LostBlock> lost_blocks;
};

class DurableListener {
 public:
  // Any thread, possibly the worker's own inside request_durable() or try_step(). Must not block.
  // True: the worker slept, was woken by this, and calls Wal::pass_on() before it does anything
  // else.
  virtual bool on_durable(Epoch durable) = 0;

 protected:
  ~DurableListener() = default;
};

enum class LoggerWake : uint8_t { now, later };

// One log directory since the start.
struct LogStatus {
  std::string directory;
  uint64_t live_segments = 0;      // with blocks in them
  uint64_t prepared_segments = 0;  // empty ones at hand
  uint64_t retired_segments = 0;   // that no recovery reads; kept to be used again
  uint64_t records = 0;
  uint64_t record_bytes = 0;   // of these, without what blocks add
  uint64_t writes = 0;         // system calls
  uint64_t bytes_written = 0;  // to segments, padding included
  uint64_t bytes_saved = 0;    // by compression
  uint64_t syncs = 0;          // batches made durable, by a sync or by writes that need none
  int64_t write_us = 0;        // of writes that a sync follows
  int64_t sync_us = 0;         // of syncs and of writes that need none
  double mean_sync_us = 0;     // what a batch waited for the device, and its distribution
  double median_sync_us = 0;
  double p99_sync_us = 0;
  double max_sync_us = 0;
  uint64_t buffer_waits = 0;  // commits that waited for room in the buffers
  // ample, low (the log and the next checkpoint may find no room), preparing, exhausted (writers
  // get 53100).
  std::string_view space;
};

// Moments' figures for views and tests.
struct WalStatus {
  uint64_t syncs = 0;          // batches written
  uint64_t bytes_written = 0;  // to segments, padding included
  uint64_t bytes_saved = 0;    // by compression
  uint64_t segments_prepared = 0;
  bool out_of_space = false;  // writers get 53100
  Epoch current_epoch;
  Epoch durable_epoch;
  // The last one that trailers on disk prove, or the start's begin blocks for those before it; no
  // data is behind it.
  Epoch recorded_epoch;
  std::vector<LogStatus> logs;
};

// The user relations that the restored catalog's rows name, ascending. Empty: there is no catalog,
// and all are restored.
using LiveRelations = std::function<std::vector<RelationId>()>;
// The same, of a catalog that was restored into these for that alone.
using LiveRelationsIn = std::function<std::vector<RelationId>(RelationDirectory&, Reclaimer&)>;

class Wal {
 public:
  static std::unique_ptr<Wal> open(FileSystem& files, const Clock& clock,
                                   const std::string& data_directory, const WalOptions& options,
                                   std::string* why);
  ~Wal();  // stops the threads; writes nothing
  Wal(const Wal&) = delete;
  Wal& operator=(const Wal&) = delete;

  // Loads the checkpoint and replays the log into `relations`, which are empty; user relations only
  // if they are among `live`. `listener` may be null. False: `why` says which file is damaged or
  // missing.
  bool recover(RelationDirectory& relations, Reclaimer& reclaimer, const LiveRelations& live,
               RecoveryListener* listener, RecoveryResult* result, std::string* why);
  // What recover() would find and replay, without memory for it: every block and record is read and
  // checked. False: `why`, the words with which recover() refuses; `report` then tells what there
  // would be with accept_data_loss, as far as that can be told. Only if users' blocks of the
  // checkpoint are damaged, the catalog is restored: `live` tells which of them recover() reads.
  bool inspect(const LiveRelationsIn& live, RecoveryListener* listener, RecoveryReport* report,
               std::string* why);

  // Durably records what was recovered and that a new incarnation begins. Both outlive the Wal.
  bool start(EpochManager& epochs, DurableEpoch& durable, std::string* why);
  void start_threads();
  // Waits until everything committed is durable, records a clean shutdown, ends the threads.
  void stop();

  unsigned workers() const;
  RedoSink& worker_log(unsigned worker);
  // Before the worker's first request; null: none. When it returns, the listener before is not
  // called any more.
  void set_listener(unsigned worker, DurableListener* listener);

  // The worker has been woken by its listener: it wakes others, if that was left to it.
  void pass_on(unsigned worker);

  Epoch durable_epoch() const;
  void request_durable(unsigned worker, Epoch epoch, LoggerWake wake);
  void wake_logger(unsigned worker);
  // True if it ran a step (and D may have moved); false if there is nothing to do or somebody else
  // is at it.
  bool try_step(unsigned worker);
  // Waits for `epoch` on the calling thread, which steps the log itself where nobody else does:
  // tools and tests.
  void wait_durable(unsigned worker, Epoch epoch);

  // What the housekeeping thread does, for callers without threads: prepares missing spare
  // segments.
  void prepare_segments();

  WalStatus status() const;
  // After start().
  Checkpointer& checkpointer();
  const CheckpointHistory& checkpoints() const;
  const LogSlots& slots() const;
  Scrubber& scrubber();
  const Scrubber& scrubber() const;

 private:
  struct State;
  explicit Wal(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace pgsilo
