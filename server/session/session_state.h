// The parts of one session, for those who run its messages.
// Thread safety: none; the session's fiber.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/memory_budget.h"
#include "catalog/sequence/sequence_session.h"
#include "catalog/temporary_schema.h"
#include "executor/constraint/referential_actions.h"
#include "executor/execution_context.h"
#include "executor/spill/temporary_files.h"
#include "planner/plan/transaction_plan.h"
#include "server/net/connection.h"
#include "server/session/copy_stream.h"
#include "server/session/execution_pool.h"
#include "server/session/lock_wait_log.h"
#include "server/session/portal.h"
#include "server/session/prepared_statements.h"
#include "server/session/reply.h"
#include "server/session/row_writer.h"
#include "server/session/session_activity.h"
#include "server/session/session_interrupts.h"
#include "server/session/session_log.h"
#include "server/session/session_services.h"
#include "server/session/transaction_control.h"
#include "server/session/wal_backup.h"
#include "server/session/wal_slots.h"
#include "server/settings/settings.h"

namespace pgsilo {

class StatementRunner;
struct SessionHandoff;

struct SessionState final : TransactionObserver {
  // `handoff`: of the session that goes on here; may be null.
  SessionState(const SessionServices& given, WorkerFiber& fiber, int descriptor, OutputValve& valve,
               const SessionHandoff* handoff);
  ~SessionState();

  void before_commit() override;
  void before_transaction_end() override;
  void transaction_started() override;
  void transaction_ended(bool committed) override;
  void storage_opened() override;
  void snapshot_opened(Epoch boundary) override { activity.set_snapshot(boundary); }
  // `text` is about to be run, for the first time or again: what becomes of it is counted there.
  void run_counted(CachedText& text, std::string_view shown);
  // Whether the run that follows keeps writers out of its tables; if so, it is counted.
  void keep_writers_out(bool keeps);
  uint64_t savepoint_set() override { return portals.next_number(); }
  void before_rollback_to(uint64_t savepoint) override { portals.remove_since(savepoint); }
  void before_block_fails(uint64_t savepoint) override { portals.end_since(savepoint); }
  // Brings contexts up to date after settings changed.
  void apply_settings() {
    if (applied_generation_ != settings.generation() ||
        applied_temporary_ != temporary_schema.is_taken())
      apply_changed_settings();
  }
  // The catalog as the next statement sees it: the newest one, by the session's search path.
  void refresh_catalog();
  // The session is over, and all transactions: what it has made temporarily goes. If that cannot be
  // done it stays until the server starts again.
  void drop_temporary_objects();

  SessionServices services;
  const std::shared_ptr<SessionActivity> shared_activity;
  SessionActivity& activity = *shared_activity;
  SessionInterrupts interrupts;
  Connection connection;
  Settings settings;
  SessionLog log;
  Reply reply;
  ExecutionContext context;
  MemoryPromise memory_promise;  // of the open transaction
  TemporaryFiles temporary_files;
  WaitSettings waits;
  Arena statement_memory{ArenaLimit::memory_limit};  // context.types.arena
  TemporarySchema temporary_schema;
  TransactionControl transactions;
  LockWaitLog lock_waits{services, context, transactions, log};
  SequenceSession sequences;
  ReferentialActions references{context};
  WalBackup backup{services.checkpointer, context};
  WalSlots slots;
  PreparedStatements statements;
  Portals portals;
  StatementRunner* runner = nullptr;  // the session's
  ExecutionPool executions;
  RowWriter rows;
  CopyInStream copy_in;
  CopyOutStream copy_out;
  bool in_query = false;                       // the message that runs is a simple query
  bool one_of_several = false;                 // statements of it
  bool running_again = false;                  // a one-shot, after a conflict
  bool only_reads = true;                      // the transaction's statements so far
  std::shared_ptr<StatementCounters> counted;  // of the statement that ran last; null: none yet
  PlannerSettings planner_settings;
  PlanCacheMode plan_cache_mode = PlanCacheMode::automatic;
  std::string settings_key;         // what of the settings plans depend on, for the plan cache
  uint64_t settings_number = 0;     // another one whenever that has changed
  std::string simple_settings_key;  // the same for simple queries, which have no parameters

 private:
  void apply_changed_settings();
  void apply_planner_settings();
  void apply_memory_settings();

  std::string application_name_;  // as activity shows it
  std::vector<std::string> search_path_;
  uint64_t applied_generation_ = 0;
  bool applied_temporary_ = false;  // there was a temporary schema by then
  uint64_t path_generation_ = 0;    // of settings, when the path was resolved
  uint64_t path_version_ = 0;       // of the catalog, likewise
};

}  // namespace pgsilo
