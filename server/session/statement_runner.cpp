#include "server/session/statement_runner.h"

#include <algorithm>
#include <exception>
#include <new>

#include "executor/statement_planner.h"
#include "executor/transaction_status.h"
#include "server/limits.h"
#include "server/parser_threads.h"
#include "server/session/cursor.h"
#include "server/session/session_commands.h"
#include "server/statistics/worker_statistics.h"
#include "sql/internal_error.h"
#include "sql/types/text.h"

namespace pgsilo {
namespace {

// CREATE or DROP INDEX CONCURRENTLY; empty: neither.
std::string_view concurrent_command(const ast::Node* node) {
  const auto* create = ast::try_as<ast::CreateIndexStmt>(node);
  if (create != nullptr && create->concurrently) return "CREATE INDEX CONCURRENTLY";
  const auto* drop = ast::try_as<ast::DropStmt>(node);
  if (drop != nullptr && drop->concurrently) return "DROP INDEX CONCURRENTLY";
  return {};
}

bool ends_transaction(const ast::Node& node) {
  const auto* statement = ast::try_as<ast::TransactionStmt>(&node);
  if (statement == nullptr) return false;
  using Kind = ast::TransactionKind;
  Kind kind = statement->transaction_kind;
  return kind == Kind::commit || kind == Kind::rollback || kind == Kind::rollback_to ||
         kind == Kind::prepare;
}

// What a statement that may run again alone does with advisory locks stands when it has ended; what
// was done before it is not undone with it. Writers that it kept out may come in, and a snapshot
// that only it has read is let go of.
class StatementScope {
 public:
  explicit StatementScope(SessionState& state) : state_(state), transactions_(state.transactions) {
    settle();
  }
  ~StatementScope() {
    settle();
    if (!transactions_.in_block() && transactions_.runs_as_a_whole()) return;
    transactions_.set_keeps_writers_out(false);
    state_.context.prefers_past = false;
    transactions_.storage().end_statement_snapshot();
    if (transactions_.storage().snapshot() == nullptr) state_.snapshot_opened(Epoch());
  }
  StatementScope(const StatementScope&) = delete;
  StatementScope& operator=(const StatementScope&) = delete;

