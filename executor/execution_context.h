// What a running statement may ask of the session that runs it. One ExecutionContext per session;
// the session fills the fields marked "per statement" before each Execution and keeps everything it
// points at alive until the Execution is destroyed. Thread safety: used by the session's fiber
// only; `cancel_requested` may be set by any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "executor/statement_place.h"
#include "sql/limits.h"
#include "sql/types/type_context.h"

namespace pgsilo {

class AdvisoryLocks;
class CatalogView;
class MemoryPromise;
class Parker;
class ReferentialActions;
class SequenceSession;
class ServerMonitor;
class SessionBackup;
class SessionCursors;
class SessionSlots;
class SessionStatements;
class SqlError;
class TemporaryFiles;
class Transaction;
struct WaitReport;

// Settings as current_setting(), set_config() and SHOW see them.
class SettingsAccessor {
 public:
  virtual ~SettingsAccessor() = default;
  // False when there is no setting of that name (the caller raises 42704). Names are
  // case-insensitive.
  virtual bool get(std::string_view name, std::string* value) const = 0;
  // SET or SET LOCAL. Throws SqlError when the name or the value is not acceptable.
  virtual void set(std::string_view name, std::string_view value, bool is_local) = 0;
};

// The client's side of COPY FROM STDIN.
class CopySource {
 public:
  virtual ~CopySource() = default;
  // Announces that the statement is ready to receive (CopyInResponse). Called once, before the
  // first read. All columns are in text format.
  virtual void begin(uint32_t column_count) = 0;
  // The next piece of the stream, of any length and cut anywhere; it stays valid until the next
  // call. False at the end (CopyDone). Throws SqlError 57014 on CopyFail, 08P01 on a protocol
  // violation. May suspend the fiber.
  virtual bool read(std::string_view* piece) = 0;
};

// The client's side of COPY TO STDOUT.
class CopySink {
 public:
  virtual ~CopySink() = default;
  // CopyOutResponse. Called once, before the first write.
  virtual void begin(uint32_t column_count) = 0;
  // One row, with its line end: one CopyData message.
  virtual void write(std::string_view row) = 0;
  // CopyDone.
  virtual void end() = 0;
};

// Lets other fibers of the worker run, and counts the statement's running time
// (docs/architecture.md, long statements).
class TimeBudget {
 public:
  virtual ~TimeBudget() = default;
  // Called about once per `rows_per_check` rows; returns true if the fiber was suspended in
  // between, in which case the executor validates the transaction's reads before it goes on.
  virtual bool yield_if_spent() = 0;
  // Nobody waits for the statement's answer any more.
  virtual bool is_abandoned() const { return false; }
};

// Asked by a statement that has read much, or that has no memory left to remember what it reads.
class LongReader {
 public:
  virtual ~LongReader() = default;
  // The statement only reads, alone in its transaction or under READ COMMITTED: it goes on at a
  // snapshot, which remembers nothing (docs/snapshots.md). False: it cannot. Throws
  // TransactionConflict. May suspend the fiber.
  virtual bool read_snapshot() = 0;
};

// Asked before a function does what no rollback undoes (BuiltinProcedure::acts_outside).
class OutsideActs {
 public:
  virtual ~OutsideActs() = default;
  // What the transaction has read so far was true, and from here on it does not run again. Throws
  // TransactionConflict: nothing is done yet, and it may. May suspend the fiber.
  virtual void begin_act() = 0;
};

// A notice or warning for the client: an SqlError whose severity is not an error.
class NoticeSink {
 public:
  virtual ~NoticeSink() = default;
  virtual void notice(const SqlError& notice) = 0;
  // Called about once per `rows_per_check` rows: those that are held may be too many. May suspend
  // the fiber. Throws as maybe_yield().
  virtual void limit_held() {}
};

// State of random() and setseed(): one per session.
struct RandomState {
  uint64_t words[2] = {0x9e3779b97f4a7c15u, 0xbf58476d1ce4e5b9u};
};

enum class Caution : uint8_t {
  none,
  rows,    // those that it reads by a whole key
  tables,  // and those that it reads in ranges, against writers
};

struct ExecutionContext {
  // --- per session ---
  SettingsAccessor* settings = nullptr;
  NoticeSink* notices = nullptr;
  TimeBudget* time_budget = nullptr;                    // null: never yields
  LongReader* long_reader = nullptr;                    // null: it goes on as it began
  OutsideActs* outside_acts = nullptr;                  // null: nothing runs again
  Parker* parker = nullptr;                             // suspends the session's fiber
  WaitReport* wait_report = nullptr;                    // null: nobody looks
  ServerMonitor* monitor = nullptr;                     // null: there is no server around
  SessionBackup* backup = nullptr;                      // null: there is no server around
  SessionSlots* slots = nullptr;                        // likewise
  const SessionStatements* statements = nullptr;        // likewise
  const SessionCursors* cursors = nullptr;              // likewise
  const std::atomic<bool>* cancel_requested = nullptr;  // null: cannot be cancelled
  SequenceSession* sequences = nullptr;                 // values taken, currval()
  ReferentialActions* references = nullptr;             // needed where tables have foreign keys
  AdvisoryLocks* advisory_locks = nullptr;
  MemoryPromise* memory_promise = nullptr;                // null: nobody counts
  TemporaryFiles* temporary_files = nullptr;              // null: nothing spills
  size_t work_memory_bytes = size_t{4} << 20;             // work_mem
  size_t hash_memory_bytes = size_t{8} << 20;             // the same for hash tables
  int32_t statistics_target = limits::statistics_target;  // default_statistics_target
  RandomState random;
  std::string database_name;
  std::string user_name;          // current_user
  std::string session_user_name;  // session_user
  int32_t backend_pid = 0;
  // Arena (reset by the session between statements), time zone, DateStyle, IntervalStyle,
  // extra_float_digits ...
  TypeContext types;

