// EXPLAIN EXECUTE: the plan that the prepared statement would run by now.
#include <initializer_list>

#include "executor/compiled_statement.h"
#include "executor/held_rows.h"
#include "planner/explain/explain.h"
#include "planner/plan/explain_options.h"
#include "server/session/session_commands.h"
#include "sql/ast/ast.h"

namespace pgsilo {

const ast::ExecuteStmt* SessionCommands::explained_execute(const ast::Node& node) {
  auto* explain = ast::try_as<ast::ExplainStmt>(&node);
  return explain == nullptr ? nullptr : ast::try_as<ast::ExecuteStmt>(explain->query);
}

StatementRunner::Outcome SessionCommands::explain(Portal& portal, const ast::ExplainStmt& statement,
                                                  uint64_t row_limit) {
  if (portal.held == nullptr) portal.held = explained(portal, statement);
  return {hand_out_held(portal, row_limit), "EXPLAIN"};
}

std::unique_ptr<HeldRows> SessionCommands::explained(const Portal& portal,
                                                     const ast::ExplainStmt& statement) {
  ExplainRequest request;
  request.options = read_explain_options(statement, portal.statement->text->syntax->text);
  request.types = &state_.context.types;
  if (request.options.analyze) throw_unsupported("EXPLAIN ANALYZE");
  std::shared_ptr<Portal> inner = bind_execute(portal, *ast::as<ast::ExecuteStmt>(statement.query));
  std::shared_ptr<const ExecutablePlan> plan = runner_->plan_to_show(*inner);
  const PlannedStatement& planned = *plan->compiled().planned;
  if (planned.root == nullptr) throw_unsupported("EXPLAIN of this statement");
  auto rows = std::make_unique<HeldRows>(portal.statement->result_columns, state_.context);
  for (const std::string& line : explain_plan(planned, request)) {
    Datum value = Datum::of_bytes(line);
    rows->row({&value, 1});
  }
  return rows;
}

}  // namespace pgsilo
