#include "server/session/transaction_control.h"

#include <algorithm>

#include "base/clock.h"
#include "base/memory_budget.h"
#include "base/parker.h"
#include "executor/transaction_status.h"
#include "sql/ast/option_value.h"
#include "sql/sql_error.h"
#include "sql/types/date_time.h"

namespace pgsilo {
namespace {

int64_t now_in_postgres_us() {
  return unix_time_us() - postgres_epoch_unix_seconds * usecs_per_second;
}

std::string_view option_text(const ast::DefElem& option) {
  const auto* constant = ast::try_as<ast::Constant>(option.argument);
  return constant == nullptr ? std::string_view() : constant->text;
}

}  // namespace

TransactionControl::TransactionControl(WorkerContext& worker, Catalog& catalog, Settings& settings,
                                       ExecutionContext& context, const WaitSettings& waits,
                                       TransactionObserver& observer)
    : settings_(settings),
      context_(context),
      observer_(observer),
      catalog_(catalog),
      transaction_(worker, waits),
      advisory_locks_(worker.parts().locks, transaction_.lock_owner()) {
  context_.transaction = &transaction_;
  context_.advisory_locks = &advisory_locks_;
  context_.catalog = &catalog_;
  context_.types.object_names = &names_;
  names_.set_session(context_);
}

ReadyState TransactionControl::ready_state() const {
  switch (state_) {
    case State::block:
      return ReadyState::in_transaction;
    case State::failed:
      return ReadyState::failed;
    default:
      return ReadyState::idle;
  }
}

void TransactionControl::warn(SqlState state, std::string_view message) {
  context_.notices->notice(SqlError(Severity::warning, state, std::string(message)));
}

void TransactionControl::raise(TransactionStatus status) {
  if (status != TransactionStatus::ok) raise_transaction_status(status);
}

void TransactionControl::start(State state) {
  state_ = state;
  has_run_ = false;
  settings_.start_transaction();
  context_.transaction_timestamp_us = context_.statement_timestamp_us;
  context_.types.transaction_timestamp = context_.statement_timestamp_us;
  observer_.transaction_started();
}

void TransactionControl::set_clock() {
  context_.statement_timestamp_us = now_in_postgres_us();
  context_.types.statement_timestamp = context_.statement_timestamp_us;
}

void TransactionControl::require_not_failed() const {
  if (state_ != State::failed) return;
  throw SqlError(sqlstate::in_failed_sql_transaction,
                 "current transaction is aborted, commands ignored until end of transaction block");
}

void TransactionControl::begin_statement() {
  if (state_ == State::idle) start(State::implicit);
}

void TransactionControl::open() {
  settings_.fix_transaction_modes();
  open_storage();
}

void TransactionControl::open_storage() {
  if (transaction_.is_open() && !opened_in_vain()) return;
  awaited_.begin();
  context_.caution = Caution::none;
  if (reads_snapshot()) return open_snapshot();
  bool interactive = state_ == State::block || careful_ || !may_run_again();
  // READ UNCOMMITTED is READ COMMITTED, as in PostgreSQL.
  bool weak = settings_.modes().isolation >= IsolationLevel::read_committed;
  transaction_.begin(interactive ? TransactionMode::interactive : TransactionMode::one_shot,
                     weak ? Isolation::read_committed : Isolation::serializable);
  context_.caution = is_serializable_block() ? caution_.level() : Caution::none;
  observer_.storage_opened();
}

bool TransactionControl::is_serializable_block() const {
  return state_ == State::block && settings_.modes().isolation < IsolationLevel::read_committed;
}

// A block that only reads never fails then. What runs by itself may be run again instead.
bool TransactionControl::reads_snapshot() const {
  if (reads_snapshot_ && state_ == State::implicit) return true;
  const TransactionModes& modes = settings_.modes();
  if (!modes.read_only) return false;
  return is_serializable_block() ||
         (modes.deferrable && modes.isolation == IsolationLevel::serializable);
}

// A savepoint opened it, has gone, and then SET TRANSACTION chose otherwise: nothing was read yet.
bool TransactionControl::opened_in_vain() {
  bool is_snapshot = transaction_.mode() == TransactionMode::snapshot;
  if (is_snapshot == reads_snapshot() || transaction_.command() != 0 || !savepoints_.empty())
    return false;
  transaction_.abort();
  catalog_.release();
  return true;
}

// Until no change of the catalog comes between: then the catalog is the snapshot's.
void TransactionControl::open_snapshot() {
  for (;;) {
    uint64_t version = catalog_.catalog().version();
    raise(transaction_.begin_snapshot());
    if (catalog_.hold(version)) break;
    transaction_.abort();
    const WaitSettings& waits = transaction_.waits();
    if (waits.cancelled->load(std::memory_order_acquire)) raise(TransactionStatus::cancelled);
    context_.check_client();
    waits.parker->park(monotonic_us() + CatalogView::change_poll_us);
  }
  observer_.storage_opened();
  observer_.snapshot_opened(transaction_.snapshot()->boundary());
}

void TransactionControl::validate() {
  // In a failed block nothing is read: its errors rest on nothing.
  if (!transaction_.is_open() || state_ == State::failed) return;
  raise(transaction_.validate());
  awaited_.keep();
}

void TransactionControl::take_locks() {
  if (!transaction_.is_open() || transaction_.mode() == TransactionMode::interactive) return;
  raise(transaction_.become_interactive());
  awaited_.keep();
}

void TransactionControl::become_interactive() {
  take_locks();
  forbid_rerun();
}

void TransactionControl::separate_statements() {
  take_locks();
  is_separate_ = true;
  advisory_locks_.settle();  // what EXECUTE's arguments did is none of the statement's
}

void TransactionControl::forbid_rerun() {
  runs_once_ = state_ != State::idle;
  advisory_locks_.settle();
}

void TransactionControl::become_snapshot() {
  if (!transaction_.is_open() || transaction_.mode() != TransactionMode::one_shot) return;
  raise(transaction_.become_snapshot());
  observer_.snapshot_opened(transaction_.snapshot()->boundary());
  awaited_.keep();
}

std::string_view TransactionControl::run(const ast::TransactionStmt& statement) {
  using Kind = ast::TransactionKind;
  switch (statement.transaction_kind) {
    case Kind::begin:
    case Kind::start:
      return begin_block(statement);
    case Kind::commit:
      return commit(statement);
    case Kind::rollback:
      return rollback(statement);
    case Kind::savepoint:
      return set_savepoint(statement.savepoint);
    case Kind::release:
      return release_savepoint(statement.savepoint);
    case Kind::rollback_to:
      return rollback_to_savepoint(statement.savepoint);
    case Kind::prepare:
      throw_unsupported("PREPARE TRANSACTION");
    case Kind::commit_prepared:
      throw_unsupported("COMMIT PREPARED");
    case Kind::rollback_prepared:
      throw_unsupported("ROLLBACK PREPARED");
  }
  return {};
}

std::string_view TransactionControl::begin_block(const ast::TransactionStmt& statement) {
  begin_statement();
  if (state_ == State::block) {
    warn(sqlstate::active_sql_transaction, "there is already a transaction in progress");
    apply_modes(statement.options);
  } else {
    become_interactive();
    // A block that fails while it begins is none.
    apply_modes(statement.options);
    state_ = State::block;
  }
  return statement.transaction_kind == ast::TransactionKind::begin ? "BEGIN" : "START TRANSACTION";
}

IsolationLevel TransactionControl::parse_isolation(std::string_view name) {
  static constexpr std::string_view names[] = {"serializable", "repeatable read", "read committed",
                                               "read uncommitted"};
  for (size_t i = 0; i < std::size(names); ++i) {
    if (names[i] == name) return static_cast<IsolationLevel>(i);
  }
  throw SqlError(sqlstate::invalid_parameter_value,
                 concat("invalid value for parameter \"transaction_isolation\": \"", name, "\""));
}

void TransactionControl::apply_modes(ast::List<ast::DefElem> options) {
  for (const ast::DefElem& option : options) {
    if (option.name == "transaction_isolation") {
      IsolationLevel level = parse_isolation(option_text(option));
      settings_.set_transaction_modes(&level, nullptr, nullptr);
    } else if (option.name == "transaction_read_only") {
      bool flag = ast::require_boolean_option(option);
      settings_.set_transaction_modes(nullptr, &flag, nullptr);
    } else if (option.name == "transaction_deferrable") {
      bool flag = ast::require_boolean_option(option);
      settings_.set_transaction_modes(nullptr, nullptr, &flag);
    }
  }
}

std::string_view TransactionControl::commit(const ast::TransactionStmt& statement) {
  if (state_ == State::failed) {
    rollback_storage();
    finish(false);
    if (statement.chain) chain();
    return "ROLLBACK";
  }
  bool in_block = state_ == State::block;
  if (!in_block) {
    if (statement.chain) throw outside_of_block("COMMIT AND CHAIN");
    warn(sqlstate::no_active_sql_transaction, "there is no transaction in progress");
    if (state_ == State::idle) return "COMMIT";
  }
  commit_storage();
  finish(true);
  if (statement.chain) chain();
  return "COMMIT";
}

std::string_view TransactionControl::rollback(const ast::TransactionStmt& statement) {
  if (!in_block()) {
    if (statement.chain) throw outside_of_block("ROLLBACK AND CHAIN");
    warn(sqlstate::no_active_sql_transaction, "there is no transaction in progress");
    if (state_ == State::idle) return "ROLLBACK";
    validate();  // of what was said: blocks see to that statement by statement
  }
  rollback_storage();
  finish(false);
  if (statement.chain) chain();
  return "ROLLBACK";
}

// A new block with the modes of the one that ended.
void TransactionControl::chain() {
  commits_in_part();
  TransactionModes modes = settings_.modes();
  context_.statement_timestamp_us = now_in_postgres_us();
  start(State::block);
  settings_.set_transaction_modes(&modes.isolation, &modes.read_only, &modes.deferrable);
}

void TransactionControl::commit_storage() {
  if (transaction_.is_open()) do_before_commit([this] { observer_.before_commit(); });
  observer_.before_transaction_end();
  if (!transaction_.is_open()) return release_advisory_locks();
  settle_before_commit();
  bool waits = awaited_.is_wanted() || catalog_.has_local_changes();
  TransactionStatus status = catalog_.before_commit(transaction_);
  if (status == TransactionStatus::ok) {
    status = transaction_.commit();
  } else {
    transaction_.abort();
  }
  awaited_.end(waits);
  if (is_serializable_block())
    status == TransactionStatus::ok ? caution_.note_committed() : caution_.note_beaten();
  if (status == TransactionStatus::ok) {
    catalog_.committed(transaction_, *context_.parker);
    release_advisory_locks();
    return;
  }
  // It has aborted. An implicit transaction is over (and may run again); so is a block: COMMIT
  // never leaves one open.
  finish(false);
  raise_transaction_status(status);
}

void TransactionControl::settle_before_commit() {
  bool owes_temporary = catalog_.has_commit_actions() && !reads_snapshot();
  if (!context_.references->has_pending() && !owes_temporary) return;
  do_before_commit([&] {
    if (context_.references->has_pending()) context_.references->settle_deferred();
    if (owes_temporary) settle_temporary_tables();
  });
}

// What fails in COMMIT ends the block; a transaction without one may run again.
template <typename Step>
void TransactionControl::do_before_commit(Step step) {
  try {
    step();
  } catch (const SqlError&) {
    if (state_ != State::block) throw;
    rollback_storage();
    finish(false);
    throw;
  }
}

void TransactionControl::rollback_storage() {
  observer_.before_transaction_end();
  abort_storage();
}

void TransactionControl::abort_storage() {
  if (transaction_.is_open()) awaited_.end(awaited_.is_wanted());
  transaction_.abort();  // what it has kept for this run, too
  context_.memory_promise->clear();
  release_advisory_locks();
}

// Those of the transaction; and what was done with the session's stands from now on.
void TransactionControl::release_advisory_locks() {
  advisory_locks_.end_transaction();
  advisory_locks_.settle();
}

void TransactionControl::leave(bool committed) {
  drop_savepoints(0);
  context_.memory_promise->clear();
  context_.references->forget_transaction();
  advisory_locks_.end_transaction();
  if (!committed) catalog_.forget_local();
  catalog_.release();
  settings_.end_transaction(committed);
  runs_once_ = is_separate_ = false;
  state_ = State::idle;
}

void TransactionControl::finish(bool committed) {
  leave(committed);
  observer_.transaction_ended(committed);
}

void TransactionControl::commit_implicit() {
  if (state_ != State::implicit) return;
  commit_storage();
  if (state_ == State::implicit) finish(true);
}

void TransactionControl::fail(SqlState reason) {
  set_keeps_writers_out(false);
  if (state_ == State::failed) return;
  // It may tell what the catalog has not.
  if (transaction_.is_open()) static_cast<void>(catalog_.told_by(transaction_));
  // A one-shot that was to run again, and may not.
  if (state_ == State::idle) {
    transaction_.abort();
    advisory_locks_.settle();
    return observer_.transaction_ended(false);
  }
  if (is_serializable_block() && reason == sqlstate::serialization_failure) caution_.note_beaten();
  if (state_ == State::block) return fail_block(reason);
  rollback_storage();
  finish(false);
}

void TransactionControl::fail_block(SqlState reason) {
  if (!savepoints_.empty()) {
    observer_.before_block_fails(savepoints_.back().observed);
    unwind_to_newest();
    // Somebody waits for what this statement or an earlier one since the savepoint has locked. At
    // READ COMMITTED that has gone already.
    if (reason == sqlstate::deadlock_detected)
      transaction_.release_locks_since(savepoints_.back().storage);
    state_ = State::failed;
    return;
  }
  observer_.before_block_fails(0);
  abort_storage();
  // SET of the failed block is undone at its end, as PostgreSQL does; its catalog changes are gone
  // now.
  catalog_.forget_local();
  observer_.transaction_ended(false);
  state_ = State::failed;
}

void TransactionControl::abandon() {
  set_keeps_writers_out(false);
  if (state_ == State::idle) return transaction_.abort();
  rollback_storage();
  finish(false);
}

void TransactionControl::abandon_for_retry(TransactionStatus conflict) {
  observer_.before_transaction_end();
  TransactionStatus waited = TransactionStatus::ok;
  if (conflict == TransactionStatus::must_wait) {
    waited = transaction_.wait_for_intent();
  } else if (conflict == TransactionStatus::deadlock) {
    transaction_.abort();
  } else if (transaction_.is_open()) {
    transaction_.abort_to_run_again();
  }
  if (state_ != State::idle) leave(false);
  raise(waited);
}

}  // namespace pgsilo
