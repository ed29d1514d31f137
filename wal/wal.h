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
// Group commit, as a worker sees it:
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
// Invariants: D1 to D5 of docs/invariants.md. No write happens to any file before start(), so that
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
#include "wal/log/durable_listener.h"
#include "wal/log/log_status.h"
#include "wal/recovery/recovery_result.h"

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
