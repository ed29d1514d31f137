// The session's transaction: PostgreSQL's block states over a storage transaction that is opened by
// the first statement that needs one.
//
//   idle      between statements; nothing is open
//   implicit  a statement outside of a block, or a pipeline up to Sync, or a multi-statement query:
//             one-shot
//   block     after BEGIN: interactive
//   failed    a statement of the block failed: only the block's end and ROLLBACK TO are accepted
//             (25P02)
//
// A SERIALIZABLE READ ONLY DEFERRABLE transaction reads a snapshot (docs/snapshots.md), the catalog
// included. So may an implicit one that only reads.
//
// Savepoints are a stack of marks. A statement that fails is unwound to the newest at once; without
// any, the storage transaction ends.
//
// Thread safety: none; the session's fiber.
// Invariants: idle has no open storage transaction, failed only under a savepoint; before writes
// are unwound the executions that saw them are gone (TransactionObserver).
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "catalog/catalog_view.h"
#include "executor/catalog_names.h"
#include "executor/constraint/referential_actions.h"
#include "executor/execution_context.h"
#include "server/pgwire/protocol.h"
#include "server/session/awaited_epoch.h"
#include "server/session/block_caution.h"
#include "server/settings/settings.h"
#include "sql/ast/utility.h"
#include "sql/sqlstate.h"
#include "storage/transaction/advisory_lock.h"
#include "storage/transaction/transaction.h"

namespace pgsilo {

class TransactionObserver {
 public:
  // A transaction has begun (again, if no end came between: a one-shot runs once more), and it has
  // ended for its client: by COMMIT, ROLLBACK or an error.
  virtual void transaction_started() = 0;
  virtual void transaction_ended(bool committed) = 0;
  // It reads and writes from here on, and holds back the memory of what others take away.
  virtual void storage_opened() = 0;
  // It reads a snapshot from here on.
  virtual void snapshot_opened(Epoch boundary) = 0;
  // The transaction is about to end: portals and executions that use it must go.
  virtual void before_transaction_end() = 0;
  // Its statements are complete: what outlives it is made now. May throw, and then nothing is
  // committed.
  virtual void before_commit() = 0;
  // The answer, given to before_rollback_to(), tells what was opened before the savepoint: that may
  // stay, the rest must go.
  virtual uint64_t savepoint_set() = 0;
  virtual void before_rollback_to(uint64_t savepoint) = 0;
  // An error is about to unwind the block to its newest savepoint, or (0) all of it: portals and
  // executions that are not older must let go of the transaction, but are known by name until the
  // block ends or ROLLBACK TO.
  virtual void before_block_fails(uint64_t savepoint) = 0;

 protected:
  ~TransactionObserver() = default;
};

class TransactionControl {
 public:
  enum class State : uint8_t { idle, implicit, block, failed };

  TransactionControl(WorkerContext& worker, Catalog& catalog, Settings& settings,
                     ExecutionContext& context, const WaitSettings& waits,
                     TransactionObserver& observer);

  State state() const { return state_; }
  bool in_block() const { return state_ == State::block || state_ == State::failed; }
  ReadyState ready_state() const;
  CatalogView& catalog() { return catalog_; }
  Transaction& storage() { return transaction_; }
  const Transaction& storage() const { return transaction_; }
  AdvisoryLocks& advisory_locks() { return advisory_locks_; }
  const AdvisoryLocks& advisory_locks() const { return advisory_locks_; }

  // A message begins to be handled: the time that its statements see.
  void set_clock();
  // Throws 25P02 in a failed block.
  void require_not_failed() const;
  // A statement begins: enters an implicit transaction if there is none.
  void begin_statement();
  // A statement has ended that others may follow in an implicit transaction.
  void statement_ran() { has_run_ = state_ == State::implicit; }
  bool has_run() const { return has_run_; }
  // The statement reads or writes: opens the storage transaction.
  void open();
  // All that the session has made temporarily, as a statement of the open transaction.
  void drop_temporary_objects();
  // The same in a transaction of its own: there is no other, nor will there be one. False: it could
  // not be done.
  bool drop_left_temporary_objects() noexcept;
  // Before what was read so far is told to the client: throws TransactionConflict when it does not
  // fit together.
  void validate();
  // The first byte is about to leave: from here on conflicts are the client's. Throws
  // TransactionConflict, and may then run again.
  void become_interactive();
  // The transaction must not run again.
  void forbid_rerun();
  bool runs_once() const { return runs_once_; }
  // Of what the client sent as one, part has ended: nothing of it may run again, and the answer so
  // far stands.
  void commits_in_part() {
    set_can_replay(false);
    is_part_committed_ = true;
  }
  // Whether it has, since this was last asked.
  bool take_part_committed() { return std::exchange(is_part_committed_, false); }
  // Whether one that has begun behind the replay point may.
  bool can_replay() const { return can_replay_; }
  bool may_run_again() const { return can_replay_ && !runs_once_; }
  // What stands outside of a block may only run again as a whole.
  bool runs_as_a_whole() const { return may_run_again() && !is_separate_; }
  // A statement that meets a conflict may run again alone: in a block, and where the whole may not
  // or need not.
  bool restarts_statements() const {
    return state_ == State::block || (state_ == State::implicit && !runs_as_a_whole());
  }
  // READ COMMITTED, an implicit transaction, before a statement of it begins: from here on each
  // sees a moment of its own, as in a block, and what it has read need not stay true. The whole may
  // run again all the same. Throws TransactionConflict.
  void separate_statements();
  // An implicit transaction that only reads, and to which nothing will be added, reads a snapshot
  // from here on. Throws TransactionConflict.
  void become_snapshot();
  // Whether implicit transactions may run again. Those that may not run as interactive.
  void set_can_replay(bool can) {
    can_replay_ = can;
    if (can) advisory_locks_.set_replay_point();
  }
  // What the next one-shot runs as: after many conflicts it takes intent locks as it goes, or, if
  // it only reads, reads a snapshot.
  void set_careful(bool careful) { careful_ = careful; }
  bool is_careful() const { return careful_; }
  // The last resort: the statements that follow keep writers out of the tables that they use. False
  // lets them in, at once.
  void set_keeps_writers_out(bool keeps) {
    context_.keeps_writers_out = keeps;
    if (!keeps) let_writers_in();
  }
  // But for those that a cautious block keeps out until its end, or until its client is slow.
  void let_writers_in() {
    if (context_.caution != Caution::tables) transaction_.let_writers_in();
  }
  bool is_cautious() const { return context_.caution != Caution::none && state_ == State::block; }
  void let_go_of_caution() { transaction_.let_go_of_caution(); }
  void set_reads_snapshot(bool reads) { reads_snapshot_ = reads; }
  void begin_client_wait() { awaited_since_us_ = state_ == State::block ? monotonic_us() : 0; }
  void end_client_wait() {
    if (awaited_since_us_ != 0) caution_.note_wait(monotonic_us() - awaited_since_us_);
    awaited_since_us_ = 0;
  }
  const BlockCaution& block_caution() const { return caution_; }
  void set_block_caution(const BlockCaution& caution) { caution_ = caution; }
  // Another client comes, who was never beaten.
  void forget_caution() { caution_ = {}; }

