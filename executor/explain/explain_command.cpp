#include "executor/explain/explain_command.h"

#include "executor/execution_context.h"
#include "executor/execution_state.h"
#include "executor/result_sink.h"
#include "planner/explain/explain.h"
#include "planner/plan/transaction_plan.h"
#include "sql/sql_error.h"

namespace pgsilo {

namespace {

class ExplainCommand final : public UtilityCommand {
 public:
  explicit ExplainCommand(std::shared_ptr<const PlannedStatement> planned)
      : planned_(std::move(planned)) {}

  StatementKind kind() const override { return StatementKind::explain; }
  std::string_view tag() const override { return "EXPLAIN"; }
  bool read_only() const override { return true; }

  void run(ExecutionState& state, ResultSink& sink) const override {
    ExplainRequest request;
    request.options = planned_->explain;
    request.types = &state.session.types;
    for (const std::string& line : explain_plan(*planned_->inner, request)) {
      Datum value = Datum::of_bytes(line);
      sink.row({&value, 1});
    }
  }

 private:
  const std::shared_ptr<const PlannedStatement> planned_;
};

}  // namespace

std::unique_ptr<const UtilityCommand> make_explain(
    const std::shared_ptr<const PlannedStatement>& planned) {
  if (planned->explain.analyze) throw_unsupported("EXPLAIN ANALYZE");
  if (planned->inner == nullptr) throw_unsupported("EXPLAIN of this statement");
  return std::make_unique<ExplainCommand>(planned);
}

}  // namespace pgsilo