  // --- per transaction ---
  Transaction* transaction = nullptr;  // open for the whole life of an Execution
  CatalogView* catalog =
      nullptr;  // the session's view of the catalog, its own uncommitted DDL included
  int64_t transaction_timestamp_us = 0;  // now(): microseconds since 2000-01-01 00:00 UTC
  bool read_only = false;                // functions that write fail
  // Statements keep others from writing the tables that they use: the last resort of those whose
  // reads are beaten again and again.
  bool keeps_writers_out = false;
  // What a block at SERIALIZABLE whose predecessors were beaten locks of what it reads, until its
  // end (docs/commit_protocol.md, Nobody starves).
  Caution caution = Caution::none;
  // Statements that may_read_past do so from their beginning: their reads were beaten before.
  bool prefers_past = false;

  // --- per statement ---
  int64_t statement_timestamp_us = 0;
  CopySource* copy_source = nullptr;  // only needed for kind copy_in
  CopySink* copy_sink = nullptr;      // only needed for kind copy_out
  StatementPlace place = StatementPlace::first;
  // Of a definition (DDL): nothing came before it in its transaction, and nothing will come after
  // it. So it may commit what it does by itself, in several transactions.
  bool is_alone = false;
  bool has_committed = false;  // it has done so, and must not run again
  bool has_acted = false;      // outside of the transaction: likewise
  // Under READ COMMITTED: what it reads may be of a moment since it began. It writes nothing, or
  // only inserts into a table that the transaction has made.
  bool may_read_past = false;

  // Called at row boundaries. Raises 57014 when cancellation was requested and a conflict when the
  // transaction's reads turn out not to fit together after a pause.
  void maybe_yield() {
    if (--rows_until_check_ == 0) [[unlikely]]
      check_budget();
  }
  // The slow half of maybe_yield().
  void check_budget();
  // The catalog, for answers that tell of it what they have read no row for
  // (CatalogView::told_by()).
  const CatalogView& told_catalog() const;
  // A function is about to act outside of the transaction. Throws TransactionConflict.
  void act_outside();
  // What an operator may use before it spills.
  size_t work_budget() const { return temporary_files == nullptr ? SIZE_MAX : work_memory_bytes; }
  size_t hash_budget() const { return temporary_files == nullptr ? SIZE_MAX : hash_memory_bytes; }
  // Before something runs again: not for a client that has gone (08006, and the session ends).
  void check_client() const;

  static constexpr uint32_t rows_per_check = 128;
  // Records and nodes of one transaction.
  static constexpr size_t much_read = 50'000;

 private:
  static constexpr int64_t validation_rest_factor = 20;
  void admit_bookkeeping();
  uint32_t rows_until_check_ = rows_per_check;
  size_t admitted_bytes_ = 0;  // of the transaction's sets
  int64_t validate_after_us_ = 0;
};

}  // namespace pgsilo
