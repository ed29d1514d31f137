// DECLARE, FETCH, MOVE, CLOSE.
#include "executor/execution.h"
#include "executor/transaction_status.h"
#include "server/session/cursor.h"
#include "server/session/session_commands.h"
#include "sql/ast/query.h"

namespace pgsilo {

namespace {

[[noreturn]] void refuse_locking(SqlState state, std::string_view kind,
                                 const ast::SelectStmt& select, std::string_view detail) {
  bool is_insensitive = state == sqlstate::invalid_cursor_definition;
  throw SqlError(state, concat("DECLARE ", kind, " ... ",
                               ast::lock_clause_name(select.locking.front().strength),
                               is_insensitive ? " is not valid" : " is not supported"))
      .detail(std::string(detail));
}

// Rows that are locked are neither kept for later nor gone back to.
void check_locking(const ast::DeclareCursorStmt& statement, const ast::SelectStmt& select) {
  if (select.locking.empty()) return;
  SqlState unsupported = sqlstate::feature_not_supported;
  if (statement.with_hold)
    refuse_locking(unsupported, "CURSOR WITH HOLD", select, "Holdable cursors must be READ ONLY.");
  if (statement.scroll)
    refuse_locking(unsupported, "SCROLL CURSOR", select, "Scrollable cursors must be READ ONLY.");
  if (statement.insensitive) {
    refuse_locking(sqlstate::invalid_cursor_definition, "INSENSITIVE CURSOR", select,
                   "Insensitive cursors must be READ ONLY.");
  }
}

const ast::SelectStmt& query_of(const ast::DeclareCursorStmt& statement) {
  if (statement.scroll && statement.no_scroll) {
    throw SqlError(sqlstate::invalid_cursor_definition, "cannot specify both SCROLL and NO SCROLL");
  }
  if (statement.asensitive && statement.insensitive) {
    throw SqlError(sqlstate::invalid_cursor_definition,
                   "cannot specify both ASENSITIVE and INSENSITIVE");
  }
  const auto* select = ast::try_as<ast::SelectStmt>(statement.query);
  if (select == nullptr) {
    const auto& into = *ast::as<ast::CreateTableAsStmt>(statement.query)->into;
    throw SqlError(sqlstate::syntax_error, "SELECT ... INTO is not allowed here")
        .at(into.relation->location + 1);
  }
  check_locking(statement, *select);
  return *select;
}

// A cursor whose FETCH ended with an error cannot be used any more.
class FailsWithErrors {
 public:
  explicit FailsWithErrors(Portal& portal) : portal_(&portal) {}
  ~FailsWithErrors() {
    if (portal_ != nullptr) portal_->state = Portal::State::failed;
  }
  FailsWithErrors(const FailsWithErrors&) = delete;
  FailsWithErrors& operator=(const FailsWithErrors&) = delete;
  void passed() { portal_ = nullptr; }