 private:
  void settle() {
    if (transactions_.restarts_statements()) transactions_.advisory_locks().settle();
  }
  SessionState& state_;
  TransactionControl& transactions_;
};

}  // namespace

bool rests_on_nothing(const SqlError& error) {
  SqlState state = error.diagnostic().state;
  return state == sqlstate::lock_not_available || state == sqlstate::query_canceled;
}

std::shared_ptr<CachedText> StatementRunner::parse(std::string_view text,
                                                   std::span<const Oid> declared_types,
                                                   bool parameters_allowed) {
  state_.apply_settings();
  PlanCache& plans = state_.services.plans;
  if (!plans.keeps(text)) return parse_apart(text, declared_types);
  PlanCache::make_key(text, declared_types,
                      parameters_allowed ? state_.settings_key : state_.simple_settings_key, &key_);
  if (std::shared_ptr<CachedText> cached = plans.find(key_)) return cached;
  std::shared_ptr<CachedText> parsed = parse_apart(text, declared_types);
  plans.insert(key_, parsed);
  return parsed;
}

std::shared_ptr<CachedText> StatementRunner::parse_apart(std::string_view text,
                                                         std::span<const Oid> declared_types) {
  return state_.services.parsers.parse(text, declared_types, state_.interrupts);
}

std::shared_ptr<PreparedStatement> StatementRunner::with_text(std::shared_ptr<CachedText> text,
                                                              size_t index) const {
  auto statement = std::make_shared<PreparedStatement>();
  statement->replay_point = state_.statements.replay_point();
  statement->settings_number = state_.settings_number;
  statement->text = std::move(text);
  statement->index = index;
  statement->declared_types = statement->text->declared_types;
  auto statements = statement->text->syntax->statements;
  if (index < statements.size()) {
    statement->node = statements[index].statement;
    statement->is_planned = !SessionCommands::is_command(*statement->node);
  }
  return statement;
}

std::shared_ptr<PreparedStatement> StatementRunner::prepare(std::shared_ptr<CachedText> text,
                                                            size_t index, bool parameters_allowed) {
  std::shared_ptr<PreparedStatement> statement = with_text(std::move(text), index);
  if (statement->is_planned) statement->plan = plan(*statement, parameters_allowed);
  describe(*statement, parameters_allowed);
  return statement;
}

std::shared_ptr<PreparedStatement> StatementRunner::prepare_node(
    std::shared_ptr<CachedText> text, const ast::Node* node, std::span<const Oid> declared_types,
    bool parameters_allowed) {
  size_t index = text->plans.size();
  std::shared_ptr<PreparedStatement> statement = with_text(std::move(text), index);
  statement->node = node;
  statement->is_planned = true;
  statement->declared_types.assign(declared_types.begin(), declared_types.end());
  statement->plan = plan(*statement, parameters_allowed);
  describe(*statement, parameters_allowed);
  return statement;
}

void StatementRunner::describe(PreparedStatement& statement, bool parameters_allowed) {
  if (statement.plan != nullptr) {
    auto types = statement.plan->parameter_types();
    auto columns = statement.plan->result_columns();
    statement.parameter_types.assign(types.begin(), types.end());
    statement.result_columns.assign(columns.begin(), columns.end());
    statement.returns_rows = statement.plan->returns_rows();
  } else if (statement.node != nullptr) {
    commands_.describe(statement, parameters_allowed);
  }
}

// In a block the tables are locked before anybody is told what the statement returns: behind the
// lock they may be other ones.
std::shared_ptr<const ExecutablePlan> StatementRunner::plan(const PreparedStatement& statement,
                                                            bool parameters_allowed,
                                                            const std::vector<Datum>* values) {
  state_.transactions.open();
  // Whoever has changed one commits before he tells everybody.
  for (RetryPolicy patience(static_cast<uint64_t>(monotonic_ns()));;) {
    state_.refresh_catalog();
    std::shared_ptr<const ExecutablePlan> found =
        find_or_make_plan(statement, parameters_allowed, values);
    if (!state_.transactions.in_block() || found->lock_tables(state_.transactions.storage()))
      return found;
    await_catalog(patience);
  }
}

void StatementRunner::await_catalog(RetryPolicy& patience) {
  int64_t delay_us = patience.next_delay_us(TransactionStatus::conflict_record);
  if (patience.is_exhausted()) raise_transaction_status(TransactionStatus::conflict_record);
  if (delay_us > 0) state_.interrupts.sleep(delay_us);
  state_.interrupts.check();
  state_.context.check_client();
}

std::shared_ptr<const ExecutablePlan> StatementRunner::find_or_make_plan(
    const PreparedStatement& statement, bool parameters_allowed, const std::vector<Datum>* values) {
  CatalogView& view = state_.transactions.catalog();
  // A column that a parameter was compared with may have got another type since.
  bool has_types = !statement.parameter_types.empty() && !statement.is_normalized;
  // The plans of a text are those of the settings under which it was found: another one is this
  // statement's alone.
  bool shared = statement.index < statement.text->plans.size() &&
                statement.settings_number == state_.settings_number && values == nullptr;
  if (shared) {
    const auto& cached = statement.text->plans[statement.index];
    bool fits = cached != nullptr && (!has_types || std::ranges::equal(cached->parameter_types(),
                                                                       statement.parameter_types));
    if (fits && cached->still_valid(view, now_us())) return cached;
  }
  StatementPlanner planner(state_.context, state_.planner_settings);
  auto made = planner.prepare(
      {.statement = statement.node,
       .owner = statement.text->syntax,
       .text = statement.text->syntax->text,
       .declared_parameter_types = has_types ? statement.parameter_types : statement.declared_types,
       .parameters_allowed = parameters_allowed,
       .values = values});
  if (shared && !has_types && made->cacheable() && !view.has_local_changes())
    state_.services.plans.keep_plan(*statement.text, statement.index, made);
  return made;
}

void StatementRunner::forget_plans() {
  state_.executions.clear();
  state_.statements.forget_plans();
  state_.references.forget_plans();
}

void StatementRunner::revalidate(PreparedStatement& statement) {
  if (statement.is_unsettled) settle(statement);
  if (!statement.is_planned) return commands_.follow_cursor(statement);
  state_.transactions.open();
  state_.refresh_catalog();
  if (statement.plan != nullptr &&
      statement.plan->still_valid(state_.transactions.catalog(), now_us())) {
    return;
  }
  std::shared_ptr<const ExecutablePlan> fresh = plan(statement, true);
  // Literals that were read as what they are no more: the query runs again from its text.
  if (!std::ranges::equal(fresh->parameter_types(), statement.parameter_types))
    raise_transaction_status(TransactionStatus::conflict_record);
  if (!statement.is_described_by(*fresh)) {
    // Nobody has been told yet what it returns: all since then may run again.
    if (state_.transactions.may_run_again() &&
        statement.replay_point == state_.statements.replay_point())
      raise_transaction_status(TransactionStatus::conflict_record);
    throw SqlError(sqlstate::feature_not_supported, "cached plan must not change result type")
        .routine("RevalidateCachedQuery");
  }
  statement.plan = std::move(fresh);
  statement.choice = {};
}

void StatementRunner::check_permitted(const ExecutablePlan& plan) const {
  if (state_.settings.modes().read_only && !plan.read_only()) {
    std::string_view command =
        plan.kind() == StatementKind::copy_in ? "COPY FROM" : plan.command_name();
    throw SqlError(sqlstate::read_only_sql_transaction,
                   concat("cannot execute ", command, " in a read-only transaction"));
  }
}

StatementPlace StatementRunner::place() const {
  if (state_.transactions.in_block()) return StatementPlace::block;
  if (state_.one_of_several) return StatementPlace::several;
  return state_.transactions.has_run() ? StatementPlace::pipeline : StatementPlace::first;
}

// Nothing follows: a query ends here, or Sync has arrived.
bool StatementRunner::is_last() const {
  std::string_view next = state_.connection.unread();
  return state_.in_query ||
         (!next.empty() && static_cast<FrontendMessage>(next.front()) == FrontendMessage::sync);
}

// READ COMMITTED: what a statement of several has read need not be so when those after it run. One
// that nothing follows is a one-shot, as long as it gets through as that; definitions, which may
// commit on their way then, always.
bool StatementRunner::is_separate(const PreparedStatement& statement) const {
  const TransactionControl& transactions = state_.transactions;
  if (transactions.in_block() || !transactions.runs_as_a_whole() ||
      transactions.storage().isolation() != Isolation::read_committed) {
    return false;
  }
  bool is_alone = state_.in_query ? !state_.one_of_several : is_last();
  bool defines = statement.plan == nullptr || statement.plan->kind() == StatementKind::ddl;
  return is_alone ? transactions.is_careful() && !defines
                  : concurrent_command(statement.node).empty();
}

// What must not be in a block commits at once, whatever follows.
void StatementRunner::start_definition(const PreparedStatement& statement) {
  std::string_view concurrent = concurrent_command(statement.node);
  if (!concurrent.empty()) refuse_in_block(state_.context.place, concurrent);
  bool is_first = state_.context.place == StatementPlace::first && !state_.transactions.runs_once();
  state_.context.is_alone = is_first && (is_last() || !concurrent.empty());
}

void StatementRunner::start(Portal& portal) {
  PreparedStatement& statement = *portal.statement;
  revalidate(statement);
  if (!portal.has_own_plan) {
    portal.plan = statement.plan;
  } else if (!portal.plan->still_valid(state_.transactions.catalog(), now_us())) {
    portal.plan = plan(statement, true, &portal.parameters);
  }
  check_permitted(*portal.plan);
  state_.only_reads &= portal.plan->only_reads();
  // It was not foreseen that this comes: the whole of it runs again, in the present.
  bool is_past = state_.transactions.storage().mode() == TransactionMode::snapshot;
  if (is_past && !state_.settings.modes().read_only && !portal.plan->only_reads())
    raise_transaction_status(TransactionStatus::conflict_record);
  if (portal.plan->kind() == StatementKind::ddl) start_definition(statement);
  portal.execution = state_.executions.take(portal.plan, state_.context, portal.parameters);
}

// A definition: what it has made must be unmade before it can run again.
std::optional<TransactionControl::StatementMark> StatementRunner::mark_definition(
    const Portal& portal) {
  if (!state_.transactions.restarts_statements() || portal.statement->plan == nullptr ||
      portal.statement->plan->kind() != StatementKind::ddl) {
    return std::nullopt;
  }
  return state_.transactions.mark_statement();
}

// What has left the server cannot run again, nor what a client sent and we have read, nor what has
// acted outside of the transaction.
bool StatementRunner::may_restart(const Portal& portal, const Reply::Position& begin,
                                  CommandId before) const {
  if (!state_.transactions.restarts_statements() || state_.context.has_acted ||
      state_.transactions.storage().command() == before ||
      !state_.transactions.advisory_locks().can_undo()) {
    return false;
  }
  StatementKind kind = portal.plan == nullptr ? StatementKind::utility : portal.plan->kind();
  bool restarts = kind != StatementKind::explain && kind != StatementKind::utility;
  return restarts && state_.reply.can_return_to(begin);
}

// A statement of a block met a conflict. If only its own reads are beaten it runs again, with the
// locks it has; else the conflict is the client's.
void StatementRunner::restart(const Reply::Position& begin, TransactionStatus conflict) {
  Transaction& transaction = state_.transactions.storage();
  TransactionStatus status = transaction.restart_statement();
  bool gives_up = transaction.isolation() == Isolation::serializable &&
                  retry_.failures() >= limits::serializable_statement_restarts;
  state_.reply.return_to(begin);
  if (status != TransactionStatus::ok || gives_up) raise_transaction_status(conflict);
  int64_t delay_us = retry_.next_delay_us(conflict);
  if (retry_.is_exhausted()) {
    state_.transactions.forbid_rerun();  // all of it would be as vain
    raise_transaction_status(conflict);
  }
  state_.keep_writers_out(retry_.keeps_writers_out());
  state_.context.prefers_past = retry_.failures() >= limits::read_failures_before_snapshot;
  if (delay_us > 0) state_.interrupts.sleep(delay_us);
  state_.interrupts.check();
  state_.context.check_client();
  state_.transactions.advisory_locks().undo();
}

void StatementRunner::count_rows(const ExecutablePlan& plan, uint64_t rows) {
  WorkerStatistics& statistics = state_.services.statistics;
  if (plan.kind() == StatementKind::copy_in) {
    statistics.rows_inserted.add(rows);
  } else if (plan.kind() == StatementKind::dml) {
    char first = plan.command().front();
    (first == 'I'   ? statistics.rows_inserted
     : first == 'U' ? statistics.rows_updated
                    : statistics.rows_deleted)
        .add(rows);
  }
}

StatementRunner::Outcome StatementRunner::run_plan(Portal& portal, uint64_t row_limit) {
  StatementScope scope(state_);
  if (portal.state == Portal::State::suspended) return run_once(portal, row_limit);
  state_.context.has_acted = false;
  Reply::Position begin = state_.reply.position();
  ReferentialActions::Mark references = state_.references.mark();
  retry_.reset();
  state_.transactions.open();
  if (is_separate(*portal.statement)) {
    revalidate(*portal.statement);  // while the whole may run again for it
    state_.transactions.separate_statements();
  }
  std::optional<TransactionControl::StatementMark> definition = mark_definition(portal);
  for (;;) {
    // Until this has changed, what failed was no statement of the transaction yet.
    CommandId before = state_.transactions.storage().command();
    TransactionStatus conflict = TransactionStatus::ok;
    std::exception_ptr error_told;
    try {
      Outcome outcome = run_once(portal, row_limit);
      if (definition) state_.transactions.release_statement(*definition);
      return outcome;
    } catch (const TransactionConflict& caught) {
      conflict = caught.status();
      if (conflict == TransactionStatus::deadlock || !may_restart(portal, begin, before)) throw;
    } catch (const std::bad_alloc&) {
      throw;
    } catch (...) {
      // An error is an answer: what it rests on must have been true.
      const SqlError error = error_of_current_exception();
      if (error.diagnostic().severity != Severity::error || rests_on_nothing(error) ||
          !may_restart(portal, begin, before)) {
        throw;
      }
      error_told = std::current_exception();
    }
    // Behind the handler, for a long validation gives way.
    if (error_told != nullptr) {
      conflict = state_.transactions.storage().validate();
      if (conflict == TransactionStatus::ok) {
        state_.transactions.storage().forget_failed_statement();
        std::rethrow_exception(error_told);
      }
    }
    portal.execution.reset();
    if (portal.cursor != nullptr) portal.cursor->begin_again();
    state_.references.rollback_to(references);
    if (definition) state_.transactions.unwind_statement(*definition);
    restart(begin, conflict);
    portal.state = Portal::State::ready;
  }
}

StatementRunner::Outcome StatementRunner::run_once(Portal& portal, uint64_t row_limit) {
  state_.transactions.open();
  if (portal.state == Portal::State::ready) start(portal);
  if (portal.cursor == nullptr)
    state_.rows.prepare(portal.plan->result_columns(), portal.result_formats, state_.context.types);
  state_.context.read_only = state_.settings.modes().read_only;
  // Whatever ends this without an answer leaves a portal that cannot go on.
  portal.state = Portal::State::failed;
  ResultSink* sink = portal.cursor.get();
  RunStatus status = portal.execution->run(sink != nullptr ? *sink : state_.rows, row_limit);
  tag_ = portal.execution->command_tag();
  count_rows(*portal.plan, portal.execution->rows_changed());
  if (state_.context.has_committed) {
    state_.context.has_committed = false;
    state_.transactions.commits_in_part();
    state_.transactions.become_interactive();
  }
  if (status == RunStatus::suspended) {
    portal.state = Portal::State::suspended;
    return {true, tag_};
  }
  portal.state = Portal::State::done;
  if (portal.has_own_plan) {
    portal.execution.reset();
  } else {
    state_.executions.give_back(portal.plan.get(),
                                portal.plan->bytes() + portal.statement->text->syntax->bytes(),
                                std::move(portal.execution));
  }
  return {false, tag_};
}

std::string StatementRunner::tag_without_rows(const Portal& portal) {
  if (portal.inner != nullptr) return tag_without_rows(*portal.inner);
  if (portal.plan == nullptr)
    return portal.statement->node->kind == ast::NodeKind::show_stmt ? "SHOW" : "EXPLAIN";
  std::string command(portal.plan->command());
  return portal.plan->kind() == StatementKind::explain ? command : command + " 0";
}

StatementRunner::Outcome StatementRunner::run(const std::shared_ptr<Portal>& portal,
                                              uint64_t row_limit) {
  if (portal->cursor != nullptr) {
    state_.context.place = place();
    Outcome outcome = commands_.run_cursor(*portal, row_limit);
    tag_ = outcome.tag;
    return {outcome.suspended, tag_};
  }
  if (portal->state == Portal::State::done && portal->statement->returns_rows) {
    // PostgreSQL fetches from a finished cursor: no more rows.
    tag_ = tag_without_rows(*portal);
    return {false, tag_};
  }
  if (portal->state == Portal::State::done || portal->state == Portal::State::failed) {
    throw SqlError(sqlstate::object_not_in_prerequisite_state, "portal cannot be run anymore");
  }
  state_.context.place = place();
  if (portal->statement->is_planned) {
    piece_ = state_.reply.position();
    Outcome outcome = run_plan(*portal, row_limit);
    piece_.reset();
    return outcome;
  }
  // EXECUTE comes here again with what it runs.
  state_.only_reads &= portal->statement->node->kind == ast::NodeKind::execute_stmt;
  Outcome outcome = commands_.run(*portal, row_limit);
  portal->state = outcome.suspended ? Portal::State::suspended : Portal::State::done;
  tag_ = outcome.tag;
  outcome.tag = tag_;
  return outcome;
}

void StatementRunner::end_piece(bool took_place) {
  std::optional<Reply::Position> begin = std::exchange(piece_, std::nullopt);
  if (took_place || !begin) return;
  if (state_.reply.can_return_to(*begin)) {
    state_.reply.return_to(*begin);
  } else {
    state_.reply.take_back();  // what has left was true
  }
}

void StatementRunner::begin(const ast::Node* node) {
  bool may_pass = node == nullptr || ends_transaction(*node);
  if (!may_pass) state_.transactions.require_not_failed();
  state_.transactions.begin_statement();
}

}  // namespace pgsilo