  // BEGIN, COMMIT, ROLLBACK and their kin; the answer is the command tag.
  std::string_view run(const ast::TransactionStmt& statement);
  // Of a block: a savepoint without a name around one statement that changes the catalog and may
  // run again. Nobody else's marks come or go before it is released, or the transaction fails.
  struct StatementMark {
    Transaction::Mark storage;
    CatalogView::Mark catalog;
  };
  StatementMark mark_statement();
  void unwind_statement(const StatementMark& mark);
  void release_statement(const StatementMark& mark) { transaction_.release(mark.storage); }
  // Commits an implicit transaction (idle: nothing). Throws TransactionConflict, after which the
  // transaction is rolled back.
  void commit_implicit();
  // An error ended the statement: an implicit transaction is rolled back, a block is failed.
  void fail(SqlState reason);
  // Gives everything up: the connection ends, or a one-shot will run again.
  void abandon();
  // A one-shot met a conflict: rolls back and, when it met an intent lock, waits for that. Throws
  // what ended the wait.
  void abandon_for_retry(TransactionStatus conflict);

  // What an answer that leaves now waits for, inside of a block like any other.
  uint64_t awaited_epoch() const { return awaited_.get(); }

  static IsolationLevel parse_isolation(std::string_view name);

 private:
  struct Savepoint {
    std::string name;
    Transaction::Mark storage;
    AdvisoryLocks::Mark locks;
    CatalogView::Mark catalog;
    Settings::Mark settings;
    ReferentialActions::Mark references;
    uint64_t observed;  // TransactionObserver::savepoint_set()
  };

  std::string_view begin_block(const ast::TransactionStmt& statement);
  std::string_view commit(const ast::TransactionStmt& statement);
  std::string_view rollback(const ast::TransactionStmt& statement);
  std::string_view set_savepoint(std::string_view name);
  std::string_view release_savepoint(std::string_view name);
  std::string_view rollback_to_savepoint(std::string_view name);
  size_t find_savepoint(std::string_view name) const;
  void drop_savepoints(size_t keep);
  void unwind_to_newest();
  void fail_block(SqlState reason);
  void require_block(std::string_view command) const;
  void apply_modes(ast::List<ast::DefElem> options);
  void start(State state);
  void take_locks();
  void open_storage();
  bool is_serializable_block() const;
  bool reads_snapshot() const;
  bool opened_in_vain();
  void open_snapshot();
  void leave(bool committed);
  void finish(bool committed);
  void chain();
  void commit_storage();
  void settle_before_commit();
  template <typename Step>
  void do_before_commit(Step step);
  void settle_temporary_tables();
  TransactionStatus try_to_drop_temporary_objects();
  void rollback_storage();
  void abort_storage();
  void release_advisory_locks();
  void warn(SqlState state, std::string_view message);
  void raise(TransactionStatus status);

  Settings& settings_;
  ExecutionContext& context_;
  TransactionObserver& observer_;
  CatalogView catalog_;
  Transaction transaction_;
  CatalogNames names_{catalog_, transaction_};  // for reg* values
  AwaitedEpoch awaited_{settings_, transaction_};
  AdvisoryLocks advisory_locks_;
  State state_ = State::idle;
  std::deque<Savepoint> savepoints_;  // oldest first; only in blocks. May be millions
  bool careful_ = false;
  bool can_replay_ = true;
  bool reads_snapshot_ = false;  // the next implicit transaction
  BlockCaution caution_;
  int64_t awaited_since_us_ = 0;    // the client of a block; 0: it is not
  bool runs_once_ = false;          // this implicit transaction
  bool has_run_ = false;            // a statement of it
  bool is_separate_ = false;        // its statements are
  bool is_part_committed_ = false;  // take_part_committed()
};

}  // namespace pgsilo
