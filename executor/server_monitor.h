// The server as a statement may ask about it: its sessions, their locks, what was counted. The
// server implements it; executor/operator/monitor_functions.cpp and
// executor/functions/monitoring.cpp make rows and values of it. Thread safety: all functions from
// any session's fiber; each answer is a copy, true at some moment during the call.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "executor/wait_report.h"

namespace pgsilo {

// Times are microseconds since 2000-01-01 00:00 UTC; 0: none.
struct SessionInfo {
  enum class State : uint8_t { active, idle, idle_in_transaction, idle_in_failed_transaction };
  int32_t process = 0;
  std::string user;
  std::string application_name;
  std::string client_address;  // empty: a Unix socket
  int32_t client_port = -1;    // -1: a Unix socket
  int64_t backend_start = 0;
  int64_t transaction_start = 0;
  int64_t query_start = 0;
  int64_t state_change = 0;
  uint64_t query_id = 0;  // StatementStatistics::id; 0: not known
  int64_t pin_start = 0;  // since when it holds memory back from being freed
  uint64_t snapshot = 0;  // the epoch up to which it reads, if it reads a snapshot; else 0
  int worker = 0;         // that serves it
  int64_t moves = 0;      // from one worker to another
  State state = State::idle;
  WaitEvent wait = WaitEvent::none;
  std::string query;  // the one that runs, or the last one; its beginning if it is long
};

// One hold on, or wait for, a lock in one mode.
struct LockInfo {
  enum class Kind : uint8_t { record, relation, advisory_bigint, advisory_pair };
  int32_t process = 0;  // 0: a transaction that belongs to no session
  Kind kind = Kind::record;
  // Of a relation or a record: the RelationId of the tree, 0 if it is not known.
  uint32_t relation = 0;
  uint64_t number = 0;  // of an advisory lock; or two in one (high and low half)
  std::string_view mode;
  bool granted = false;
  int64_t wait_start = 0;
};

// An open snapshot, once for each session that reads it.
struct SnapshotInfo {
  int32_t process = 0;  // 0: no session does
  uint64_t boundary = 0;
  int64_t opened = 0;
  // Replaced rows that it sees; one that several snapshots see counts for each.
  int64_t kept_versions = 0;
  int64_t kept_bytes = 0;
};

struct DatabaseStatistics {
  int64_t commits = 0;
  int64_t rollbacks = 0;
  int64_t rows_inserted = 0;
  int64_t rows_updated = 0;
  int64_t rows_deleted = 0;
  int64_t deadlocks = 0;
  int64_t sessions = 0;            // begun
  int64_t sessions_abandoned = 0;  // ended because the client was lost
  int64_t sessions_fatal = 0;      // by a FATAL error
  int64_t sessions_killed = 0;     // by an administrator
  int64_t temporary_files = 0;     // that have gone
  int64_t temporary_bytes = 0;     // what they had become
  int64_t reset_time = 0;
};

// Runs of a statement that came to nothing because another transaction was in the way.
struct AbortCounters {
  int64_t record = 0;
  int64_t node = 0;
  int64_t lock = 0;
  int64_t unique = 0;
  int64_t relation = 0;
  int64_t intent = 0;  // another's record lock or a closed relation: waited, then ran again
  int64_t deadlock = 0;
};

struct StatementStatistics {
  uint64_t id = 0;
  std::string text;
  int64_t calls = 0;
  int64_t retries = 0;         // aborted runs after which the server ran it again by itself
  int64_t failures = 0;        // those told to the client as 40001 or 40P01
  int64_t exclusive_runs = 0;  // that kept writers out of their tables
  AbortCounters aborts;
};

// In bytes; docs/memory.md tells what each counts.
struct MemoryInfo {
  int64_t limit = 0;    // memory_limit
  int64_t reserve = 0;  // above it, for what must go on
  int64_t used = 0;
  int64_t mapped = 0;          // the pages that what is used lies in
  int64_t promised = 0;        // to open transactions, for their commit
  int64_t to_reclaim = 0;      // waits for readers to be gone
  int64_t old_versions = 0;    // rows kept for snapshots
  int64_t refusals = 0;        // requests that memory_limit refused
  int64_t sessions_ended = 0;  // idle ones that kept memory from being freed
};

// What all loggers have written.
struct LogStatistics {
  int64_t records = 0;
  int64_t record_bytes = 0;
  int64_t buffer_waits = 0;
  int64_t writes = 0;
  int64_t syncs = 0;
  double write_ms = 0;
  double sync_ms = 0;
  int64_t reset_time = 0;
};

// One log directory, since the start. Times are those that a batch waited for the device.
struct LogInfo {
  std::string directory;
  int64_t live_segments = 0;
  int64_t prepared_segments = 0;
  int64_t bytes_written = 0;
  int64_t syncs = 0;
  double mean_sync_ms = 0;
  double median_sync_ms = 0;
  double p99_sync_ms = 0;
  double max_sync_ms = 0;
  uint64_t current_epoch = 0;   // of the database
  uint64_t durable_epoch = 0;   // likewise
  uint64_t recorded_epoch = 0;  // likewise, as the logs on disk prove
  std::string space;
};

// What the server found when it started.
struct RecoveryInfo {
  int64_t started = 0;  // when recovery began
  bool new_database = false;
  bool clean_shutdown = false;
  uint64_t checkpoint = 0;  // its number; 0: there was none
  int64_t checkpoint_bytes = 0;
  int64_t checkpoint_records = 0;
  double checkpoint_seconds = 0;  // of loading it
  int64_t log_bytes = 0;          // replayed
  int64_t records = 0;
  int64_t entries = 0;
  double analysis_seconds = 0;
  double replay_seconds = 0;
  uint64_t durable_epoch = 0;
  std::string data_loss;  // what was given up
};

// All checkpoints that were completed.
struct CheckpointStatistics {
  int64_t timed = 0;
  int64_t requested = 0;
  int64_t bytes = 0;
  double write_ms = 0;
  double sync_ms = 0;
  int64_t reset_time = 0;
};

// One checkpoint: the one that runs, or one of the last.
struct CheckpointRow {
  int64_t number = 0;
  std::string_view state;
  std::string_view cause;
  std::string_view phase;  // empty: it is complete
  int64_t started = 0;
  int64_t ended = 0;  // 0: it runs
  int64_t rows = 0;
  int64_t bytes = 0;  // of its files; 0: not known yet
  int64_t planned_bytes = 0;
  int64_t walked_bytes = 0;
  double settle_ms = 0;
  double write_ms = 0;
  double sync_ms = 0;
  double log_wait_ms = 0;
  double total_ms = 0;
  uint64_t begun_epoch = 0;
  uint64_t ended_epoch = 0;  // 0: it is not complete
  int64_t log_bytes = 0;
  int64_t retired_log_bytes = 0;
  std::string failure;
};

// What was read back from the disk, since the start.
struct ScrubInfo {
  bool running = false;
  int64_t passes = 0;
  int64_t started = 0;  // 0: not yet
  int64_t ended = 0;    // of the last that came to its end; 0: none has
  int64_t checkpoint_bytes = 0;
  int64_t log_bytes = 0;
  int64_t damaged = 0;
  int64_t unreadable = 0;
  std::string last_fault;
  int64_t last_fault_time = 0;  // 0: there was none
  int64_t repairs = 0;
};

// A replication slot.
struct SlotInfo {
  std::string name;
  int32_t owner = 0;  // the session whose temporary slot it is; 0: it is none
  uint64_t restart = 0;
  std::string availability;  // empty: it keeps nothing
  bool lost = false;
  int64_t safe_bytes = -1;  // of log until it may be lost; -1: there is no limit
};

class ServerMonitor {
 public:
  virtual ~ServerMonitor() = default;
  // False: there is no such session.
  virtual bool cancel(int32_t process) = 0;
  virtual bool terminate(int32_t process) = 0;
  virtual bool has_session(int32_t process) const = 0;

  virtual std::vector<SessionInfo> sessions() const = 0;
  virtual DatabaseStatistics database_statistics() const = 0;
  virtual std::vector<StatementStatistics> statement_statistics() const = 0;
  virtual void reset_statistics() = 0;
  virtual MemoryInfo memory() const = 0;
  virtual LogStatistics log_statistics() const = 0;
  // They begin anew.
  virtual void reset_log_statistics() = 0;
  virtual std::vector<LogInfo> logs() const = 0;
  virtual RecoveryInfo recovery() const = 0;
  virtual CheckpointStatistics checkpoint_statistics() const = 0;
  // They begin anew.
  virtual void reset_checkpoint_statistics() = 0;
  virtual std::vector<CheckpointRow> checkpoints() const = 0;
  virtual ScrubInfo scrub() const = 0;
  virtual std::vector<SlotInfo> slots() const = 0;
  virtual std::vector<LockInfo> locks() const = 0;
  virtual std::vector<SnapshotInfo> snapshots() const = 0;
  // Who holds what the session waits for, or waits for it before that session.
  virtual std::vector<int32_t> blockers(int32_t process) const = 0;
};

}  // namespace pgsilo