 private:
  Portal* portal_;
};

SqlError no_cursor(std::string_view name) {
  return SqlError(sqlstate::invalid_cursor_name, concat("cursor \"", name, "\" does not exist"));
}

}  // namespace

void SessionCommands::describe_declare(PreparedStatement& statement,
                                       const ast::DeclareCursorStmt& declare,
                                       bool parameters_allowed) {
  statement.declared = runner_->prepare_node(statement.text, &query_of(declare),
                                             statement.declared_types, parameters_allowed);
  statement.parameter_types = statement.declared->parameter_types;
}

void SessionCommands::follow_cursor(PreparedStatement& statement) {
  if (const auto* fetch = ast::try_as<ast::FetchStmt>(statement.node))
    describe_fetch(statement, *fetch);
}

// Of a cursor that is not there nothing is told, and running it says so.
void SessionCommands::describe_fetch(PreparedStatement& statement, const ast::FetchStmt& fetch) {
  std::shared_ptr<Portal> portal = state_.portals.find(fetch.portal);
  if (fetch.is_move || portal == nullptr || portal->cursor == nullptr) return;
  statement.result_columns = portal->statement->result_columns;
  statement.returns_rows = true;
  statement.binary_rows = portal->cursor->properties().is_binary;
}

std::shared_ptr<Portal> SessionCommands::find_cursor(std::string_view name) const {
  std::shared_ptr<Portal> portal = state_.portals.find(name);
  if (portal == nullptr) throw no_cursor(name);
  if (portal->cursor == nullptr) throw_unsupported("FETCH from a portal that is no cursor");
  // What outlives transactions is not where it was when one runs again.
  if (portal->cursor->holding == Cursor::Holding::held) state_.transactions.become_interactive();
  return portal;
}

std::string_view SessionCommands::declare(const Portal& portal,
                                          const ast::DeclareCursorStmt& statement) {
  if (statement.name.empty()) {
    throw SqlError(sqlstate::invalid_cursor_name, "invalid cursor name: must not be empty");
  }
  if (!statement.with_hold) require_block(state_.context.place, "DECLARE CURSOR");
  const ast::SelectStmt& query = query_of(statement);
  auto made = std::make_shared<Portal>();
  made->statement = portal.statement->declared;
  for (size_t i = 0; i < portal.parameters.size(); ++i) {
    made->parameters.push_back(copy_datum(
        portal.parameters[i], type_info(portal.statement->parameter_types[i]), *made->memory));
  }
  runner_->revalidate(*made->statement);
  runner_->choose_plan(*made, false);
  runner_->check_permitted(*made->statement->plan);
  Cursor::Properties properties;
  properties.scrolls = !statement.no_scroll && query.locking.empty();
  properties.is_binary = statement.binary;
  properties.is_holdable = statement.with_hold;
  properties.declared_us = state_.context.statement_timestamp_us;
  properties.text = portal.statement->text->syntax->text;
  made->cursor = std::make_unique<Cursor>(made->statement->result_columns, state_.context,
                                          std::move(properties));
  state_.portals.add(statement.name, made);
  runner_->open_cursor(*made);
  return "DECLARE CURSOR";
}

StatementRunner::Outcome SessionCommands::fetch(const Portal& portal,
                                                const ast::FetchStmt& statement) {
  std::shared_ptr<Portal> of = find_cursor(statement.portal);
  ResultSink* sink = nullptr;
  if (!statement.is_move) {
    if (!portal.statement->returns_rows ||
        !same_columns(portal.statement->result_columns, of->statement->result_columns)) {
      throw SqlError(sqlstate::feature_not_supported, "cached plan must not change result type");
    }
    state_.rows.prepare(portal.statement->result_columns, portal.result_formats,
                        state_.context.types);
    sink = &state_.rows;
  }
  if (of->state == Portal::State::failed || of->state == Portal::State::ended) {
    throw SqlError(sqlstate::object_not_in_prerequisite_state,
                   concat("portal \"", statement.portal, "\" cannot be run"));
  }
  FailsWithErrors fails(*of);
  uint64_t rows = of->cursor->fetch(
      statement.direction, statement.count,
      [&](uint64_t count) { return runner_->pull(*of, count); }, sink);
  fails.passed();
  return moved(rows, statement.is_move ? "MOVE " : "FETCH ", false);
}

StatementRunner::Outcome SessionCommands::moved(uint64_t rows, std::string_view command,
                                                bool may_go_on) {
  cursor_tag_ = concat(command, rows);
  return {may_go_on, cursor_tag_};
}

// Execute of a cursor by its name.
StatementRunner::Outcome SessionCommands::run_cursor(Portal& portal, uint64_t row_limit) {
  state_.rows.prepare(portal.statement->result_columns, portal.result_formats,
                      state_.context.types);
  uint64_t limit = row_limit == 0 ? UINT64_MAX : row_limit;
  uint64_t rows = portal.cursor->forward(
      limit, [&](uint64_t count) { return runner_->pull(portal, count); }, &state_.rows);
  return moved(rows, "SELECT ", rows == limit);
}

std::string_view SessionCommands::close_portal(const ast::ClosePortalStmt& statement) {
  if (statement.name.empty()) {
    state_.portals.remove_all();
    return "CLOSE CURSOR ALL";
  }
  std::shared_ptr<Portal> portal = state_.portals.find(statement.name);
  if (portal == nullptr) throw no_cursor(statement.name);
  if (portal->cursor != nullptr) find_cursor(statement.name);
  state_.portals.remove(statement.name);
  return "CLOSE CURSOR";
}

// What the transaction changes from here on is not seen. Under READ COMMITTED others change what it
// shows, too, so all of it is made at once, unless it reads no table, or locks its rows: those are
// the newest ones when they are fetched.
void StatementRunner::open_cursor(Portal& portal) {
  state_.transactions.open();
  const ExecutablePlan& plan = *portal.statement->plan;
  bool shows_changes = plan.reads_tables() && !plan.locks_rows();
  if (shows_changes && state_.transactions.storage().isolation() == Isolation::read_committed)
    return portal.cursor->complete([&](uint64_t count) { return pull(portal, count); });
  start(portal);
  portal.execution->begin();
  portal.state = Portal::State::suspended;
}

bool StatementRunner::pull(Portal& portal, uint64_t count) {
  if (portal.state == Portal::State::failed || portal.state == Portal::State::ended) {
    throw SqlError(sqlstate::object_not_in_prerequisite_state, "portal cannot be run anymore");
  }
  return portal.state != Portal::State::done && run_plan(portal, count).suspended;
}

}  // namespace pgsilo
