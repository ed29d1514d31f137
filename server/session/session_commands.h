// Statements that the session runs itself: transaction control, settings, prepared statements,
// cursors, DISCARD. Thread safety: none; the session's fiber.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "server/session/session_state.h"
#include "server/session/statement_runner.h"

namespace pgsilo {

class SessionCommands {
 public:
  explicit SessionCommands(SessionState& state) : state_(state) {}
  void set_runner(StatementRunner& runner) { runner_ = &runner; }

  // Ours rather than the planner's?
  static bool is_command(const ast::Node& node);
  // What it returns: nothing, SHOW's columns, or those of what EXECUTE runs.
  void describe(PreparedStatement& statement, bool parameters_allowed);
  // FETCH returns what the cursor of that name has now.
  void follow_cursor(PreparedStatement& statement);
  StatementRunner::Outcome run(Portal& portal, uint64_t row_limit);
  // Execute of a cursor by its name: that many rows forward.
  StatementRunner::Outcome run_cursor(Portal& portal, uint64_t row_limit);

 private:
  std::string_view checkpoint();
  std::string_view set_constraints(const ast::SetConstraintsStmt& statement);
  StatementRunner::Outcome show(Portal& portal, const ast::ShowStmt& statement, uint64_t row_limit);
  std::unique_ptr<HeldRows> shown(const Portal& portal, const ast::ShowStmt& statement) const;
  // The next of the rows that the portal holds. True: there may be more.
  bool hand_out_held(Portal& portal, uint64_t row_limit);
  std::string_view prepare(const Portal& portal, const ast::PrepareStmt& statement);
  StatementRunner::Outcome execute(Portal& portal, const ast::ExecuteStmt& statement,
                                   uint64_t row_limit);
  std::shared_ptr<Portal> bind_execute(const Portal& portal, const ast::ExecuteStmt& statement);
  // What EXPLAIN EXECUTE explains; null: it is something else.
  static const ast::ExecuteStmt* explained_execute(const ast::Node& node);
  StatementRunner::Outcome explain(Portal& portal, const ast::ExplainStmt& statement,
                                   uint64_t row_limit);
  std::unique_ptr<HeldRows> explained(const Portal& portal, const ast::ExplainStmt& statement);
  std::string_view deallocate(const ast::DeallocateStmt& statement);
  // --- cursor_commands.cpp ---
  void describe_declare(PreparedStatement& statement, const ast::DeclareCursorStmt& declare,
                        bool parameters_allowed);
  void describe_fetch(PreparedStatement& statement, const ast::FetchStmt& fetch);
  std::string_view declare(const Portal& portal, const ast::DeclareCursorStmt& statement);
  StatementRunner::Outcome fetch(const Portal& portal, const ast::FetchStmt& statement);
  std::string_view close_portal(const ast::ClosePortalStmt& statement);
  std::shared_ptr<Portal> find_cursor(std::string_view name) const;
  StatementRunner::Outcome moved(uint64_t rows, std::string_view command, bool may_go_on);

  std::string_view discard(const ast::DiscardStmt& statement);
  void discard_temporary();
  std::shared_ptr<PreparedStatement> find_prepared(std::string_view name) const;

  SessionState& state_;
  StatementRunner* runner_ = nullptr;
  std::string cursor_tag_;
};

}  // namespace pgsilo
